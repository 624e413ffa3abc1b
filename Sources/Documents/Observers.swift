import Synchronization

/// Who wants to know when a store, of documents or settings, may have a new commit, and the task that looks for those of other processes.
package final class Observers: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
    var poll: Task<Void, Never>?
    var isFinished = false
  }

  private let state = Mutex(State())
  private let interval: Duration

  /// - Parameter interval: The time between two looks at the store; at least a millisecond.
  package init(interval: Duration) { self.interval = max(.milliseconds(1), interval) }

  deinit { state.withLock { $0.poll?.cancel() } }

  /// Says at once, and whenever there may be something new, that it is time to look. Signals that nobody takes become one.
  package func signals() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number: Int? = state.withLock { state in
        if state.isFinished { return nil }
        state.next += 1
        state.continuations[state.next] = continuation
        if state.poll == nil { state.poll = poll() }
        return state.next
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
      continuation.yield()
    }
  }

  /// There is something new, by this process.
  package func notify() {
    let all = state.withLock { Array($0.continuations.values) }
    for continuation in all { continuation.yield() }
  }

  /// There will be nothing new any more: all streams end, and so do those that are asked for from now on.
  package func finish() {
    let all = state.withLock { state in
      let all = Array(state.continuations.values)
      state.isFinished = true
      state.continuations = [:]
      state.poll?.cancel()
      state.poll = nil
      return all
    }
    for continuation in all { continuation.finish() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.continuations[number] = nil
      if state.continuations.isEmpty {
        state.poll?.cancel()
        state.poll = nil
      }
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
