/// How often and how soon a failed attempt is repeated: exponential back-off with jitter; and what an answer means.
///
/// The pause after failure *n* is drawn from the upper half of `firstPause · 2ⁿ⁻¹`, capped at `longestPause`: uploads that
/// failed together do not come back together, and none comes back at once. A server's Retry-After is a lower bound for it,
/// capped at `longestRetryAfter`.
public struct UploadRetryPolicy: Sendable, Equatable {
  /// Repetitions before an upload is parked; 0 parks at the first failure that counts.
  public var maximumRetries = 2
  /// Whether failures count toward parking that say nothing about the upload itself.
  ///
  /// Where this is false, a failure counts against its upload if the server refused this upload (``UploadStatusPolicy/parkOn``, a success
  /// rule); if it answered with an error such as 500 while the destination is not taken to be out of order; or if there was no
  /// usable answer, while other uploads to the same destination passed. So an outage parks nothing, however long it lasts.
  public var countsOutages = true
  /// The longest pause after the first failure.
  public var firstPause: Duration = .seconds(1)
  /// The cap of doubling.
  public var longestPause: Duration = .seconds(300)
  /// The longest time that a server may ask to wait; what is longer counts as this.
  public var longestRetryAfter: Duration = .seconds(86_400)
  /// How often its worker may end while an upload is sent, before the upload is suspected and parked.
  public var maximumInterruptions = 20
  /// What the status of an answer means.
  public var statuses = UploadStatusPolicy()

  public init() {}

  /// The pause in microseconds after the failure with the number `failure` (from 1).
  func pause(afterFailure failure: Int, retryAfter: Duration?, fraction: Double) -> Int64 {
    // 2³⁰ seconds are beyond every cap; more doublings would only overflow.
    let ceiling = min(firstPause * (1 << min(max(0, failure - 1), 30)), longestPause)
    let jittered = ceiling * (0.5 + 0.5 * fraction)
    return max(jittered, bounded(retryAfter)).microseconds
  }

  /// What a server asked to wait, within the bound.
  func bounded(_ retryAfter: Duration?) -> Duration { max(.zero, min(retryAfter ?? .zero, longestRetryAfter)) }

  /// What an answer means, but for a success rule.
  func outcome(_ response: UploadResponse) -> AttemptOutcome {
    let meaning = statuses.meaning(of: response.status)
    if meaning == .delivered { return .delivered }
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

  /// What becomes of an upload whose attempt failed.
  ///
  /// - Parameters:
  ///   - counts: whether the failure counts against the upload itself.
  ///   - holds: whether the upload holds its order key if it is parked.
  func verdict(
    _ failure: UploadFailure, _ entry: ScheduleEntry, counts: Bool, holds: Bool, retryAfter: Duration?, fraction: Double
  ) -> UploadVerdict {
    let own = (entry.ownFailures ?? 0) + 1
    if counts, own > maximumRetries { return .parked(failure, holds: holds) }
    // An outage that an upload came through must not slow down what is its own.
    let number = counts ? own : entry.failures + 1
    let pause = pause(afterFailure: number, retryAfter: retryAfter, fraction: fraction)
    return .again(failure, after: pause, counts: counts)
  }
}
