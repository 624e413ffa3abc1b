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
    var workspace = WorkspaceDirectory(root: root ?? Self.defaultRoot)
    workspace.notify = { Console.say("catalogctl: \($0)") }
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
  func snapshot() throws -> CatalogSnapshot { try history()?.current ?? .empty }

  /// All commits of the user's catalogue that are kept; `nil` where there is none. Creates nothing.
  func history() throws -> CatalogHistory? {
    let user = try userID()
    guard let location = try workspace.catalogue(of: user) else { return nil }
    return try orRemedies(user) { try CatalogReader.open(location)?.history() }
  }

  /// A reader of the user's catalogue; `nil` where there is none. Creates nothing.
  func reader() throws -> CatalogReader? {
    let user = try userID()
    guard let location = try workspace.catalogue(of: user) else { return nil }
    return try orRemedies(user) {
      let reader = try CatalogReader.open(location)
      // Whether it is a catalogue is known now.
      _ = try reader?.snapshot()
      return reader
    }
  }

  /// A commit of the user's catalogue.
  ///
  /// - Throws: `Failure` with exit code 1 where it is not kept.
  func commit(_ sequence: UInt64) throws -> CatalogSnapshot {
    guard let commit = try history()?.at(sequence) else { throw Failure.noCommit(sequence) }
    return commit
  }

  /// The writer of the user's catalogue, whose directories are made where they are missing.
  ///
  /// - Parameter replacesDamaged: Whether to begin anew where the catalogue cannot be opened.
  func writer(waiting: Duration = .zero, replacesDamaged: Bool = false) throws -> CatalogWriter {
    let user = try userID()
    return try orRemedies(user) {
      try workspace.catalogueWriter(of: user, waiting: waiting, replacesDamaged: replacesDamaged)
    }
  }

  /// Opens a catalogue; where that finds it damaged, the error says what can be done.
  func orRemedies<Result>(_ user: String, _ open: () throws -> Result) throws -> Result {
    do { return try open() } catch {
      guard let location = try? workspace.catalogue(of: user),
        let failure = Failure(Self.cause(of: error, at: location)), failure.code == .data,
        error is StoreError || error is CatalogError
      else { throw error }
      throw Failure(.data, "\(failure.message); \(location.remedies)")
    }
  }

  /// What an error of opening a catalogue is about: of another kind of store in its place a reader says which.
  private static func cause(of error: any Error, at location: StoreLocation) -> any Error {
    guard case StoreError.schema? = error as? StoreError else { return error }
    do { _ = try CatalogReader.open(location)?.snapshot() } catch let other as CatalogError { return other } catch {}
    return error
  }
}

extension StoreLocation {
  /// What can be done about a catalogue that cannot be opened.
  var remedies: String {
    guard let source = (try? catalogueRepairSources())?.first else {
      return "'catalogctl verify --repair' saves what can be saved; \(Self.replacementAdvice)"
    }
    return "\(source.words) is there: 'catalogctl verify --repair' goes back to it where nothing newer can be saved;"
      + " \(Self.replacementAdvice)"
  }

  static let replacementAdvice =
    "'catalogctl sync --full --replace-damaged' sets it aside and fetches everything anew, and 'catalogctl import FILE"
    + " --replace-damaged' takes everything from a file"
}

extension RepairSource {
  /// What it is, for people.
  var words: String {
    let name =
      switch kind {
      case .previous: "the generation before the last full update"
      case .sharedBase: "what it shares with other users"
      }
    let products = Quantity.of(snapshot.rowCount(0), "product")
    return "\(name) (commit \(snapshot.sequence) of \(Moment.text(snapshot.time)), \(products))"
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

  /// ``wait`` as a duration, to the millisecond.
  var waiting: Duration { .milliseconds(Int(wait * 1000)) }
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
