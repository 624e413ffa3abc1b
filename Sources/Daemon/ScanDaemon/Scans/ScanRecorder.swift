import Documents
import LogStore
import Platform
import Synchronization
import UploadQueue
import Workspace

/// A group commit for the records of scans: callers and the queue's worker share the commits of the upload queue.
final class ScanRecorder: Sendable {
  /// The maximum number of misses that wait to be written after their answers. Further ones are counted, but not
  /// entered.
  static let maximumWaitingMisses = 4096
  /// How long misses are collected before they are written.
  static let missPause = Duration.seconds(1)

  private struct State {
    var misses: [NewMiss] = []
    var missesAreDue = false
    var missesLost = 0
    /// Documents whose journal may be too long after recent commits, to be trimmed soon.
    var trims: [UserDocuments] = []
  }

  private let thread = BlockingThread("daemon.recorder")
  private let state = Mutex(State())
  private let maximumMisses: Int
  private let context: DaemonContext

  /// - Parameter maximumMisses: The maximum number of codes in a user's miss journal.
  init(_ context: DaemonContext, maximumMisses: Int) {
    self.context = context
    self.maximumMisses = maximumMisses
  }

  /// Opens the documents next to the given stores.
  ///
  /// - Returns: The documents; `nil` if they have no directory.
  func open(_ stores: UserStores) async throws -> UserDocuments? {
    try await thread.run { [context] in try context.userDocuments.documents(of: stores, creates: false) }
  }

  /// Runs `body` in a commit, shared with other callers, on the documents next to the given stores.
  ///
  /// - Parameter body: The changes to make. It may run more than once, each time in another transaction. An error it
  ///   throws affects only its own caller.
  /// - Returns: The result of `body`, once it is durable.
  func perform<Value: Sendable>(
    for stores: UserStores, _ body: @escaping @Sendable (DocumentTransaction, UserDocuments) throws -> Value
  ) async throws -> Value {
    try await perform(for: stores, [body])[0].get()
  }

  /// Runs several bodies, in the given order, in a shared commit.
  ///
  /// - Returns: The result of each body, once all are durable or have failed.
  func perform<Value: Sendable>(
    for stores: UserStores, _ bodies: [@Sendable (DocumentTransaction, UserDocuments) throws -> Value]
  ) async -> [Result<Value, any Error>] {
    let documents: UserDocuments
    do { documents = try await ready(stores) } catch {
      context.report(.recordingFailing, error, of: stores.user)
      return bodies.map { _ in .failure(error) }
    }
    let start = context.uptime()
    let results = await documents.queue.commit(
      bodies.map { body in
        { [context] (transaction: DocumentTransaction) in
          let value: Value
          do { value = try body(transaction, documents) } catch { throw Refusal(reason: error) }
          try context.environment.beforeCommit()
          return value
        }
      })
    context.metrics.recording.recordNanoseconds((context.uptime() - start).nanoseconds)
    var failure: (any Error)?
    let outcomes = results.map { result -> Result<Value, any Error> in
      guard case .failure(let error) = result else { return result }
      if let refusal = error as? Refusal { return .failure(refusal.reason) }
      failure = error
      return result
    }
    if let failure {
      context.report(.recordingFailing, failure, of: stores.user)
      // The file may have been replaced or damaged; reopen it next time.
      context.userDocuments.drop(documents)
    } else {
      context.problems.clear(.recordingFailing)
      trimSoon(documents)
    }
    return outcomes
  }

  /// The documents next to the given stores, ready for a commit.
  private func ready(_ stores: UserStores) async throws -> UserDocuments {
    if let documents = context.userDocuments.opened(for: stores), documents.hasQueue { return documents }
    return try await thread.run { [context] in
      guard let documents = try context.userDocuments.documents(of: stores, creates: true) else {
        throw RecordingError.userIsGone(stores.user)
      }
      try documents.declareQueue()
      return documents
    }
  }

  /// Schedules a miss to be entered in the journal. Does not block.
  func enterSoon(_ miss: NewMiss) {
    let begins = state.withLock { state in
      guard state.misses.count < Self.maximumWaitingMisses else {
        state.missesLost += 1
        return false
      }
      state.misses.append(miss)
      defer { state.missesAreDue = true }
      return !state.missesAreDue
    }
    if begins { thread.post(after: Self.missPause) { [self] in writeMisses() } }
  }

  /// Returns when all scheduled misses are written, or could not be, and the journals are within their limit.
  func flush() async {
    _ = try? await thread.run { [self] in
      writeMisses()
      trimAll()
    }
  }

  /// Writes a test record to documents whose last write failed, so that the problem ends with its cause and not with
  /// the next scan.
  func probe() async {
    guard context.problems.has(.recordingFailing) || context.problems.has(.missJournalFailing),
      let stores = try? context.access.stores()
    else { return }
    let time = Double(context.time.now()) / 1e6
    let result: Void? = try? await perform(for: stores) { transaction, documents in
      try transaction.upsert(RecordingProbe(time: time), into: documents.probes)
    }
    guard result != nil else { return }
    context.problems.clear(.recordingFailing)
    context.problems.clear(.missJournalFailing)
  }

  // MARK: On the writer's thread

  /// Writes the pending misses.
  private func writeMisses() {
    let (misses, lost) = state.withLock { state in
      defer {
        state.misses = []
        state.missesAreDue = false
        state.missesLost = 0
      }
      return (state.misses, state.missesLost)
    }
    if lost > 0 { context.metrics.missesLost.increment(by: lost) }
    var rest = misses
    while let stores = rest.first?.stores {
      let own = rest.filter { $0.stores === stores }
      rest.removeAll { $0.stores === stores }
      do {
        guard let documents = try context.userDocuments.documents(of: stores, creates: true) else { continue }
        try documents.store.transaction { transaction in
          for miss in own { try documents.enter(miss, transaction) }
          try context.environment.beforeCommit()
        }
        context.problems.clear(.missJournalFailing)
        trim(documents)
      } catch { context.problems.report(.missJournalFailing, "\(error)") }
    }
  }

  /// Trims the journal to its limit. If that fails, the next commit trims it.
  private func trim(_ documents: UserDocuments) {
    do { try documents.trimMisses(to: maximumMisses) } catch {
      context.problems.report(.missJournalFailing, "\(error)")
    }
  }

  /// Schedules a trim, one for all commits until it runs.
  private func trimSoon(_ documents: UserDocuments) {
    let begins = state.withLock { state in
      if state.trims.contains(where: { $0 === documents }) { return false }
      state.trims.append(documents)
      return state.trims.count == 1
    }
    guard begins else { return }
    thread.post(after: Self.missPause) { [self] in trimAll() }
  }

  private func trimAll() {
    let all = state.withLock { state in
      defer { state.trims = [] }
      return state.trims
    }
    for documents in all { trim(documents) }
  }
}

/// A test record that is written to find out whether writes succeed.
struct RecordingProbe: Codable, Sendable, Identifiable {
  var id = "last"
  /// The time of the probe, in seconds since 1970.
  var time: Double
}

/// Why nothing was recorded, if it was not an error of a store.
enum RecordingError: Error, CustomStringConvertible {
  case userIsGone(String?)

  var description: String {
    switch self {
    case .userIsGone(let user): "the stores of \(user ?? "nobody") were removed; sign in again"
    }
  }
}

/// An error thrown by the body of one caller.
private struct Refusal: Error {
  let reason: any Error
}
