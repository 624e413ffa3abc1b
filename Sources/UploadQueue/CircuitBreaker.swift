/// Spares a destination that fails whatever is sent: after some failures in a row nothing goes there for a while, then one
/// upload, and the others if that one passes.
struct CircuitBreaker: Equatable {
  /// When a breaker opens, and for how long.
  struct Policy: Sendable, Equatable {
    var failures: Int
    var firstPause: Int64
    var longestPause: Int64
  }

  private(set) var failuresInARow = 0
  /// Microseconds since 1970 until which nothing goes; `nil` while it is closed.
  private(set) var openUntil: Int64?
  private var pause: Int64 = 0
  /// When it opened last.
  private var opened: Int64 = 0
  /// Whether the one upload that may go after the pause is on its way.
  private var isProbing = false

  var isClosed: Bool { openUntil == nil }

  /// Whether an upload may go now.
  func allows(now: Int64) -> Bool { openUntil.map { $0 <= now && !isProbing } ?? true }

  /// An upload goes. One that was taken before the breaker opened, and begins after that, is no probe.
  mutating func begin(now: Int64) { if let openUntil, openUntil <= now { isProbing = true } }

  /// An attempt ended without telling anything of the destination.
  mutating func cancel() { isProbing = false }

  /// What kept the destination from answering may be over: one upload may go at once, and if that one fails, the pauses begin
  /// anew.
  mutating func reconsider(now: Int64) {
    guard let openUntil else { return }
    self.openUntil = min(openUntil, now)
    pause = 0
  }

  /// The destination answered.
  mutating func succeed() { self = CircuitBreaker() }

  /// Somebody asked at this time to try again: what failed before that says nothing any more.
  ///
  /// - Returns: whether it was open, and is closed by that.
  mutating func retry(at time: Int64) -> Bool {
    guard openUntil != nil, time >= opened else { return false }
    self = CircuitBreaker()
    return true
  }

  /// The destination did not answer, or said that it cannot.
  ///
  /// - Returns: how long it is left alone, if that begins now.
  mutating func fail(now: Int64, _ policy: Policy) -> Int64? {
    failuresInARow += 1
    if let openUntil {
      // Attempts that had begun before it opened tell nothing new.
      guard isProbing, openUntil <= now else {
        isProbing = isProbing && openUntil <= now
        return nil
      }
    } else if failuresInARow < policy.failures {
      return nil
    }
    isProbing = false
    pause = pause == 0 ? policy.firstPause : min(pause.adding(pause), policy.longestPause)
    opened = now
    openUntil = now.adding(pause)
    return pause
  }
}
