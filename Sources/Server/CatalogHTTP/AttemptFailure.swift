/// An attempt that failed for an external reason, with the information that decides about a retry.
struct AttemptFailure: Error {
  var error: TransportError
  var isRetryable: Bool
  var retryAfter: Duration?
  /// The number of bytes of the body that were passed to the caller.
  var handedByteCount = 0

  /// Waits before the next attempt, as long as the retry policy and the server's `Retry-After` say.
  ///
  /// - Parameter spread: How much longer than the `Retry-After` the pause may be, as a part of it.
  /// - Throws: The failure's error, if there is no further attempt; `CancellationError`.
  func pause(
    afterAttempt attempt: Int, _ options: TransportOptions, _ environment: TransportEnvironment,
    deadline: ContinuousClock.Instant, spread: Double = 0
  ) async throws {
    guard isRetryable,
      let pause = options.retry.pause(
        afterAttempt: attempt, retryAfter: retryAfter, spread: spread, random: environment.random),
      // Do not start a pause that would end after the deadline.
      environment.now() + pause < deadline
    else { throw error }
    options.onRetry?(
      RetryNotice(attempt: attempt, maximumAttempts: options.retry.maximumAttempts, pause: pause, error: error))
    try await environment.sleep(pause)
  }
}
