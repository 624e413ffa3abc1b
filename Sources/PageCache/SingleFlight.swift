import Synchronization

/// Fetches that are under way, so that whoever wants the same waits for the same.
final class SingleFlight: Sendable {
  /// What is fetched, and as what it is decoded: two types of items never share a fetch.
  struct Key: Hashable, Sendable {
    let list: ListID
    /// `nil` for a refresh.
    let page: Int?
    let item: ObjectIdentifier
  }

  /// Guards who can be joined; held for a look into the dictionary.
  private let flights = Mutex<[Key: any Waited]>([:])

  var isEmpty: Bool { flights.withLock { $0.isEmpty } }
  /// How many callers wait for anything.
  var waiterCount: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.waiterCount } } }

  /// The value of the operation under way for one of the keys, or else of `operation`, begun under the first key.
  ///
  /// It is nobody's child: who is cancelled leaves with a `CancellationError`, and the operation goes on for the others. It is
  /// cancelled when nobody waits any more.
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

/// One operation and who waits for it.
private final class Flight<Value: Sendable>: Waited {
  private struct State {
    var lastTicket = 0
    /// Who waits, or is about to.
    var tickets: Set<Int> = []
    var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    var result: Result<Value, any Error>?
    var task: Task<Void, Never>?
    var isAbandoned = false
  }

  private let state = Mutex(State())

  var waiterCount: Int { state.withLock { $0.tickets.count } }

  /// A place among those who wait; `nil` if there is nothing to wait for any more.
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

  /// Gives up a place. Returns whether that was the last one, and the operation is cancelled.
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
