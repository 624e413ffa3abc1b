import CatalogHTTP
import Synchronization

/// An environment in which sleeping takes no time, is written down, and moves the clock.
final class FakeTime: Sendable {
  private let recorded = Mutex<[Duration]>([])
  private let start = ContinuousClock.now

  /// The pauses so far.
  var pauses: [Duration] { recorded.withLock { $0 } }

  /// 2026-01-02 03:04:05 UTC on its wall clock, and always the upper end as a random number.
  var environment: TransportEnvironment {
    TransportEnvironment(
      now: { [self] in start + pauses.reduce(.zero, +) },
      secondsSince1970: { 1_767_323_045 },
      random: { $0.upperBound },
      sleep: { [self] pause in
        try Task.checkCancellation()
        recorded.withLock { $0.append(pause) }
      })
  }
}
