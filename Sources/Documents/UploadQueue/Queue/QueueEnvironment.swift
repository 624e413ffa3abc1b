import LogStore

/// The clock, random numbers and sleep of a queue and its workers. Tests replace them to avoid waiting.
public struct QueueEnvironment: Sendable {
  /// The current time in microseconds since 1970 UTC.
  public var now: @Sendable () -> Int64
  /// Returns 64 random bits.
  public var random: @Sendable () -> UInt64
  /// Waits for a duration. Throws `CancellationError` at once when the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void

  /// Creates an environment from its three parts. Tests pass a clock that they advance themselves.
  public init(
    now: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.random = random
    self.sleep = sleep
  }

  /// The system's clock and random numbers.
  public static let live = QueueEnvironment(
    now: StoreEnvironment.system.now, random: StoreEnvironment.system.random, sleep: { try await Task.sleep(for: $0) })

  /// A random number from 0 to 1.
  package func fraction() -> Double { Double(random() >> 11) / Double((1 << 53) - 1) }
}
