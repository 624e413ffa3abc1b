import Dispatch
import Documents
import LogStore
import Synchronization

/// Joins the changes of many callers into one commit.
///
/// The first caller finds nobody committing and begins; who comes while a commit runs waits for the next one, which takes
/// all of them. So one caller pays one sync, and a thousand pay a few. Commits run on a thread of their own: a sync blocks
/// no task but those that wait for it.
final class GroupCommit: Sendable {
  /// Calls of one commit, and bytes of their payloads: what a caller waits for at most.
  static let maximumCalls = 1024
  static let maximumByteCount = 4 << 20

  private struct State {
    var waiting: [any GroupedCall] = []
    var isCommitting = false
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
  /// - Parameter byteCount: of what it adds.
  /// - Returns: what `body` returned, when that is durable.
  /// - Throws: what `body` throws, and then nothing of it is in the commit; what the commit throws.
  func perform<Result: Sendable>(
    byteCount: Int = 0, _ body: @escaping @Sendable (QueueChange) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let call = Call(byteCount: byteCount, body: body, continuation: continuation)
      let begins = state.withLock { state in
        state.waiting.append(call)
        defer { state.isCommitting = true }
        return !state.isCommitting
      }
      if begins { thread.async { [self] in commitAll() } }
    }
  }

  /// Runs `body` in a commit, with others. What it changed before it throws is taken back.
  ///
  /// - Parameter body: Changes any documents of the store. It may be run more than once, each time in another transaction.
  func commit<Result: Sendable>(
    _ body: @escaping @Sendable (DocumentTransaction) throws -> Result
  ) async throws -> Result {
    try await perform { change in try change.attempt { try body(change.transaction) } }
  }

  /// Callers that wait for the next commit.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Commits until nobody waits.
  private func commitAll() {
    while true {
      let calls = state.withLock { state -> [any GroupedCall] in
        var bytes = 0
        let count = state.waiting.prefix(Self.maximumCalls).prefix { call in
          defer { bytes += call.byteCount }
          return bytes < Self.maximumByteCount
        }.count
        let calls = Array(state.waiting.prefix(count))
        state.waiting.removeFirst(count)
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
    case .tooLarge: true
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
  private let continuation: CheckedContinuation<Value, any Error>
  /// What `body` came to.
  private let result = Mutex<Result<Value, any Error>?>(nil)

  init(
    byteCount: Int, body: @escaping @Sendable (QueueChange) throws -> Value,
    continuation: CheckedContinuation<Value, any Error>
  ) {
    self.byteCount = byteCount
    self.body = body
    self.continuation = continuation
  }

  func run(_ change: QueueChange) {
    do {
      let value = try body(change)
      result.withLock { $0 = .success(value) }
    } catch { result.withLock { $0 = .failure(error) } }
  }

  func end(_ failure: (any Error)?) {
    let result = result.withLock { $0 }
    switch (result, failure) {
    case (.failure(let own), _): continuation.resume(throwing: own)
    case (_, let failure?): continuation.resume(throwing: failure)
    case (.success(let value), nil): continuation.resume(returning: value)
    case (nil, nil): preconditionFailure("a commit runs every call of it")
    }
  }
}
