import Synchronization

/// The observers of a store, and tasks that poll for commits of other processes.
///
/// One task polls for all observers that have the same poll interval. It ends with the last of them.
package final class Observers: Sendable {
  private struct Observer {
    let continuation: AsyncStream<Void>.Continuation
    let interval: Duration
  }

  private struct State {
    var observers: [Int: Observer] = [:]
    var next = 0
    /// The polling task for each poll interval that an observer has.
    var polls: [Duration: Task<Void, Never>] = [:]
    var isFinished = false
  }

  /// The poll intervals that are possible. A shorter or longer one is replaced by the nearer bound.
  private static let intervals = Duration.milliseconds(1)...Duration.seconds(86_400)

  private let state = Mutex(State())
  private let interval: Duration

  /// Creates a set of observers.
  ///
  /// - Parameter interval: The poll interval of observers that do not give one: from a millisecond to a day.
  package init(interval: Duration) { self.interval = interval }

  deinit { state.withLock { state in for poll in state.polls.values { poll.cancel() } } }

  /// Returns a stream that yields at once, and whenever there may be a new commit. Signals that are not consumed are
  /// merged.
  ///
  /// - Parameter interval: The poll interval, from a millisecond to a day; `nil` for that of this object.
  package func signals(every interval: Duration? = nil) -> AsyncStream<Void> {
    let wanted = interval ?? self.interval
    let interval = min(max(wanted, Self.intervals.lowerBound), Self.intervals.upperBound)
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number: Int? = state.withLock { state in
        if state.isFinished { return nil }
        state.next += 1
        state.observers[state.next] = Observer(continuation: continuation, interval: interval)
        if state.polls[interval] == nil { state.polls[interval] = poll(every: interval) }
        return state.next
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
      continuation.yield()
    }
  }

  /// Signals a commit by this process to all observers.
  package func notify() { notify { _ in true } }

  private func notify(where isMeant: (Observer) -> Bool) {
    let observers = state.withLock { $0.observers.values.filter(isMeant) }
    for observer in observers { observer.continuation.yield() }
  }

  /// Ends all streams, including those that are created later.
  package func finish() {
    let all = state.withLock { state in
      let all = Array(state.observers.values)
      for poll in state.polls.values { poll.cancel() }
      state = State(next: state.next, isFinished: true)
      return all
    }
    for observer in all { observer.continuation.finish() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      guard let interval = state.observers.removeValue(forKey: number)?.interval,
        !state.observers.values.contains(where: { $0.interval == interval })
      else { return }
      state.polls.removeValue(forKey: interval)?.cancel()
    }
  }

  private func poll(every interval: Duration) -> Task<Void, Never> {
    Task { [weak self] in
      while (try? await Task.sleep(for: interval)) != nil {
        guard let self else { return }
        notify { $0.interval == interval }
      }
    }
  }
}
