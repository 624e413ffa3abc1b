import RandomTestSupport
import Synchronization

/// A clock that a test moves, and random numbers that are the same in every run.
///
/// On a clock that moves, sleeping takes no time and sets the clock forward; on any other one a sleeper waits for
/// ``advance(by:)``.
package final class TestClock: Sendable {
  private struct State {
    var now: Int64
    var sleepers: [Int: (until: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var next = 0
    var cancelled: Set<Int> = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var random: SeededGenerator
    /// What was slept.
    var pauses: [Duration] = []
  }

  private let state: Mutex<State>
  private let moves: Bool

  /// - Parameters:
  ///   - start: What the clock says first, in microseconds since 1970.
  ///   - moves: Whether sleeping sets the clock forward.
  ///   - seed: The seed of the random numbers.
  package init(start: Int64 = 1_700_000_000_000_000, moves: Bool, seed: UInt64 = 1) {
    state = Mutex(State(now: start, random: SeededGenerator(seed: seed)))
    self.moves = moves
  }

  /// In microseconds since 1970.
  package var now: Int64 { state.withLock { $0.now } }
  /// What was slept.
  package var pauses: [Duration] { state.withLock { $0.pauses } }

  /// How many tasks sleep.
  package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The next random number.
  package func random() -> UInt64 { state.withLock { $0.random.next() } }

  package func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += Int64(duration / .microseconds(1))
      let due = state.sleepers.filter { $0.value.until <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Returns when so many tasks sleep.
  package func untilSleeping(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isSo = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isSo { continuation.resume() }
    }
  }

  /// Sleeps as the clock says.
  package func sleep(_ duration: Duration) async throws {
    try Task.checkCancellation()
    if moves {
      state.withLock { state in
        state.pauses.append(duration)
        state.now += max(0, Int64(duration / .microseconds(1)))
      }
      await Task.yield()
      return
    }
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isCancelled, watchers) = state.withLock { state in
          if state.cancelled.remove(number) != nil { return (true, [CheckedContinuation<Void, Never>]()) }
          state.pauses.append(duration)
          state.sleepers[number] = (state.now + Int64(duration / .microseconds(1)), continuation)
          let watchers = state.watchers.filter { $0.count <= state.sleepers.count }
          state.watchers.removeAll { $0.count <= state.sleepers.count }
          return (false, watchers.map(\.continuation))
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper.continuation }
        state.cancelled.insert(number)
        return nil
      }
      sleeper?.resume(throwing: CancellationError())
    }
  }
}
