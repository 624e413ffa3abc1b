import Essentials

/// A transport's clock, randomness and sleep. Tests replace them to avoid waiting.
public struct TransportEnvironment: Sendable {
  /// The monotonic clock that measures the total time.
  public var now: @Sendable () -> ContinuousClock.Instant
  /// The time in seconds since 1970 UTC, which a `Retry-After` date is compared with.
  public var secondsSince1970: @Sendable () -> Int64
  /// A uniformly distributed random number in the range.
  public var random: @Sendable (ClosedRange<Double>) -> Double
  /// Sleeps; throws `CancellationError` at once if the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void

  /// Creates an environment from its four parts. Tests pass a clock that they advance themselves.
  public init(
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    secondsSince1970: @escaping @Sendable () -> Int64,
    random: @escaping @Sendable (ClosedRange<Double>) -> Double,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.secondsSince1970 = secondsSince1970
    self.random = random
    self.sleep = sleep
  }

  /// The machine's clock and random numbers.
  public static let live = TransportEnvironment(
    now: { ContinuousClock.now },
    secondsSince1970: { Int64(Date().timeIntervalSince1970) },
    random: { Double.random(in: $0) },
    sleep: { try await Task.sleep(for: $0) }
  )
}
