import Synchronization

/// The observers of a store, and a task that polls for commits of other processes.
package final class Observers: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
    var poll: Task<Void, Never>?
    var isFinished = false
  }

  private let state = Mutex(State())
  private let interval: Duration

  /// Creates a set of observers.
  ///
  /// - Parameter interval: The poll interval.
  package init(interval: Duration) { self.interval = max(.milliseconds(1), interval) }

  deinit { state.withLock { $0.poll?.cancel() } }

  /// A stream that yields at once, and whenever there may be a new commit. Signals that are not consumed are merged.
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

  /// Signals a commit by this process.
  package func notify() {
    let all = state.withLock { Array($0.continuations.values) }
    for continuation in all { continuation.yield() }
  }

  /// Ends all streams, including those that are created later.
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
