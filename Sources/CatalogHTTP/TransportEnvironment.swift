#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Clock, chance and sleep of a transport: what a test replaces so that it waits for nothing.
public struct TransportEnvironment: Sendable {
  /// The steady clock by which the total time is measured.
  public var now: @Sendable () -> ContinuousClock.Instant
  /// Seconds since 1970 UTC, to which a `Retry-After` date is compared.
  public var secondsSince1970: @Sendable () -> Int64
  /// A number out of the range, each equally likely.
  public var random: @Sendable (ClosedRange<Double>) -> Double
  /// Waits; throws `CancellationError` at once when the task is cancelled.
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

  /// The machine's clock and chance.
  public static let live = TransportEnvironment(
    now: { ContinuousClock.now },
    secondsSince1970: { Int64(Date().timeIntervalSince1970) },
    random: { Double.random(in: $0) },
    sleep: { try await Task.sleep(for: $0) }
  )
}
