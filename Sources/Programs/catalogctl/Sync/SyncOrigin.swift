import Catalog
import Workspace

/// The origin of a user's catalogue, as far as the command knows it, and its exchange with other users.
struct SyncOrigin {
  let organisation: String?
  private let workspace: WorkspaceDirectory
  private let id: String
  private let origin: CatalogueOrigin?
  /// The server's URL without secrets; `nil` for files.
  private let shownSource: String?

  /// - Parameters:
  ///   - source: The server's URL, or the name of the files' source.
  ///   - organisation: The organisation whose catalogue the source provides.
  ///   - shownSource: The server's URL without secrets; `nil` for files.
  /// - Throws: `WorkspaceError.notSignedIn`, `.store`.
  init(
    _ store: StoreOptions, _ write: WriteOptions, source: String?, organisation: String?, shownSource: String? = nil
  ) throws {
    var workspace = store.workspace
    workspace.lockTimeout = write.lockTimeout
    self.workspace = workspace
    id = try store.userID()
    self.organisation = organisation
    self.shownSource = shownSource
    origin = source.flatMap { source in
      organisation.map { CatalogueOrigin(source: source, organisation: $0) }
    }
  }

  /// Prints a hint, before a user downloads a catalogue without naming an organisation, that another user already has
  /// it.
  func hint() {
    guard organisation == nil, let shownSource,
      // The hint is optional; an error of the user's own store is reported later.
      let neighbours = try? workspace.neighbours(of: id, withCatalogueFrom: shownSource), let first = neighbours.first
    else { return }
    let others =
      switch neighbours.count {
      case 1: " has"
      case 2: " and another user have"
      default: " and \(neighbours.count - 1) other users have"
      }
    if let known = neighbours.compactMap(\.organisation).first {
      Console.say(
        "catalogctl: \(first.user)\(others) this server's catalogue already; --organisation \(known) would share it instead"
          + " of downloading it again, if \(id) belongs to the same organisation")
    } else {
      Console.say(
        "catalogctl: \(first.user)\(others) this server's catalogue already; --organisation would share it, if both users"
          + " give the same one: first 'catalogctl sync --user \(first.user) --organisation ID', then this sync with it"
      )
    }
  }

  /// Lets a user without a catalogue start with another user's catalogue, and reports it.
  func prepare(full: Bool) throws -> AdoptedBase? {
    let adopted = try workspace.prepareSynchronization(of: id, from: origin, full: full)
    if let adopted {
      Console.say(
        "catalogctl: began with the catalogue of another user of \(organisation ?? ""):"
          + " \(Quantity.bytes(adopted.byteCount)) \(adopted.isShared ? "shared" : "copied"), cursor \(adopted.cursor)")
    }
    return adopted
  }

  /// Removes a record of another origin while the catalogue is locked, before rows of this origin are committed.
  func confirm() throws { try workspace.confirmOrigin(of: id, from: origin) }

  /// Records the catalogue's origin after a commit. If that fails, the commit is durable nevertheless.
  func recordSynchronization() {
    do { try workspace.noteSynchronization(of: id, from: origin, source: shownSource) } catch {
      Console.say(
        "catalogctl: warning: everything was committed, but not noted for other users to begin with: \(error)")
    }
  }
}
