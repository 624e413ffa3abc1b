import Synchronization

/// Hands the readings of inputs to the handler that is connected, and has them wait while none is.
///
/// A handler that is connected is told how each input is: what was told to the one before it did not hear.
final class HandlerSwitch: ReadingHandler {
  private struct Calls {
    /// Who answers; `nil` while readings wait.
    var handler: (any ReadingHandler)?
    var last: (any ReadingHandler)?
    /// Readings that are being answered.
    var runningCount = 0
    /// Readings that wait: one for each input, or connection of an input.
    var waiting: [CheckedContinuation<any ReadingHandler, Never>] = []
    /// Who waits until none is being answered.
    var leaving: CheckedContinuation<Void, Never>?
  }

  private struct Notes {
    var handler: (any ReadingHandler)?
    var isConnected = false
    /// What was told last of each input, if that says how it is.
    var states: [String: InputEvent] = [:]
    /// What was told last of the connections of each input.
    var connections: [String: InputEvent] = [:]
  }

  private let calls = Mutex(Calls())
  /// Held while a handler is told, so that it hears everything in order.
  private let notes = Mutex(Notes())

  /// Whether somebody answers.
  var isConnected: Bool { calls.withLock { $0.handler != nil } }

  // MARK: Handlers

  /// Has `handler` answer from now on, and tells it how the inputs with these names are. Others are forgotten.
  func connect(_ handler: any ReadingHandler, continuing names: Set<String>) {
    notes.withLock { notes in
      notes.handler = handler
      notes.isConnected = true
      notes.states = notes.states.filter { names.contains($0.key) }
      notes.connections = notes.connections.filter { names.contains($0.key) }
      for (name, event) in notes.states.sorted(by: { $0.key < $1.key }) {
        handler.note(event, input: name)
        if let connections = notes.connections[name] { handler.note(connections, input: name) }
      }
    }
    resume(handler)
  }

  /// Has readings wait. Returns when those that had come are answered.
  func disconnect() async {
    notes.withLock { $0.isConnected = false }
    await withCheckedContinuation { continuation in
      let isIdle = calls.withLock { calls in
        calls.handler = nil
        if calls.runningCount > 0 { calls.leaving = continuation }
        return calls.runningCount == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Has readings that wait answered by who was connected last: nobody else will come.
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

  /// Runs `body` with the handler, and waits for one where there is none.
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
    notes.withLock { notes in
      switch event {
      case .opened, .closed:
        notes.states[input] = event
        if notes.isConnected { notes.handler?.note(event, input: input) }
      case .connections:
        notes.connections[input] = event
        if notes.isConnected { notes.handler?.note(event, input: input) }
      // The next handler is not told of it.
      case .fault, .refused: notes.handler?.note(event, input: input)
      }
    }
  }
}
