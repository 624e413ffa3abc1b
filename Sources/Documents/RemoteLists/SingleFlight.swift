import Synchronization

/// A single-flight group: concurrent callers with the same key share one running operation.
final class SingleFlight: Sendable {
  /// The identity of a fetch: its list and page, and the item type, because results of different types cannot be
  /// shared.
  struct Key: Hashable, Sendable {
    let list: ListID
    /// The page number; `nil` for a refresh.
    let page: Int?
    let item: ObjectIdentifier
  }

  /// Guards the running operations. Held for a dictionary lookup.
  private let flights = Mutex<[Key: any Waited]>([:])

  var isEmpty: Bool { flights.withLock { $0.isEmpty } }
  /// The number of callers that wait for any operation.
  var waiterCount: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.waiterCount } } }

  /// Joins the operation that is running for one of the keys, or starts `operation` under the first key, and returns
  /// its value.
  ///
  /// The operation is not a child of any caller's task. A cancelled caller throws `CancellationError`, and the
  /// operation continues for the others. It is cancelled when no callers wait for it.
  func run<Value: Sendable>(_ keys: [Key], _ operation: @escaping @Sendable () async throws -> Value) async throws
    -> Value
  {
    let (flight, key, ticket, isNew) = flights.withLock { flights in
      for key in keys {
        if let flight = flights[key] as? Flight<Value>, let ticket = flight.join() {
          return (flight, key, ticket, false)
        }
      }
      let flight = Flight<Value>()
      flights[keys[0]] = flight
      return (flight, keys[0], flight.join() ?? 0, true)
    }
    if isNew {
      flight.start {
        let result: Result<Value, any Error>
        do { result = .success(try await operation()) } catch { result = .failure(error) }
        self.remove(flight, key)
        return result
      }
    }
    return try await withTaskCancellationHandler {
      try await flight.value(ticket)
    } onCancel: {
      if flight.leave(ticket) { remove(flight, key) }
    }
  }

  private func remove(_ flight: AnyObject, _ key: Key) {
    flights.withLock { if $0[key] === flight { $0[key] = nil } }
  }
}

private protocol Waited: AnyObject, Sendable {
  var waiterCount: Int { get }
}

/// One operation and its waiting callers.
private final class Flight<Value: Sendable>: Waited {
  private struct State {
    var lastTicket = 0
    /// The tickets of callers that wait, or are about to wait.
    var tickets: Set<Int> = []
    var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    var result: Result<Value, any Error>?
    var task: Task<Void, Never>?
    var isAbandoned = false
  }

  private let state = Mutex(State())

  var waiterCount: Int { state.withLock { $0.tickets.count } }

  /// Adds a waiting caller and returns its ticket; `nil` if the operation has already ended.
  func join() -> Int? {
    state.withLock { state in
      if state.result != nil || state.isAbandoned { return nil }
      state.lastTicket += 1
      state.tickets.insert(state.lastTicket)
      return state.lastTicket
    }
  }

  func start(_ operation: @escaping @Sendable () async -> Result<Value, any Error>) {
    let task = Task { finish(await operation()) }
    let isAbandoned = state.withLock { state in
      state.task = task
      return state.isAbandoned
    }
    if isAbandoned { task.cancel() }
  }

  private func finish(_ result: Result<Value, any Error>) {
    let waiting = state.withLock { state in
      state.result = result
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume(with: result) }
  }

  func value(_ ticket: Int) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let result: Result<Value, any Error>? = state.withLock { state in
        guard state.tickets.contains(ticket) else { return .failure(CancellationError()) }
        if state.result == nil { state.waiting[ticket] = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Removes a waiting caller. Returns whether it was the last one, in which case the operation is cancelled.
  func leave(_ ticket: Int) -> Bool {
    let (continuation, abandoned) = state.withLock { state in
      guard state.result == nil, state.tickets.remove(ticket) != nil else {
        return (nil as CheckedContinuation<Value, any Error>?, nil as Task<Void, Never>??)
      }
      state.isAbandoned = state.tickets.isEmpty
      return (state.waiting.removeValue(forKey: ticket), state.isAbandoned ? .some(state.task) : nil)
    }
    continuation?.resume(throwing: CancellationError())
    abandoned??.cancel()
    return abandoned != nil
  }
}
