import Dispatch
import Documents
import LogStore
import Synchronization

/// A group commit: combines the changes of many callers into one commit.
///
/// If no commit is running, the first caller starts one. Callers that arrive while a commit runs wait for the next one,
/// which includes all of them. So one caller pays for one sync, and a thousand callers pay for a few. Commits run on a
/// separate thread, so a sync blocks only the tasks that wait for it.
///
/// Calls without an urgent caller, for example a worker's updates, may wait: while other calls keep arriving, such a
/// call waits up to ``timeout`` for the next one, so that the other call need not wait for a separate commit.
///
/// Invariants: at most one commit runs at a time; calls are in commits in the order in which they came; each call ends
/// once, after the commit that has its changes is durable or has failed.
final class GroupCommit: Sendable {
  /// Limits of one commit: the number of calls, and the bytes of their payloads. They bound the time that a caller
  /// waits.
  static let maximumCalls = 1024
  static let maximumByteCount = 4 << 20
  /// How long a call that may wait does so.
  static let timeout = Duration.microseconds(500)
  /// How long after an urgent call another one is expected.
  static let expectation = Duration.milliseconds(20)

  private struct State {
    var waiting: [any GroupedCall] = []
    /// Whether an urgent call waits, or another one has waited for as long as it may.
    var isDue = false
    var isCommitting = false
    /// Whether the timer of the calls that may wait is running.
    var isTimed = false
    /// When the last urgent call arrived.
    var lastUrgent: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let thread = DispatchQueue(label: "shelfmark.upload-queue")
  private let tables: QueueTables
  private let options: QueueOptions
  private let environment: QueueEnvironment

  init(_ tables: QueueTables, _ options: QueueOptions, _ environment: QueueEnvironment) {
    self.tables = tables
    self.options = options
    self.environment = environment
  }

  /// Runs `body` in a commit, which other calls may share.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the payloads that it adds.
  ///   - mayWait: Whether it may wait a little for other calls.
  /// - Returns: The result of `body`, once it is durable.
  /// - Throws: Any error that `body` throws; its changes are then not in the commit. Any error of the commit.
  func perform<Result: Sendable>(
    byteCount: Int = 0, mayWait: Bool = false, _ body: @escaping @Sendable (QueueChange) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      submit([GroupedRequest(byteCount: byteCount, body: body) { continuation.resume(with: $0) }], mayWait: mayWait)
    }
  }

  /// Runs each of `bodies` in a commit, in this order, which other calls may share. If one throws, its changes are
  /// rolled back.
  ///
  /// - Parameter bodies: Closures that change any documents of the store. They may run more than once, each time in
  ///   another transaction.
  /// - Returns: The result of each body, once all are durable or have failed.
  func commit<Value: Sendable>(
    _ bodies: [@Sendable (DocumentTransaction) throws -> Value]
  ) async -> [Result<Value, any Error>] {
    if bodies.isEmpty { return [] }
    return await withCheckedContinuation { continuation in
      let all = Results<Value>()
      submit(
        bodies.indices.map { index in
          GroupedRequest(byteCount: 0) { change in
            try change.attempt { try bodies[index](change.transaction) }
          } completion: { result in
            if let results = all.add(result, at: index, of: bodies.count) { continuation.resume(returning: results) }
          }
        })
    }
  }

  /// Adds calls to the next commit, and starts a commit if none is running.
  private func submit(_ calls: [any GroupedCall], mayWait: Bool = false) {
    let now = ContinuousClock.now
    let (begins, isTimed) = state.withLock { state in
      state.waiting += calls
      if !mayWait { state.lastUrgent = now }
      if mayWait, let last = state.lastUrgent, now - last < Self.expectation {
        defer { state.isTimed = true }
        return (false, !state.isTimed)
      }
      state.isDue = true
      defer { state.isCommitting = true }
      return (!state.isCommitting, false)
    }
    if begins { thread.async { [self] in commitAll() } }
    if isTimed {
      thread.asyncAfter(deadline: .now() + .microseconds(Int(Self.timeout / .microseconds(1)))) { [self] in
        state.withLock { state in
          state.isTimed = false
          state.isDue = true
          state.isCommitting = true
        }
        commitAll()
      }
    }
  }

  /// The number of calls that wait for the next commit.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Commits until no calls wait, or only calls that may wait longer.
  private func commitAll() {
    while true {
      let calls = state.withLock { state -> [any GroupedCall] in
        guard state.isDue else {
          state.isCommitting = false
          return []
        }
        var bytes = 0
        let count = state.waiting.prefix(Self.maximumCalls).prefix { call in
          defer { bytes += call.byteCount }
          return bytes < Self.maximumByteCount
        }.count
        let calls = Array(state.waiting.prefix(count))
        state.waiting.removeFirst(count)
        state.isDue = !state.waiting.isEmpty
        if calls.isEmpty { state.isCommitting = false }
        return calls
      }
      if calls.isEmpty { return }
      commit(calls)
    }
  }

  private func commit(_ calls: [any GroupedCall]) {
    let start = ContinuousClock.now
    var events: [QueueEvent] = []
    do {
      events = try tables.store.transaction { transaction in
        let change = try QueueChange(tables, transaction, options, environment)
        // An upload that a call enqueues through the transaction becomes a part of this change.
        transaction.attachment = change
        for call in calls { call.run(change) }
        transaction.attachment = nil
        try change.finish()
        return change.events
      }
    } catch let error as StoreError where calls.count > 1 && error.mayBeDueToOne {
      for call in calls { commit([call]) }
      return
    } catch {
      for call in calls { call.end(error) }
      return
    }
    if let trace = options.trace {
      for event in events { trace(event) }
      trace(.committed(calls: calls.count, duration: ContinuousClock.now - start))
    }
    for call in calls { call.end(nil) }
  }
}

extension StoreError {
  /// Whether one change among several may be the cause.
  fileprivate var mayBeDueToOne: Bool {
    switch self {
    case .tooLarge, .damaged: true
    default: false
    }
  }
}

/// A caller that waits for a commit.
private protocol GroupedCall: Sendable {
  var byteCount: Int { get }
  /// Runs the caller's closure inside the transaction.
  func run(_ change: QueueChange)
  /// Resumes the caller when the commit is durable, or with its error.
  func end(_ failure: (any Error)?)
}

private final class GroupedRequest<Value: Sendable>: GroupedCall {
  let byteCount: Int
  private let body: @Sendable (QueueChange) throws -> Value
  private let completion: @Sendable (Result<Value, any Error>) -> Void
  /// The result of `body`.
  private let result = Mutex<Result<Value, any Error>?>(nil)

  init(
    byteCount: Int, body: @escaping @Sendable (QueueChange) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    self.byteCount = byteCount
    self.body = body
    self.completion = completion
  }

  func run(_ change: QueueChange) {
    let new = Result { try body(change) }
    result.withLock { $0 = new }
  }

  func end(_ failure: (any Error)?) {
    switch (result.withLock { $0 }, failure) {
    case (.failure(let own), _): completion(.failure(own))
    case (_, let failure?): completion(.failure(failure))
    case (let result?, nil): completion(result)
    case (nil, nil): preconditionFailure("a commit runs every call of it")
    }
  }
}

/// Collects the results of calls that one caller waits for together.
private final class Results<Value: Sendable>: Sendable {
  private let results = Mutex<[Int: Result<Value, any Error>]>([:])

  /// - Returns: All results in order if this was the last one; otherwise `nil`.
  func add(_ result: Result<Value, any Error>, at index: Int, of count: Int) -> [Result<Value, any Error>]? {
    results.withLock { results in
      results[index] = result
      return results.count == count ? (0..<count).compactMap { results[$0] } : nil
    }
  }
}
