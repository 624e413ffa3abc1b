import LogStore

/// Clock, chance and sleep of a queue and its workers: what a test replaces so that it waits for nothing.
public struct QueueEnvironment: Sendable {
  /// Microseconds since 1970 UTC.
  public var now: @Sendable () -> Int64
  /// 64 random bits.
  public var random: @Sendable () -> UInt64
  /// Waits; throws `CancellationError` at once when the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void

  public init(
    now: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.random = random
    self.sleep = sleep
  }

  /// The clock and the random numbers of the machine.
  public static let live = QueueEnvironment(
    now: StoreEnvironment.system.now, random: StoreEnvironment.system.random, sleep: { try await Task.sleep(for: $0) })

  /// A number from 0 to 1.
  package func fraction() -> Double { Double(random() >> 11) / Double((1 << 53) - 1) }
}
