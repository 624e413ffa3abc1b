import Documents
import LogStore
import Storage
import Synchronization
import UploadQueue

/// The documents of one user, as the daemon uses them: the queue, the journal, the sessions.
///
/// The daemon opens them independently of the workspace: a scan read while a user was signed in is recorded for that
/// user and uploaded, even if another user signs in before that.
final class UserDocuments: Sendable {
  /// The user; `nil` for the default documents.
  let user: String?
  let location: StoreLocation
  let store: DocumentStore
  let queue: UploadQueue
  let misses: DocumentCollection<Miss>
  let sessions: DocumentCollection<StoredSession>
  let codes: DocumentCollection<StoredCode>
  let pending: DocumentCollection<PendingScan>
  let probes: DocumentCollection<RecordingProbe>
  /// The directory that contains the documents. A user who was removed and added again has another one.
  let home: FileIdentity?
  /// The sessions. Updated after the commits that change them.
  let index: Mutex<SessionIndex>
  /// Whether the queue's index is declared.
  private let isDeclared = Mutex(false)

  /// - Throws: `StoreError`, `DocumentStoreError`.
  /// - Complexity: About ten system calls, and reading the sessions. Writes nothing.
  init(
    _ user: String?, _ location: StoreLocation, _ queueOptions: QueueOptions, _ environment: QueueEnvironment,
    _ trace: Tracer
  ) throws {
    self.user = user
    self.location = location
    home = try Self.home(location)
    var options = DocumentStore.Options()
    options.trace = trace
    // Polling for commits of other processes once a second is enough: nothing waits for them.
    options.pollInterval = .seconds(1)
    // ``CompactionService`` compacts while the daemon is nearly idle; this policy bounds the file if it is never idle.
    // The floor also bounds memory, because rows written since the last compaction are found through an in-memory
    // table.
    options.compaction = CompactionPolicy(share: 3, floor: 8 << 20)
    // Open the store with any schema that an application has given its own documents.
    store = try DocumentStore.inspect(location, options: options)
    queue = try UploadQueue(in: store, options: queueOptions, environment: environment, isReadOnly: true)
    misses = try store.collection("scan.misses")
    sessions = try store.collection("scan.sessions")
    codes = try store.collection("scan.session-codes")
    pending = try store.collection("scan.pending")
    probes = try store.collection("scan.probes")
    index = Mutex(try SessionIndex(sessions))
  }

  /// Whether ``declareQueue()`` has been called.
  var hasQueue: Bool { isDeclared.withLock { $0 } }

  /// Declares the index that queries of the queue use, once. Blocks for a commit the first time.
  func declareQueue() throws {
    if isDeclared.withLock({ $0 }) { return }
    _ = try UploadQueue(in: store)
    isDeclared.withLock { $0 = true }
  }

  static func home(_ location: StoreLocation) throws -> FileIdentity? {
    try (location.directory as? PosixDirectory)?.identity()
  }
}
