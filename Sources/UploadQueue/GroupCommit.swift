import Dispatch
import Documents
import LogStore
import Synchronization

/// Joins the changes of many callers into one commit.
///
/// The first caller finds nobody committing and begins; who comes while a commit runs waits for the next one, which takes
/// all of them. So one caller pays one sync, and a thousand pay a few. Commits run on a thread of their own: a sync blocks
/// no task but those that wait for it.
///
/// What nobody waits for, such as what a worker notes of its uploads, is patient: while other calls come all the time, it waits
/// for the next one for up to ``patience``, so that this one does not wait for a commit of its own.
final class GroupCommit: Sendable {
  /// Calls of one commit, and bytes of their payloads: what a caller waits for at most.
  static let maximumCalls = 1024
  static let maximumByteCount = 4 << 20
  /// How long a patient call waits for others.
  static let patience = Duration.microseconds(500)
  /// How long after a call that was not patient another one is expected.
  static let expectation = Duration.milliseconds(20)

  private struct State {
    var waiting: [any GroupedCall] = []
    /// Whether somebody waits who is not patient, or patience is over.
    var isDue = false
    var isCommitting = false
    /// Whether patience ends at a time that is set.
    var isTimed = false
    /// When the last call came that was not patient.
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

  /// Runs `body` in a commit, with others.
  ///
  /// - Parameters:
  ///   - byteCount: of what it adds.
  ///   - isPatient: Whether it may wait a little for others.
  /// - Returns: what `body` returned, when that is durable.
  /// - Throws: what `body` throws, and then nothing of it is in the commit; what the commit throws.
  func perform<Result: Sendable>(
    byteCount: Int = 0, isPatient: Bool = false, _ body: @escaping @Sendable (QueueChange) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      submit([Call(byteCount: byteCount, body: body) { continuation.resume(with: $0) }], isPatient: isPatient)
    }
  }

  /// Runs each of `bodies` in a commit, in this order, with others. What one changed before it throws is taken back.
  ///
  /// - Parameter bodies: Change any documents of the store. They may be run more than once, each time in another transaction.
  /// - Returns: What became of each, when all are durable or have failed.
  func commit<Value: Sendable>(
    _ bodies: [@Sendable (DocumentTransaction) throws -> Value]
  ) async -> [Result<Value, any Error>] {
    if bodies.isEmpty { return [] }
    return await withCheckedContinuation { continuation in
      let all = Results<Value>()
      submit(
        bodies.indices.map { index in
          Call(byteCount: 0) { change in
            try change.attempt { try bodies[index](change.transaction) }
          } completion: { result in
            if let results = all.add(result, at: index, of: bodies.count) { continuation.resume(returning: results) }
          }
        })
    }
  }

  /// Has calls wait for the next commit, and begins it if none is running.
  private func submit(_ calls: [any GroupedCall], isPatient: Bool = false) {
    let now = ContinuousClock.now
    let (begins, isTimed) = state.withLock { state in
      state.waiting += calls
      if !isPatient { state.lastUrgent = now }
      if isPatient, let last = state.lastUrgent, now - last < Self.expectation {
        defer { state.isTimed = true }
        return (false, !state.isTimed)
      }
      state.isDue = true
      defer { state.isCommitting = true }
      return (!state.isCommitting, false)
    }
    if begins { thread.async { [self] in commitAll() } }
    if isTimed {
      thread.asyncAfter(deadline: .now() + .microseconds(Int(Self.patience / .microseconds(1)))) { [self] in
        state.withLock { state in
          state.isTimed = false
          state.isDue = true
          state.isCommitting = true
        }
        commitAll()
      }
    }
  }

  /// Callers that wait for the next commit.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Commits until nobody waits, or only patient calls do.
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
        // What a call enqueues by way of the transaction becomes a part of this change.
        transaction.attachment = change
        for call in calls { call.run(change) }
        transaction.attachment = nil
        try change.finish()
        return change.events
      }
    } catch let error as StoreError where calls.count > 1 && error.mayBeOfOne {
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
  /// Whether one change among several may be to blame.
  fileprivate var mayBeOfOne: Bool {
    switch self {
    case .tooLarge, .damaged: true
    default: false
    }
  }
}

/// A caller that waits for a commit.
private protocol GroupedCall: Sendable {
  var byteCount: Int { get }
  /// Does what the caller wants, inside the transaction.
  func run(_ change: QueueChange)
  /// Tells the caller that the commit is durable, or why there is none.
  func end(_ failure: (any Error)?)
}

private final class Call<Value: Sendable>: GroupedCall {
  let byteCount: Int
  private let body: @Sendable (QueueChange) throws -> Value
  private let completion: @Sendable (Result<Value, any Error>) -> Void
  /// What `body` came to.
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

/// The results of calls that somebody waits for together.
private final class Results<Value: Sendable>: Sendable {
  private let results = Mutex<[Int: Result<Value, any Error>]>([:])

  /// - Returns: All of them in order, when this was the last one.
  func add(_ result: Result<Value, any Error>, at index: Int, of count: Int) -> [Result<Value, any Error>]? {
    results.withLock { results in
      results[index] = result
      return results.count == count ? (0..<count).compactMap { results[$0] } : nil
    }
  }
}
