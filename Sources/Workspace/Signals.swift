import Synchronization

/// Tells those who listen that it is time to look, and looks itself now and then for what other processes did.
final class Signals: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastNumber = 0
    var poll: Task<Void, Never>?
    var isFinished = false
  }

  private let state = Mutex(State())
  private let interval: Duration

  /// - Parameter interval: milliseconds between two signals while nobody gives one.
  init(interval: Int) { self.interval = .milliseconds(max(1, interval)) }

  deinit { state.withLock { $0.poll?.cancel() } }

  /// A signal at once, one for each ``notify()``, and one at each interval; those that nobody takes become one.
  func stream() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number: Int? = state.withLock { state in
        if state.isFinished { return nil }
        state.lastNumber += 1
        state.listeners[state.lastNumber] = continuation
        if state.poll == nil { state.poll = poll() }
        return state.lastNumber
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
      continuation.yield()
    }
  }

  /// Somebody of this process did something.
  func notify() {
    let all = state.withLock { Array($0.listeners.values) }
    for listener in all { listener.yield() }
  }

  /// Ends all streams, and those to come.
  func finish() {
    let all = state.withLock { state in
      let all = Array(state.listeners.values)
      state.isFinished = true
      state.listeners = [:]
      state.poll?.cancel()
      state.poll = nil
      return all
    }
    for listener in all { listener.finish() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return }
      state.poll?.cancel()
      state.poll = nil
    }
  }

  private func poll() -> Task<Void, Never> {
    Task { [weak self, interval] in
      while (try? await Task.sleep(for: interval)) != nil {
        guard let self else { return }
        notify()
      }
    }
  }
}
