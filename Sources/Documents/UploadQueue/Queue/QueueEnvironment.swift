import LogStore

/// The clock, random numbers and sleep of a queue and its workers. Tests replace them to avoid waiting.
package struct QueueEnvironment: Sendable {
  /// The current time in microseconds since 1970 UTC.
  package var now: @Sendable () -> Int64
  /// Returns 64 random bits.
  package var random: @Sendable () -> UInt64
  /// Waits for a duration. Throws `CancellationError` at once when the task is cancelled.
  package var sleep: @Sendable (Duration) async throws -> Void

  /// Creates an environment from its three parts. Tests pass a clock that they advance themselves.
  package init(
    now: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.random = random
    self.sleep = sleep
  }

  /// The system's clock and random numbers.
  package static let live = QueueEnvironment(
    now: StoreEnvironment.system.now, random: StoreEnvironment.system.random, sleep: { try await Task.sleep(for: $0) })

  /// A random number from 0 to 1.
  package func fraction() -> Double { Double(random() >> 11) / Double((1 << 53) - 1) }
}
