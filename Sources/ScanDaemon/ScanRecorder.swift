import Documents
import LogStore
import Synchronization
import UploadQueue
import Workspace

/// Makes changes of many callers one commit, on a thread of its own.
///
/// Who comes while a commit runs waits for the next one, which takes all who wait, up to ``maximumCalls``, in the order in which
/// they came. So the thousandth caller at once pays some syncs, and not a thousand. Each caller waits with one change, so there
/// is never more in memory than there are callers.
final class ScanRecorder: Sendable {
  /// Changes of one commit.
  static let maximumCalls = 1024
  /// Codes missed behind their answers that wait to be written; more are counted, and not entered.
  static let maximumWaitingMisses = 4096
  /// How long these wait for each other, in milliseconds.
  static let missPause = 1000

  private struct State {
    var waiting: [any RecorderCall] = []
    var isCommitting = false
    var misses: [MissNote] = []
    var missesAreDue = false
    var missesLost = 0
  }

  let table: UserDocumentsTable
  private let thread = BlockingThread("recorder")
  private let state = Mutex(State())
  private let problems: Problems
  private let metrics: DaemonMetrics
  private let maximumMisses: Int
  private let beforeCommit: @Sendable () throws -> Void
  private let uptime: @Sendable () -> Duration
  private let now: @Sendable () -> Int64
  private let stores: @Sendable () throws -> UserStores

  /// - Parameter access: Says whose documents are probed after a failure.
  init(
    _ table: UserDocumentsTable, _ access: CatalogueAccess, _ problems: Problems, _ metrics: DaemonMetrics,
    _ options: DaemonOptions,
    _ environment: DaemonEnvironment
  ) {
    self.table = table
    self.problems = problems
    self.metrics = metrics
    maximumMisses = options.maximumMisses
    beforeCommit = environment.beforeCommit
    uptime = environment.uptime
    now = environment.time.now
    stores = { try access.stores() }
  }

  /// Opens the documents beside some stores.
  ///
  /// - Returns: `nil` where there is no directory for them.
  func open(_ stores: UserStores) async throws -> UserDocuments? {
    try await thread.run { [table] in try table.documents(of: stores, creates: false) }
  }

  /// Runs `body` in a commit, with others, for the documents beside some stores.
  ///
  /// - Parameter body: may be run more than once, each time for another transaction; what it throws is its caller's alone.
  /// - Returns: what `body` returns, when that is durable.
  func perform<Result: Sendable>(
    for stores: UserStores, _ body: @escaping @Sendable (DocumentTransaction, UserDocuments) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let call = Call(stores: stores, body: body, continuation: continuation)
      let begins = state.withLock { state in
        state.waiting.append(call)
        defer { state.isCommitting = true }
        return !state.isCommitting
      }
      if begins { thread.post { [self] in commitAll() } }
    }
  }

  /// Enters a miss in the journal some time, and waits for nothing.
  func note(_ miss: MissNote) {
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

  /// Returns when all that was noted is written, or could not be.
  func flush() async {
    _ = try? await thread.run { [self] in writeMisses() }
  }

  /// Writes something where writing failed, so that the problem ends when its cause does and not with the next scan.
  func probe() async {
    guard problems.has(.recordingFailing) || problems.has(.missJournalFailing), let stores = try? stores() else {
      return
    }
    let time = Double(now()) / 1e6
    let result: Void? = try? await perform(for: stores) { transaction, documents in
      try transaction.upsert(RecordingProbe(time: time), into: documents.probes)
    }
    guard result != nil else { return }
    problems.clear(.recordingFailing)
    problems.clear(.missJournalFailing)
  }

  // MARK: On the thread

  /// Commits until nobody waits.
  private func commitAll() {
    while true {
      let calls = state.withLock { state in
        let calls = Array(state.waiting.prefix(Self.maximumCalls))
        state.waiting.removeFirst(calls.count)
        if calls.isEmpty { state.isCommitting = false }
        return calls
      }
      if calls.isEmpty { return }
      commit(calls)
    }
  }

  /// One commit for each user among the callers: more than one only where somebody signed in this very moment.
  private func commit(_ calls: [any RecorderCall]) {
    var rest = calls
    while let stores = rest.first?.stores {
      let own = rest.filter { $0.stores === stores }
      rest.removeAll { $0.stores === stores }
      commit(own, for: stores)
    }
  }

  private func commit(_ calls: [any RecorderCall], for stores: UserStores) {
    let start = uptime()
    var documents: UserDocuments?
    do {
      documents = try table.documents(of: stores, creates: true)
      guard let documents else { throw RecordingError.userIsGone(stores.user) }
      try documents.declareQueue()
      try commit(calls, documents)
      metrics.recording.recordNanoseconds((uptime() - start).nanoseconds)
      problems.clear(.recordingFailing)
      try trim(documents)
    } catch {
      problems.note(.recordingFailing, "\(error)")
      // A file that was replaced or is damaged is looked at anew next time.
      if let documents { table.drop(documents) }
      for call in calls { call.end(error) }
    }
  }

  /// Commits what can be committed. Calls that were refused have ended when this throws; the others have not.
  private func commit(_ calls: [any RecorderCall], _ documents: UserDocuments) throws {
    var left = calls
    while !left.isEmpty {
      do {
        try documents.store.transaction { transaction in
          for (place, call) in left.enumerated() {
            do { try call.run(transaction, documents) } catch { throw Refusal(place: place, reason: error) }
          }
          try beforeCommit()
        }
        for call in left { call.end(nil) }
        return
      } catch let refusal as Refusal {
        // What it did before it threw goes with the transaction; the others are run again.
        left.remove(at: refusal.place).end(refusal.reason)
      } catch let error as StoreError where left.count > 1 && error.mayBeOfOne {
        for call in left {
          do { try commit([call], documents) } catch { call.end(error) }
        }
        return
      }
    }
  }

  /// Writes the misses that wait.
  private func writeMisses() {
    let (notes, lost) = state.withLock { state in
      defer {
        state.misses = []
        state.missesAreDue = false
        state.missesLost = 0
      }
      return (state.misses, state.missesLost)
    }
    if lost > 0 { metrics.missesLost.increment(by: lost) }
    var rest = notes
    while let stores = rest.first?.stores {
      let own = rest.filter { $0.stores === stores }
      rest.removeAll { $0.stores === stores }
      do {
        guard let documents = try table.documents(of: stores, creates: true) else { continue }
        try documents.store.transaction { transaction in
          for note in own { try documents.enter(note, transaction) }
          try beforeCommit()
        }
        problems.clear(.missJournalFailing)
        try trim(documents)
      } catch { problems.note(.missJournalFailing, "\(error)") }
    }
  }

  /// Keeps the journal within its bound; what it lacks the next commit makes up for.
  private func trim(_ documents: UserDocuments) throws {
    do { try documents.trimMisses(to: maximumMisses) } catch { problems.note(.missJournalFailing, "\(error)") }
  }
}

/// What is written to find out whether anything can be.
struct RecordingProbe: Codable, Sendable, Identifiable {
  var id = "last"
  /// Seconds since 1970.
  var time: Double
}

/// Why nothing was recorded, where it is no error of a store.
enum RecordingError: Error, CustomStringConvertible {
  case userIsGone(String?)

  var description: String {
    switch self {
    case .userIsGone(let user): "the stores of \(user ?? "nobody") were removed; sign in again"
    }
  }
}

/// What one call of a commit threw.
private struct Refusal: Error {
  let place: Int
  let reason: any Error
}

extension StoreError {
  /// Whether one change among several may be to blame.
  fileprivate var mayBeOfOne: Bool {
    switch self {
    case .tooLarge: true
    default: false
    }
  }
}

private protocol RecorderCall: AnyObject, Sendable {
  var stores: UserStores { get }
  func run(_ transaction: DocumentTransaction, _ documents: UserDocuments) throws
  /// Tells the caller. Calls after the first one change nothing.
  func end(_ failure: (any Error)?)
}

private final class Call<Result: Sendable>: RecorderCall {
  private struct State {
    var result: Result?
    var continuation: CheckedContinuation<Result, any Error>?
  }

  let stores: UserStores
  private let body: @Sendable (DocumentTransaction, UserDocuments) throws -> Result
  private let state: Mutex<State>

  init(
    stores: UserStores, body: @escaping @Sendable (DocumentTransaction, UserDocuments) throws -> Result,
    continuation: CheckedContinuation<Result, any Error>
  ) {
    self.stores = stores
    self.body = body
    state = Mutex(State(continuation: continuation))
  }

  func run(_ transaction: DocumentTransaction, _ documents: UserDocuments) throws {
    let result = try body(transaction, documents)
    state.withLock { $0.result = result }
  }

  func end(_ failure: (any Error)?) {
    let (result, continuation) = state.withLock { state in
      defer { state.continuation = nil }
      return (state.result, state.continuation)
    }
    guard let continuation else { return }
    if let failure { return continuation.resume(throwing: failure) }
    guard let result else { preconditionFailure("a commit runs every call of it") }
    continuation.resume(returning: result)
  }
}
