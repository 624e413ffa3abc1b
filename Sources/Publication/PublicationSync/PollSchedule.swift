import Platform

/// When a device asks for the head of a publication. Arithmetic only: the caller has the clock and the random numbers.
///
/// A device asks once in each interval, at a moment of the interval that is its own, also after a restart: so a hundred
/// thousand devices whose power returns do not ask at once.
package struct PollSchedule: Sendable, Equatable {
  /// The interval before the first head is known.
  package static let standardInterval: Duration = .seconds(300)
  /// The pauses while the address has no head, at least.
  private static let goneBackoff = Backoff(first: .seconds(3600), longest: .seconds(86_400))

  /// How often to ask.
  package var interval: Duration
  /// The share of a pause by which it is longer or shorter, 0 to 1.
  package var jitter: Double
  /// The device's moment of the interval, 0 to less than 1; see ``PublicationClient/pollPhase(of:)``.
  package var phase: Double

  package init(interval: Duration, jitter: Double, phase: Double) {
    self.interval = interval
    self.jitter = min(max(0, jitter), 1)
    self.phase = phase
  }

  /// The time until the device's moment, which is also the wait after a restart.
  ///
  /// - Parameter now: Microseconds since 1970.
  package func untilMoment(_ now: Int64) -> Duration {
    let interval = max(1, interval.nanoseconds / 1000)
    let passed = now % interval
    return .microseconds((Int64(phase * Double(interval)) - passed + interval) % interval)
  }

  /// How long to wait after a success.
  ///
  /// - Parameters:
  ///   - now: Microseconds since 1970.
  ///   - fraction: A random number from 0 to 1.
  package func pause(_ now: Int64, fraction: Double) -> Duration {
    var pause = untilMoment(now)
    // The last request may have been a little before its moment.
    if pause < interval / 2 { pause += interval }
    return max(.milliseconds(1), pause + interval * (jitter * (fraction - 0.5)))
  }

  /// How long to wait after a failure of any kind.
  ///
  /// - Parameters:
  ///   - number: The number of failures in a row.
  ///   - first: The pause after the first one.
  ///   - fraction: A random number from 0 to 1.
  package func pause(afterFailure number: Int, first: Duration, fraction: Double) -> Duration {
    let pause = Backoff(first: first, longest: interval).pause(afterFailure: number)
    return max(.milliseconds(1), pause * (1 + jitter * (2 * fraction - 1)))
  }

  /// How long to wait if the address has no head.
  ///
  /// - Parameters:
  ///   - number: How often in a row it had none.
  ///   - fraction: A random number from 0 to 1.
  package static func pause(afterGone number: Int, fraction: Double) -> Duration {
    goneBackoff.pause(afterFailure: number) * (1 + 0.25 * fraction)
  }

  /// Whether a poll asks the origin too although a mirror has answered: about one in an hour does. A hundred devices of a
  /// shop would otherwise use its line for polls, and a mirror that holds a head back holds it back for an hour.
  ///
  /// - Parameter fraction: A random number from 0 to 1.
  package func asksOriginToo(fraction: Double) -> Bool { fraction * 3600 < interval / .seconds(1) }

  /// How long to wait before all rows are fetched because the deltas cannot be used, maybe by no device.
  ///
  /// - Parameters:
  ///   - spread: The time that the head names, in seconds.
  ///   - fraction: A random number from 0 to 1.
  package static func pauseBeforeBase(spread: Int, fraction: Double) -> Duration {
    .microseconds(Int64(fraction * Double(spread) * 1e6))
  }
}
