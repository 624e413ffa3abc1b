import Documents
import LogStore
import Synchronization
import UploadQueue
import Workspace

/// A cache of users' open documents, each opened once. Safe to use from any number of threads.
final class UserDocumentsTable: Sendable {
  /// The default maximum number of users whose documents stay open while they are not in use.
  static let maximumCount = 32

  /// User ids are compared byte by byte, because a String's `==` treats canonically equivalent Unicode texts as equal.
  struct Key: Hashable {
    let bytes: [UInt8]?
    init(_ user: String?) { bytes = user.map { Array($0.utf8) } }
  }

  private struct Entry {
    let documents: UserDocuments
    /// The workspace stores that these documents are known to belong to.
    weak var stores: UserStores?
    var used: Int
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var clock = 0
    /// The leases of the key that had ended when the documents were opened.
    var endedLeases = 0
  }

  private let maximumCount: Int
  private let directory: WorkspaceDirectory
  private let environment: QueueEnvironment
  private let queueOptions: QueueOptions
  private let trace: Tracer
  /// Guards the open documents; held while documents are opened.
  private let state = Mutex(State())

  init(
    _ directory: WorkspaceDirectory, maximumCount: Int, _ queueOptions: QueueOptions, _ environment: QueueEnvironment,
    _ trace: Tracer
  ) {
    self.maximumCount = maximumCount
    self.trace = trace
    self.directory = directory
    self.queueOptions = queueOptions
    self.environment = environment
  }

  /// The documents next to the given stores.
  ///
  /// - Parameter creates: Whether to create the default directory if it is missing. A user's own directory is created
  ///   when the user signs in.
  /// - Returns: The documents; `nil` if there is no directory.
  /// - Throws: `WorkspaceError`, `StoreError`, `DocumentStoreError`.
  func documents(of stores: UserStores, creates: Bool) throws -> UserDocuments? {
    try state.withLock { state in
      endLease(&state)
      state.clock += 1
      let key = Key(stores.user)
      if let entry = state.entries[key], entry.stores === stores {
        state.entries[key]?.used = state.clock
        return entry.documents
      }
      return try open(stores.user, stores, creates: creates, &state)
    }
  }

  /// The documents next to the given stores, if they are open. Does not block.
  func opened(for stores: UserStores) -> UserDocuments? {
    state.withLock { state in
      endLease(&state)
      let key = Key(stores.user)
      guard let entry = state.entries[key], entry.stores === stores else { return nil }
      state.clock += 1
      state.entries[key]?.used = state.clock
      return entry.documents
    }
  }

  /// The documents of a user, whether signed in or not; `nil` if there is no directory.
  func documents(ofUser user: String?) throws -> UserDocuments? {
    try state.withLock { state in
      endLease(&state)
      state.clock += 1
      return try open(user, state.entries[Key(user)]?.stores, creates: false, &state)
    }
  }

  private func open(
    _ user: String?, _ stores: UserStores?, creates: Bool, _ state: inout State
  ) throws -> UserDocuments? {
    let key = Key(user)
    let creates = creates && user == nil
    let name = "documents"
    guard let location = try creates ? directory.makeStore(name, of: user) : directory.store(name, of: user) else {
      state.entries[key] = nil
      return nil
    }
    if let entry = state.entries[key], try UserDocuments.home(location) == entry.documents.home {
      state.entries[key] = Entry(documents: entry.documents, stores: stores, used: state.clock)
      return entry.documents
    }
    let opened = try UserDocuments(user, location, queueOptions, environment, trace)
    state.entries[key] = Entry(documents: opened, stores: stores, used: state.clock)
    if state.entries.count > maximumCount,
      let eldest = state.entries.filter({ $0.key != key }).min(by: { $0.value.used < $1.value.used })
    {
      // Users of the documents still hold them; they close with the last reference.
      state.entries[eldest.key] = nil
    }
    return opened
  }

  /// Closes all documents if the lease of the key is over; those that can be opened are opened again.
  func endLease() { state.withLock { endLease(&$0) } }

  private func endLease(_ state: inout State) {
    let ended = directory.keyRing.endLease()
    guard ended != state.endedLeases else { return }
    for entry in state.entries.values { entry.documents.store.close() }
    state = State(clock: state.clock, endedLeases: ended)
  }

  /// Closes documents that fail, so that the next access reopens them.
  func drop(_ documents: UserDocuments) {
    state.withLock { state in
      let key = Key(documents.user)
      if state.entries[key]?.documents === documents { state.entries[key] = nil }
    }
  }

  /// Where a user's documents are, without opening them; `nil` if there is no directory.
  func location(ofUser user: String?) throws -> StoreLocation? { try directory.store("documents", of: user) }

  /// The ids of all users with a directory, and `nil` for the default documents.
  func users() throws -> [String?] { try [nil] + directory.users().map(Optional.some) }
}
