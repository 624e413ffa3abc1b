import Platform

/// The retry policy: exponential back-off with jitter, a retry limit, and the meaning of status codes.
///
/// The pause after failure *n* is drawn from the upper half of `firstPause · 2ⁿ⁻¹`, capped at `longestPause`. So
/// uploads that failed together are not retried together, and none is retried at once. A server's Retry-After is a
/// lower bound, capped at `longestRetryAfter`.
public struct UploadRetryPolicy: Sendable, Equatable {
  /// The number of retries before an upload is parked; 0 parks at the first failure that counts.
  public var maximumRetries = 2
  /// Whether failures that may be the destination's fault count toward parking.
  ///
  /// If this is false, a failure counts against its upload in two cases: the server refused this upload
  /// (``UploadStatusPolicy/parkOn``, a success rule); or there was no usable answer, or an error like 500, while a later
  /// upload to the same destination arrived. So an outage parks nothing, however long it lasts and however few uploads
  /// there are. Only ``outageTime`` ends the patience with an upload that is answered with an error like 500 and that is
  /// alone, because nothing else is there to be sent.
  public var countsOutages = true
  /// How long an upload may be answered with errors like 500, by the pauses after its failures, while nothing else is
  /// sent to its destination: longer than an outage lasts. The upload is then parked, and waits again when the next
  /// upload to the destination fails as well.
  public var outageTime: Duration = .seconds(86_400)
  /// The maximum pause after the first failure.
  public var firstPause: Duration = .seconds(1)
  /// The cap of exponential back-off.
  public var longestPause: Duration = .seconds(300)
  /// The cap of a server's Retry-After.
  public var longestRetryAfter: Duration = .seconds(86_400)
  /// The number of times that a worker may end while sending an upload before the upload is suspected and parked.
  public var maximumInterruptions = 20
  /// The meaning of status codes.
  public var statuses = UploadStatusPolicy()

  /// Creates the default policy: two retries, then the upload is parked.
  public init() {}

  /// The pause in microseconds after the failure with the number `failure` (from 1).
  func pause(afterFailure failure: Int, retryAfter: Duration?, fraction: Double) -> Int64 {
    let backoff = Backoff(first: firstPause, longest: longestPause)
    let jittered = backoff.pause(afterFailure: failure, fraction: fraction)
    return max(jittered, bounded(retryAfter)).microseconds
  }

  /// The delay that a server requests, clamped to the cap.
  func bounded(_ retryAfter: Duration?) -> Duration { max(.zero, min(retryAfter ?? .zero, longestRetryAfter)) }

  /// The outcome of an answer, before any success rule.
  func outcome(_ response: UploadResponse) -> AttemptOutcome {
    let meaning = statuses.meaning(of: response.status)
    if meaning == .delivered {
      guard response.isPage else { return .delivered }
      // An outage of the network, not of the upload: the receiver has got nothing.
      let title = response.message.map { ": " + $0 } ?? ""
      let words =
        "the server answered \(response.status) with a web page (HTML) instead of an answer: a login page or a proxy's page"
      return .failed(
        UploadFailure(status: response.status, message: words + title), .unavailable, retryAfter: response.retryAfter)
    }
    let message = response.message.map { ": " + $0 } ?? ""
    let failure = UploadFailure(status: response.status, message: "the server answered \(response.status)\(message)")
    let cause: FailureCause =
      switch meaning {
      case .delivered, .retry: .ofRetried(response)
      case .park: .rejected
      case .pause: .pausing
      }
    return .failed(failure, cause, retryAfter: response.retryAfter)
  }

  /// Decides the consequence of a failed attempt.
  ///
  /// - Parameters:
  ///   - counts: Whether the failure counts against the upload itself.
  ///   - holds: Whether the upload holds its order key if it is parked.
  func verdict(
    _ failure: UploadFailure, _ entry: ScheduleEntry, counts: Bool, holds: Bool, retryAfter: Duration?, fraction: Double
  ) -> UploadVerdict {
    let own = (entry.ownFailures ?? 0) + 1
    if counts, own > maximumRetries { return .parked(failure, holds: holds) }
    // Failures during an outage must not lengthen the back-off of the upload's own failures.
    let number = counts ? own : entry.failures + 1
    let pause = pause(afterFailure: number, retryAfter: retryAfter, fraction: fraction)
    return .again(failure, after: pause, counts: counts)
  }
}
