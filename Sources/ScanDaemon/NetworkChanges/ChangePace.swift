/// When changes are told: what comes in a burst is one.
///
/// A cable that is plugged in makes a dozen messages within a second or two. It is told when nothing came for ``quiet``, but not later
/// than ``patience`` after the first, so that a network that never rests is told of as well; and not sooner than ``spacing`` after
/// the last time, so that one that comes and goes costs little. On top comes a part of ``jitter``: many machines may be behind one
/// switch.
///
/// Times are those of any clock that does not go back.
struct ChangePace: Sendable {
  static let quiet: Duration = .seconds(1)
  static let patience: Duration = .seconds(5)
  static let spacing: Duration = .seconds(5)
  static let jitter: Duration = .seconds(1)

  private struct Burst {
    var change: NetworkChange
    let first: Duration
    var last: Duration
    let extra: Duration
  }

  private var burst: Burst?
  private var told: Duration?

  init() {}

  /// Something changed.
  ///
  /// - Parameter fraction: chance, 0 to 1, of which the first of a burst counts.
  mutating func note(_ change: NetworkChange, at now: Duration, fraction: Double) {
    if change.isEmpty { return }
    if burst == nil {
      burst = Burst(change: change, first: now, last: now, extra: Self.jitter * min(max(0, fraction), 1))
    }
    burst?.change.formUnion(change)
    burst?.last = now
  }

  /// How long until there is something to tell; `nil` where nothing has changed.
  func pause(at now: Duration) -> Duration? {
    guard let burst else { return nil }
    var due = min(burst.last + Self.quiet, burst.first + Self.patience)
    if let told { due = max(due, told + Self.spacing) }
    return max(.zero, due + burst.extra - now)
  }

  /// What is to be told now, if its time has come.
  mutating func take(at now: Duration) -> NetworkChange? {
    guard let burst, let left = pause(at: now), left <= .zero else { return nil }
    self.burst = nil
    told = now
    return burst.change
  }
}
