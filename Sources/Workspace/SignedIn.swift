import Documents
import LogStore
import Storage
import Synchronization

/// Who is signed in, as it stands on the disk, and the open stores of that user.
///
/// What counts is `currentUser` in the default settings, and nothing that any process remembers. Whoever asks looks there; the
/// first one to find another user closes the stores of the old one.
final class SignedIn: Sendable {
  private struct State {
    /// Of the default settings.
    var reader: StoreReader?
    /// The commit that was looked at last.
    var seen: Snapshot?
    var stores: UserStores?
    var isClosed = false
  }

  private let directory: WorkspaceDirectory
  private let options: Workspace.Options
  let observers: Observers
  /// Guards who is known to be signed in; held for a look at the disk.
  private let state = Mutex(State())

  init(_ directory: WorkspaceDirectory, _ options: Workspace.Options) {
    self.directory = directory
    self.options = options
    observers = Observers(interval: options.pollInterval)
  }

  /// The stores of who is signed in; `nil` for nobody.
  ///
  /// - Throws: `WorkspaceError.closed`, `.settings`, `.store`.
  /// - Complexity: with nothing new, one system call, or one for each `lookInterval`.
  func look() throws -> UserStores? {
    let (stores, old, isNew) = try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: nil) }
      let old = state.stores
      do { try refresh(&state) } catch let error as StoreError {
        throw WorkspaceError(settings: error)
      } catch let error as StorageError { throw WorkspaceError.store(.io(error)) }
      return (state.stores, old, old !== state.stores)
    }
    if isNew {
      // Nobody is given these any more, and they give nothing any more: this only lets go of files.
      old?.close()
      observers.notify()
    }
    return stores
  }

  private func refresh(_ state: inout State) throws {
    state.reader = try StoreReader.newest(state.reader, lookInterval: options.lookInterval) {
      try directory.store("settings", of: nil)
    }
    let newest = state.reader?.snapshot
    if newest === state.seen { return }
    let id = try SettingsTable.text(SettingsTable.currentUser, in: newest)
    let home = try id.flatMap { try directory.directory(of: $0) }
    // A user who was removed and signed in again has another directory.
    if let stores = state.stores, let id, stores.user?.hasSameBytes(as: id) == true, try stores.isAtHome(in: home) {
      state.seen = newest
      return
    }
    state.stores = id.map { UserStores($0, directory, options, StoreAccess(self), home: home) }
    state.seen = newest
  }

  /// Lets go of everything.
  func close() {
    let old = state.withLock { state in
      let old = state
      state = State(isClosed: true)
      return old
    }
    old.stores?.close()
    observers.finish()
  }
}
