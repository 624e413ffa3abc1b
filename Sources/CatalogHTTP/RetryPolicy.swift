/// When and how soon a failed attempt is repeated: exponential back-off with jitter.
///
/// The pause after attempt *n* is drawn from the upper half of `firstPause · 2ⁿ⁻¹`, capped at `longestPause`
/// ("equal jitter": clients that failed together do not come back together, and none comes back at once).
/// A server's `Retry-After` is a lower bound for it, capped at `longestRetryAfter`.
public struct RetryPolicy: Sendable, Equatable {
  /// Attempts in all; 1 never retries.
  public var maximumAttempts = 5
  /// The upper bound of the pause after the first attempt. It doubles with each further attempt.
  public var firstPause: Duration = .seconds(1)
  /// The cap of the pause between two attempts, apart from a server's `Retry-After`.
  public var longestPause: Duration = .seconds(60)
  /// The cap of a server's `Retry-After`.
  public var longestRetryAfter: Duration = .seconds(300)

  /// Creates a policy of five attempts with pauses that begin at 0.5 to 1 second.
  public init() {}

  /// Whether a status promises that the same request may succeed later.
  static func isRetryable(status: Int) -> Bool { status == 429 || (500...599).contains(status) }

  /// The pause after the attempt with the number `attempt` (from 1), or `nil` when it was the last.
  func pause(
    afterAttempt attempt: Int, retryAfter: Duration?, random: (ClosedRange<Double>) -> Double
  ) -> Duration? {
    guard attempt < maximumAttempts else { return nil }
    // 2³⁰ seconds are beyond every cap; more doublings would only overflow.
    let doublings = min(attempt - 1, 30)
    let ceiling = min(firstPause * (1 << doublings), longestPause)
    let jittered = ceiling * random(0.5...1)
    return max(jittered, min(retryAfter ?? .zero, longestRetryAfter))
  }
}
