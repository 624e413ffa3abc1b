import Documents
import LogStore
import Platform
import Storage
import Synchronization
import UploadQueue
import Workspace

/// What is in the queues of all users, as far as the daemon has looked.
///
/// A look opens a user's documents, reads what waits and what is parked, and closes them again, so that the number of
/// open files does not grow with the users. Users are looked at in pieces, and again only if their file has changed
/// since.
final class QueueSurvey: Sendable {
  typealias Key = UserDocumentsTable.Key

  /// How long one piece takes at most. Between two pieces, other work of the survey's thread goes on.
  static let pieceTime: Duration = .milliseconds(50)
  /// How long a file must have been unchanged until its time of modification is believed to tell the next change.
  static let steadyTime: Int64 = 2_000_000

  /// What tells that a file has changed.
  private struct FileState: Equatable {
    let identity: FileIdentity
    let byteCount: Int
    let modified: Int64
  }

  private struct Record {
    /// The file when it was looked at; `nil` if it changed just before.
    var file: FileState?
    /// The commit in which a worker found nothing to send.
    var settled: UInt64?
    var sequence: UInt64 = 0
    /// What was found; `nil` if the queue is empty.
    var summary: QueueSummary?

    /// Whether a worker may find something to send.
    var hasWork: Bool { summary.map { $0.hasWork && settled != $0.sequence } ?? false }
  }

  private struct State {
    var records: [Key: Record] = [:]
    /// The workers that know what waits in their queues.
    var workers: [Key: UploadWorker] = [:]
    var lookCount = 0
  }

  private let context: DaemonContext
  private let state = Mutex(State())
  private let thread = BlockingThread("daemon.survey")

  init(_ context: DaemonContext) { self.context = context }

  /// The number of looks at a user's queue since the daemon started.
  var lookCount: Int { state.withLock { $0.lookCount } }

  /// What is in the queues that are not empty.
  var summaries: [QueueSummary] { state.withLock { $0.records.values.compactMap(\.summary) } }

  // MARK: All users

  /// Looks at the queues of all users.
  ///
  /// - Parameters:
  ///   - isOver: Whether to end early.
  ///   - found: Called after each piece, with the users for whom a worker may find something to send.
  /// - Throws: `WorkspaceError` if the users cannot be listed. A queue that cannot be read is looked at again next time.
  func run(isOver: () -> Bool, found: ([String?]) -> Void) async throws {
    let users = try await thread.run { [context] in try context.userDocuments.users() }
    var next = 0
    while next < users.count, !isOver() {
      let begin = next
      let (end, withWork) = try await thread.run { [self] in
        let clock = ContinuousClock.now
        var withWork: [String?] = []
        var index = begin
        repeat {
          let user = users[index]
          do { if try look(at: user) { withWork.append(user) } } catch { reportKey(error, user) }
          index += 1
        } while index < users.count && ContinuousClock.now - clock < Self.pieceTime
        return (index, withWork)
      }
      next = end
      found(withWork)
    }
    if next == users.count {
      let keys = Set(users.map { Key($0) })
      state.withLock { state in state.records = state.records.filter { keys.contains($0.key) } }
    }
  }

  /// Reports that a user's uploads cannot be sent for want of a key. Other errors are reported by who uses the queue.
  private func reportKey(_ error: any Error, _ user: String?) {
    guard error.isAboutKeys, let user, (try? context.directory.isSealed("documents", of: user)) == true else { return }
    context.report(.uploadsStopped, error, about: user, of: user)
  }

  // MARK: One user

  /// Looks at a user's queue, unless its file is as it was.
  ///
  /// - Returns: Whether a worker may find something to send.
  private func look(at user: String?) throws -> Bool {
    let key = Key(user)
    guard let location = try context.userDocuments.location(ofUser: user) else {
      state.withLock { $0.records[key] = nil }
      return false
    }
    // Before the commit is read: what is committed afterwards changes the file again.
    let file = try fileState(location)
    let record = state.withLock { $0.records[key] }
    if let record, record.file != nil, record.file == file { return record.hasWork }
    if file == nil, record == nil { return false }
    return try update(key, file) { worker in
      if let worker { return try worker.queue.summary(waiting: worker.waitingUploads()) }
      let store = try DocumentStore.inspect(location)
      defer { store.close() }
      return try UploadQueue(in: store, isReadOnly: true).summary()
    }
  }

  /// Looks at the queue of a user whose documents are open, if there was a commit.
  func refresh(_ documents: UserDocuments) throws {
    let key = Key(documents.user)
    let earlier = state.withLock { $0.records[key]?.summary }
    let file = try? fileState(documents.location)
    _ = try update(key, file) { worker in
      if let earlier, try documents.store.snapshot().sequence == earlier.sequence { return earlier }
      return try documents.queue.summary(after: earlier, waiting: worker?.waitingUploads())
    }
  }

  private func update(
    _ key: Key, _ file: FileState?, _ read: (UploadWorker?) throws -> QueueSummary
  ) throws -> Bool {
    let worker = state.withLock { state in
      state.lookCount += 1
      return state.workers[key]
    }
    let summary = try read(worker)
    // The file system's clock is the system's, whatever clock the queues have.
    let isSteady = file.map { abs(QueueEnvironment.live.now() - $0.modified) > Self.steadyTime } ?? false
    return state.withLock { state in
      var record = state.records[key] ?? Record()
      record.file = isSteady ? file : nil
      record.sequence = summary.sequence
      record.summary = summary.counts.count > 0 ? summary : nil
      state.records[key] = record
      return record.hasWork
    }
  }

  private func fileState(_ location: StoreLocation) throws -> FileState? {
    let name = location.name + ".log"
    guard let identity = try location.directory.identity(of: name),
      let byteCount = try location.directory.byteCount(of: name),
      let modified = try location.directory.modificationTime(of: name)
    else { return nil }
    return FileState(identity: identity, byteCount: byteCount, modified: modified)
  }

  // MARK: Workers

  /// Records that a worker knows a user's queue.
  func began(_ worker: UploadWorker, _ documents: UserDocuments) {
    state.withLock { $0.workers[Key(documents.user)] = worker }
  }

  /// Records what is left in a user's queue after a worker ended.
  func ended(_ documents: UserDocuments, _ ending: UploadWorker.Ending?) {
    let key = Key(documents.user)
    state.withLock { state in
      state.workers[key] = nil
      if let ending { state.records[key, default: Record()].settled = ending.sequence }
    }
    try? refresh(documents)
  }
}
