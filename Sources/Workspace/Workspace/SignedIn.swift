import LogStore
import Platform
import Synchronization

/// The signed-in user, as stored on the disk, and the open stores of that user.
///
/// The authority is `currentUser` in the default settings, not a copy in any process. Every request checks it; the
/// first one that finds another user closes the stores of the old one.
/// first one to find another user closes the stores of the old one.
final class SignedIn: Sendable {
  private struct State {
    /// The reader of the default settings.
    var reader: StoreReader?
    /// The last snapshot that was checked.
    var seen: Snapshot?
    var stores: UserStores?
    var isClosed = false
    /// The leases of the key that had ended when the stores were opened.
    var endedLeases = 0
  }

  private let directory: WorkspaceDirectory
  private let options: Workspace.Options
  let observers: Observers
  /// Guards the state. Held while the disk is checked.
  private let state = Mutex(State())

  init(_ directory: WorkspaceDirectory, _ options: Workspace.Options) {
    self.directory = directory
    self.options = options
    observers = Observers(interval: options.pollInterval)
  }

  /// Checks which user is signed in, and returns that user's stores; `nil` if no user is signed in.
  ///
  /// - Throws: `WorkspaceError.closed`, `.settings`, `.store`.
  /// - Complexity: One system call if nothing has changed, or one for each `refreshInterval`.
  func refresh() throws -> UserStores? {
    let (stores, old, isNew) = try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: nil) }
      let old = state.stores
      do { try refresh(&state) } catch let error as StoreError {
        throw WorkspaceError(settings: error)
      } catch let error as StorageError { throw WorkspaceError.store(.io(error)) }
      return (state.stores, old, old !== state.stores)
    }
    if isNew {
      // The old stores are no longer returned to callers, and calls on them throw. This only closes their files.
      old?.close()
      observers.notify()
    }
    return stores
  }

  private func refresh(_ state: inout State) throws {
    let endedLeases = directory.keyRing.endLease()
    if endedLeases != state.endedLeases {
      // What was opened with the key is closed.
      (state.stores, state.seen, state.endedLeases) = (nil, nil, endedLeases)
    }
    state.reader = try StoreReader.newest(state.reader, refreshInterval: options.refreshInterval) {
      try directory.store("settings", of: nil)
    }
    let newest = state.reader?.snapshot
    if newest === state.seen { return }
    let id = try SettingsTable.text(SettingsTable.currentUser, in: newest)
    let home = try id.flatMap { try directory.directory(of: $0) }
    // A user who was removed and has signed in again has another directory.
    if let stores = state.stores, let id, stores.user?.hasSameBytes(as: id) == true, try stores.isAtHome(in: home) {
      state.seen = newest
      return
    }
    state.stores = id.map { UserStores($0, directory, options, StoreAccess(self), home: home) }
    state.seen = newest
  }

  /// Closes everything.
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
