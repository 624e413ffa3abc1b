import ArgumentParser
import Catalog
import JSONFormat
import Workspace

struct Users: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "users", abstract: "List the users that have stores here.",
    discussion: """
      What a sealed user has is shown only to who gives that user's key. Exit code 65 if a user's catalogue is damaged \
      or of a newer version; the others are still listed.
      """,
    subcommands: [UsersRemove.self])

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let workspace = store.workspace
    var faults = 0
    var current: String?
    do { current = try workspace.currentUser() } catch {
      // The list of users does not depend on which user is signed in.
      guard case .settings = error, let failure = Failure(error) else { throw error }
      Console.say("catalogctl: \(failure.message)")
      faults += 1
    }
    var table = Table("USER", "SIGNED IN", ">PRODUCTS", ">SIZE", "CURSOR")
    for id in try workspace.users() {
      // One user's damaged catalogue must not hide the others.
      var snapshot: CatalogSnapshot?
      var bytes = 0
      var fault = "damaged"
      var isSealed = false
      do {
        isSealed = try workspace.isSealed(id)
        bytes = try workspace.byteCount(of: id)
        snapshot = try store.orRemedies(id) {
          try workspace.catalogue(of: id).flatMap { try CatalogReader.open($0)?.snapshot() } ?? .empty
        }
      } catch {
        guard let failure = Failure(error) else { throw error }
        if isSealed, failure.code == .permission {
          // Each user has a key of their own, so most of those in a list do not open with the one that was given.
          fault = "sealed"
        } else {
          guard failure.code == .data else { throw error }
          if error.isAboutNewerFile { fault = "newer" }
          Console.say("catalogctl: \(failure.message) (with --user \(id))")
          faults += 1
        }
      }
      // Byte by byte: a String's `==` treats canonically equivalent Unicode texts as equal.
      let isCurrent = current.map { $0.utf8.elementsEqual(id.utf8) } ?? false
      let isHidden = isSealed && snapshot == nil
      if output.json {
        JSONText.object([
          ("id", .text(id)), ("current", .bool(isCurrent)), ("bytes", .int(bytes)),
          ("products", isHidden ? .null : .int(snapshot?.productCount ?? 0)),
          ("cursor", isHidden ? .null : .text(snapshot?.cursor ?? "")), ("sealed", .bool(isSealed)),
        ]).print()
      }
      table.add(
        Table.cell(id), isCurrent ? "yes" : "", snapshot.map { Quantity.count($0.productCount) } ?? fault,
        Quantity.bytes(bytes), Table.cell(snapshot?.cursor ?? ""))
    }
    if !output.json { table.print() }
    for refusal in try workspace.refusedDirectories() {
      Console.say("catalogctl: refused: \(refusal); move the directory itself here, or remove the link")
    }
    if faults > 0 { throw Failure(.data) }
  }
}
