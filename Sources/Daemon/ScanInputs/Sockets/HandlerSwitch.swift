import Synchronization

/// A handler that forwards readings to another handler that can be replaced. Readings wait while none is connected.
///
/// A newly connected handler receives the current state of each input, because it missed earlier events.
final class HandlerSwitch: ReadingHandler {
  private struct Calls {
    /// The connected handler; `nil` while readings wait.
    var handler: (any ReadingHandler)?
    var last: (any ReadingHandler)?
    /// The number of readings that are being answered.
    var runningCount = 0
    /// The waiting readings: one for each input, or for each connection of an input.
    var waiting: [CheckedContinuation<any ReadingHandler, Never>] = []
    /// The caller of ``disconnect()`` that waits until all readings are answered.
    var leaving: CheckedContinuation<Void, Never>?
  }

  private struct Events {
    var handler: (any ReadingHandler)?
    var isConnected = false
    /// The last state event of each input.
    var states: [String: InputEvent] = [:]
    /// The last event about the connections of each input.
    var connections: [String: InputEvent] = [:]
  }

  private let calls = Mutex(Calls())
  /// Held during calls of the handler, so that it receives all events in order.
  private let events = Mutex(Events())

  /// Whether a handler is connected.
  var isConnected: Bool { calls.withLock { $0.handler != nil } }

  // MARK: Handlers

  /// Connects a handler, and sends it the states of the inputs with these names. Other states are discarded.
  func connect(_ handler: any ReadingHandler, continuing names: Set<String>) {
    events.withLock { events in
      events.handler = handler
      events.isConnected = true
      events.states = events.states.filter { names.contains($0.key) }
      events.connections = events.connections.filter { names.contains($0.key) }
      for (name, event) in events.states.sorted(by: { $0.key < $1.key }) {
        handler.note(event, input: name)
        if let connections = events.connections[name] { handler.note(connections, input: name) }
      }
    }
    resume(handler)
  }

  /// Disconnects the handler, so that new readings wait. Returns when all earlier readings are answered.
  func disconnect() async {
    events.withLock { $0.isConnected = false }
    await withCheckedContinuation { continuation in
      let isIdle = calls.withLock { calls in
        calls.handler = nil
        if calls.runningCount > 0 { calls.leaving = continuation }
        return calls.runningCount == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Lets the last handler answer the waiting readings, because no other handler will be connected.
  func release() {
    if let last = calls.withLock({ $0.last }) { resume(last) }
  }

  private func resume(_ handler: any ReadingHandler) {
    let waiting = calls.withLock { calls in
      (calls.handler, calls.last) = (handler, handler)
      calls.runningCount += calls.waiting.count
      defer { calls.waiting = [] }
      return calls.waiting
    }
    for continuation in waiting { continuation.resume(returning: handler) }
  }

  // MARK: Inputs

  func answer(_ reading: Reading) async -> ReadingAnswer { await call { await $0.answer(reading) } }

  func answer(_ readings: [Reading]) async -> [ReadingAnswer] { await call { await $0.answer(readings) } }

  /// Calls `body` with the handler, after waiting for one if necessary.
  private func call<Answer>(_ body: (any ReadingHandler) async -> Answer) async -> Answer {
    let handler = await withCheckedContinuation { continuation in
      let handler = calls.withLock { calls in
        if calls.handler == nil { calls.waiting.append(continuation) } else { calls.runningCount += 1 }
        return calls.handler
      }
      if let handler { continuation.resume(returning: handler) }
    }
    let answer = await body(handler)
    let leaving = calls.withLock { calls -> CheckedContinuation<Void, Never>? in
      calls.runningCount -= 1
      guard calls.runningCount == 0 else { return nil }
      defer { calls.leaving = nil }
      return calls.leaving
    }
    leaving?.resume()
    return answer
  }

  func note(_ event: InputEvent, input: String) {
    events.withLock { events in
      switch event {
      case .opened, .closed:
        events.states[input] = event
        if events.isConnected { events.handler?.note(event, input: input) }
      case .connections:
        events.connections[input] = event
        if events.isConnected { events.handler?.note(event, input: input) }
      // These are not sent to the next handler.
      case .fault, .refused: events.handler?.note(event, input: input)
      }
    }
  }
}
