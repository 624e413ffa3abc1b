/// How often and how soon a failed attempt is repeated: exponential back-off with jitter.
///
/// The pause after failure *n* is drawn from the upper half of `firstPause · 2ⁿ⁻¹`, capped at `longestPause`: uploads that
/// failed together do not come back together, and none comes back at once. A server's Retry-After is a lower bound for it,
/// capped at `longestRetryAfter`.
public struct UploadRetryPolicy: Sendable, Equatable {
  /// Repetitions before an upload is parked; 0 parks at the first failure.
  public var maximumRetries = 2
  /// The longest pause after the first failure.
  public var firstPause: Duration = .seconds(1)
  /// The cap of doubling.
  public var longestPause: Duration = .seconds(300)
  /// The longest time that a server may ask to wait; what is longer counts as this.
  public var longestRetryAfter: Duration = .seconds(86_400)
  /// How often its worker may end while an upload is sent, before the upload is suspected and parked.
  public var maximumInterruptions = 20

  public init() {}

  /// Whether a status says that the same upload may pass later.
  public static func mayPass(status: Int) -> Bool { [408, 425, 429].contains(status) || (500...599).contains(status) }

  /// The pause in microseconds after the failure with the number `failure` (from 1); `nil` when it was the last.
  func pause(afterFailure failure: Int, retryAfter: Duration?, fraction: Double) -> Int64? {
    guard failure <= maximumRetries else { return nil }
    // 2³⁰ seconds are beyond every cap; more doublings would only overflow.
    let ceiling = min(firstPause * (1 << min(failure - 1, 30)), longestPause)
    let jittered = ceiling * (0.5 + 0.5 * fraction)
    return max(jittered, min(retryAfter ?? .zero, longestRetryAfter)).microseconds
  }

  /// What an answer means.
  ///
  /// - Parameters:
  ///   - failures: attempts that failed before this one.
  ///   - isDone: whether the caller takes the answer for a success though its status is none.
  func verdict(_ response: UploadResponse, failures: Int, isDone: Bool, fraction: Double) -> UploadVerdict {
    if (200...299).contains(response.status) || isDone { return .delivered }
    let message = response.message.map { ": " + $0 } ?? ""
    let failure = UploadFailure(status: response.status, message: "the server answered \(response.status)\(message)")
    guard Self.mayPass(status: response.status) else { return .parked(failure) }
    return again(failure, failures: failures, retryAfter: response.retryAfter, fraction: fraction)
  }

  /// What an attempt without an answer means.
  func verdict(thrown error: any Error, failures: Int, fraction: Double) -> UploadVerdict {
    let failure = UploadFailure(message: "\(error)")
    if error is UploadRefusal || error is UploadQueueError { return .refused(failure) }
    return again(failure, failures: failures, retryAfter: nil, fraction: fraction)
  }

  private func again(
    _ failure: UploadFailure, failures: Int, retryAfter: Duration?, fraction: Double
  ) -> UploadVerdict {
    let pause = pause(afterFailure: failures + 1, retryAfter: retryAfter, fraction: fraction)
    return pause.map { .again(failure, after: $0) } ?? .parked(failure)
  }
}
