/// A debouncer of network changes: it reports a burst of changes as one.
///
/// Plugging in a cable causes a dozen messages within a second or two. A change is reported when no message has arrived
/// for ``quiet``, but not later than ``longestDelay`` after the first, so that a constantly changing network is reported
/// too; and not sooner than ``spacing`` after the last report, so that a flapping network costs little. A random share
/// of ``jitter`` is added, because many machines may be connected to one switch.
///
/// Times are read from any monotonic clock.
struct ChangePace: Sendable {
  static let quiet: Duration = .seconds(1)
  static let longestDelay: Duration = .seconds(5)
  static let spacing: Duration = .seconds(5)
  static let jitter: Duration = .seconds(1)

  private struct Burst {
    var change: NetworkChange
    let first: Duration
    var last: Duration
    let extra: Duration
  }

  private var burst: Burst?
  private var lastReport: Duration?

  init() {}

  /// Records a change.
  ///
  /// - Parameter fraction: A random number from 0 to 1. Only the one of the first change in a burst is used.
  mutating func record(_ change: NetworkChange, at now: Duration, fraction: Double) {
    if change.isEmpty { return }
    if burst == nil {
      burst = Burst(change: change, first: now, last: now, extra: Self.jitter * min(max(0, fraction), 1))
    }
    burst?.change.formUnion(change)
    burst?.last = now
  }

  /// The time until the next report; `nil` if nothing has changed.
  func pause(at now: Duration) -> Duration? {
    guard let burst else { return nil }
    var due = min(burst.last + Self.quiet, burst.first + Self.longestDelay)
    if let lastReport { due = max(due, lastReport + Self.spacing) }
    return max(.zero, due + burst.extra - now)
  }

  /// Returns the changes to report if they are due.
  mutating func take(at now: Duration) -> NetworkChange? {
    guard let burst, let left = pause(at: now), left <= .zero else { return nil }
    self.burst = nil
    lastReport = now
    return burst.change
  }
}
