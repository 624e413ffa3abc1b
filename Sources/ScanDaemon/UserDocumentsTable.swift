import Documents
import LogStore
import Synchronization
import UploadQueue
import Workspace

/// The open documents of users, each opened once. Any number of threads.
final class UserDocumentsTable: Sendable {
  /// Users whose documents stay open while nobody uses them.
  static let maximumCount = 32

  /// Ids of users are told apart byte by byte; a String's `==` takes two normal forms of Unicode for one.
  struct Key: Hashable {
    let bytes: [UInt8]?
    init(_ user: String?) { bytes = user.map { Array($0.utf8) } }
  }

  private struct Entry {
    let documents: UserDocuments
    /// For which stores of the workspace it is known that these are the documents beside them.
    weak var stores: UserStores?
    var used: Int
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var clock = 0
  }

  private let directory: WorkspaceDirectory
  private let environment: QueueEnvironment
  private let queueOptions: QueueOptions
  private let trace: @Sendable (Trace) -> Void
  /// Guards what is open; held while documents are opened.
  private let state = Mutex(State())

  init(
    _ directory: WorkspaceDirectory, _ queueOptions: QueueOptions, _ environment: QueueEnvironment,
    _ trace: @escaping @Sendable (Trace) -> Void
  ) {
    self.trace = trace
    self.directory = directory
    self.queueOptions = queueOptions
    self.environment = environment
  }

  /// The documents beside these stores.
  ///
  /// - Parameter creates: whether the default directory is made where it is missing; a user's own was made when the user signed in.
  /// - Returns: `nil` where there is no directory.
  /// - Throws: `WorkspaceError`, `StoreError`, `DocumentStoreError`.
  func documents(of stores: UserStores, creates: Bool) throws -> UserDocuments? {
    try state.withLock { state in
      state.clock += 1
      let key = Key(stores.user)
      if let entry = state.entries[key], entry.stores === stores {
        state.entries[key]?.used = state.clock
        return entry.documents
      }
      return try open(stores.user, stores, creates: creates, &state)
    }
  }

  /// The documents beside these stores, if they are open. Waits for nothing.
  func opened(for stores: UserStores) -> UserDocuments? {
    state.withLock { state in
      let key = Key(stores.user)
      guard let entry = state.entries[key], entry.stores === stores else { return nil }
      state.clock += 1
      state.entries[key]?.used = state.clock
      return entry.documents
    }
  }

  /// The documents of a user, who may be signed in or not.
  func documents(ofUser user: String?) throws -> UserDocuments? {
    try state.withLock { state in
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
    if state.entries.count > Self.maximumCount,
      let eldest = state.entries.filter({ $0.key != key }).min(by: { $0.value.used < $1.value.used })
    {
      // Who uses them still holds them; they close with the last reference.
      state.entries[eldest.key] = nil
    }
    return opened
  }

  /// Lets go of documents that fail: they are opened anew when they are next asked for.
  func drop(_ documents: UserDocuments) {
    state.withLock { state in
      let key = Key(documents.user)
      if state.entries[key]?.documents === documents { state.entries[key] = nil }
    }
  }

  /// The ids of all users with a directory, and nobody's.
  func users() throws -> [String?] { try [nil] + directory.users().map(Optional.some) }
}
