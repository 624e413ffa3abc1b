import Documents
import LogStore
import Storage
import Synchronization
import UploadQueue

/// The documents of one user as the daemon uses them: the queue, the journal, the sessions.
///
/// The daemon opens them for itself, beside those of the workspace: what was read while a user was signed in is recorded with
/// that user, and goes up, also when another one is signed in meanwhile.
final class UserDocuments: Sendable {
  /// Whose; `nil` for those that belong to nobody.
  let user: String?
  let location: StoreLocation
  let store: DocumentStore
  let queue: UploadQueue
  let misses: DocumentCollection<Miss>
  let sessions: DocumentCollection<StoredSession>
  let codes: DocumentCollection<StoredCode>
  let pending: DocumentCollection<PendingScan>
  let probes: DocumentCollection<RecordingProbe>
  /// The directory that they are in: a user who was removed and came back has another one.
  let home: FileIdentity?
  /// Which sessions there are. Changes behind the commits that change them.
  let index: Mutex<SessionIndex>
  /// Whether the queue's index is there.
  private let isDeclared = Mutex(false)

  /// - Throws: `StoreError`, `DocumentStoreError`.
  /// - Complexity: some ten system calls, and the reading of the sessions. Writes nothing.
  init(
    _ user: String?, _ location: StoreLocation, _ queueOptions: QueueOptions, _ environment: QueueEnvironment,
    _ trace: @escaping @Sendable (Trace) -> Void
  ) throws {
    self.user = user
    self.location = location
    home = try Self.home(location)
    var options = DocumentStore.Options()
    options.trace = trace
    // Other processes are looked for once a second: nobody waits for them.
    options.pollInterval = .seconds(1)
    // ``CompactionService`` does it when there is little to do; this bounds the file where there never is.
    // The floor also bounds memory, as the rows since a compaction are found by a table in memory.
    options.compaction = CompactionPolicy(share: 3, floor: 8 << 20)
    // Whatever schema an application has given its own documents.
    store = try DocumentStore.inspect(location, options: options)
    queue = try UploadQueue(in: store, options: queueOptions, environment: environment, isReadOnly: true)
    misses = try store.collection("scan.misses")
    sessions = try store.collection("scan.sessions")
    codes = try store.collection("scan.session-codes")
    pending = try store.collection("scan.pending")
    probes = try store.collection("scan.probes")
    index = Mutex(try SessionIndex(sessions))
  }

  /// Whether ``declareQueue()`` was called.
  var hasQueue: Bool { isDeclared.withLock { $0 } }

  /// Declares what the queue is searched by, once. Blocks for a commit the first time.
  func declareQueue() throws {
    if isDeclared.withLock({ $0 }) { return }
    _ = try UploadQueue(in: store)
    isDeclared.withLock { $0 = true }
  }

  static func home(_ location: StoreLocation) throws -> FileIdentity? {
    try (location.directory as? PosixDirectory)?.identity()
  }
}
