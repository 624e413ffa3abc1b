import LogStore
import RandomTestSupport
import Synchronization

/// A clock and random numbers that are the same in every run.
package final class FixedEnvironment: Sendable {
  private let clock: Atomic<Int64>
  private let random: Mutex<SeededGenerator>
  /// Milliseconds that somebody waited.
  package let waited = Atomic(0)

  package init(start: Int64 = 1_700_000_000_000_000, seed: UInt64 = 1) {
    clock = Atomic(start)
    random = Mutex(SeededGenerator(seed: seed))
  }

  /// An environment in which each look at the clock finds it a second later.
  ///
  /// - Parameter flushLimit: The limit from which on a segment is written in parts; what is sorted goes to temporary
  ///   files at a few times as much. `nil` for the usual limits.
  package func environment(
    flushLimit: Int? = nil, pause: @escaping @Sendable (Duration) -> Void = { _ in }
  ) -> StoreEnvironment {
    var environment = StoreEnvironment(
      now: { self.clock.add(1_000_000, ordering: .relaxed).newValue },
      random: { self.random.withLock { $0.next() } },
      pause: { duration in
        self.waited.add(Int(duration / .milliseconds(1)), ordering: .relaxed)
        pause(duration)
      })
    if let flushLimit {
      environment.flushLimit = flushLimit
      environment.sortMemory = 16 * flushLimit
    }
    return environment
  }
}
