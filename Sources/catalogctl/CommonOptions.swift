import ArgumentParser
import Catalog
import Foundation
import LogStore
import Synchronization
import Workspace

/// Where the stores live, and whose are meant.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where the stores live; $CATALOG_ROOT, else $XDG_DATA_HOME/catalog, else ~/.local/share/catalog.",
      valueName: "dir"),
    completion: .directory)
  var root: String?

  @Option(help: ArgumentHelp("Whose stores to use; without it, who is signed in.", valueName: "id"))
  var user: String?

  func validate() throws {
    if root == "" { throw ValidationError("--root names no directory") }
  }

  /// The stores. What speaks against their place is said on standard error, once in the life of the process.
  var workspace: WorkspaceDirectory {
    let workspace = WorkspaceDirectory(root: root ?? Self.defaultRoot)
    if !Self.hasWarned.exchange(true, ordering: .relaxed) {
      let id = user ?? (try? workspace.currentUser()) ?? nil
      for warning in workspace.warnings(for: id) { Console.say("catalogctl: warning: \(warning)") }
    }
    return workspace
  }

  /// Guards nothing but itself: who asks first warns.
  private static let hasWarned = Atomic(false)

  private static var defaultRoot: String {
    let environment = ProcessInfo.processInfo.environment
    if let root = environment["CATALOG_ROOT"], !root.isEmpty { return root }
    if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/catalog" }
    return NSHomeDirectory() + "/.local/share/catalog"
  }

  /// The user that is meant.
  ///
  /// - Throws: `WorkspaceError.nobodySignedIn`.
  func userID() throws -> String {
    if let user { return user }
    guard let current = try workspace.currentUser() else { throw WorkspaceError.nobodySignedIn }
    return current
  }

  /// The user's catalogue as it is now; empty where there is none. Creates nothing.
  func snapshot() throws -> CatalogSnapshot { try reader()?.snapshot() ?? .empty }

  /// A reader of the user's catalogue; `nil` where there is none. Creates nothing.
  func reader() throws -> CatalogReader? {
    guard let location = try workspace.catalogue(of: userID()) else { return nil }
    return try CatalogReader.open(location)
  }

  /// The writer of the user's catalogue, whose directories are made where they are missing.
  func writer(waiting milliseconds: Int = 0) throws -> CatalogWriter {
    try CatalogWriter(workspace.makeCatalogue(of: userID()), waiting: milliseconds)
  }
}

/// How a command that writes treats another one that does.
struct WriteOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("How long to wait for another process that is writing.", valueName: "seconds"))
  var wait: Double = 2

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
  }

  var milliseconds: Int { Int(wait * 1000) }
}

/// For people or for programs.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON: one document, or one a line where there are many.")
  var json = false
}

/// Times as people and programs read them.
enum Moment {
  /// Microseconds since 1970 as `2026-01-31T23:59:59Z`.
  static func text(_ microseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
      .formatted(Date.ISO8601FormatStyle(timeZone: .gmt))
  }
}
