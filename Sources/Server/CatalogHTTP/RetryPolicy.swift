import Platform

/// When and how soon to retry a failed attempt: exponential back-off with jitter.
///
/// The pause after attempt *n* is random in the upper half of `firstPause · 2ⁿ⁻¹`, capped at `longestPause` ("equal
/// jitter": clients that failed together do not return together, and none returns at once). A server's `Retry-After` is
/// a lower bound for it, capped at `longestRetryAfter`.
public struct RetryPolicy: Sendable, Equatable {
  /// The maximum number of attempts; 1 disables retries.
  public var maximumAttempts = 5
  /// The upper bound of the pause after the first attempt. It doubles with each further attempt.
  public var firstPause: Duration = .seconds(1)
  /// The cap of the pause between two attempts, apart from a server's `Retry-After`.
  public var longestPause: Duration = .seconds(60)
  /// The cap of a server's `Retry-After`.
  public var longestRetryAfter: Duration = .seconds(300)

  /// Creates a policy of five attempts with pauses that begin at 0.5 to 1 second.
  public init() {}

  /// Whether the same request may succeed later after a response with this status.
  static func isRetryable(status: Int) -> Bool { status == 429 || (500...599).contains(status) }

  /// Whether the request of a file may succeed later after a response with this status. The other ones of 500 to 599 say
  /// that the server does not do what was asked.
  static func isRetryable(fileStatus status: Int) -> Bool { [408, 429, 500, 502, 503, 504].contains(status) }

  /// The pause after attempt `attempt` (from 1); `nil` after the last one.
  ///
  /// - Parameter spread: How much longer than the server's `Retry-After` the pause may be, as a part of it, so that
  ///   clients that got the same one do not return together.
  func pause(
    afterAttempt attempt: Int, retryAfter: Duration?, spread: Double = 0, random: (ClosedRange<Double>) -> Double
  ) -> Duration? {
    guard attempt < maximumAttempts else { return nil }
    let backoff = Backoff(first: firstPause, longest: longestPause)
    let jittered = backoff.pause(afterFailure: attempt) * random(0.5...1)
    guard let retryAfter else { return jittered }
    let asked = min(retryAfter, longestRetryAfter)
    return max(jittered, spread > 0 ? asked * random(1...1 + spread) : asked)
  }
}
