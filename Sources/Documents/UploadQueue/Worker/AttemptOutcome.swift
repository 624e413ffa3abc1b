/// The result of an attempt, before its consequences for the upload are decided.
enum AttemptOutcome: Sendable, Equatable {
  case delivered
  case failed(UploadFailure, FailureCause, retryAfter: Duration?)
  /// The attempt was not made: the file has changed, or the transport refuses to send the upload.
  case refused(UploadFailure)
  /// The result is unknown: the attempt was cancelled, or an earlier upload in the same batch failed.
  case released

  /// The outcome of an attempt that got no answer.
  init(thrown error: any Error) {
    let failure = UploadFailure(message: "\(error)")
    self =
      switch error {
      case is UploadRefusal, is UploadQueueError: .refused(failure)
      case is UploadPause: .failed(failure, .pausing, retryAfter: nil)
      default: .failed(failure, .unavailable, retryAfter: nil)
      }
  }
}

/// The cause of a failed attempt: the upload, the destination, or unknown.
///
/// | cause | for example | counts against the upload | opens the breaker |
/// |---|---|---|---|
/// | `unavailable` | connection refused, no answer in time, 408, 502, 503, 504, a login page | if others to the same destination arrived meanwhile | after five in a row |
/// | `postponed` | 425, 429, a Retry-After | never | after five in a row |
/// | `failed` | 500, a response that a success rule cannot read | if others to the same destination arrived meanwhile, or after ``UploadRetryPolicy/outageTime`` | after five different uploads |
/// | `rejected` | 422, a success rule that does not hold | always | never: the destination works |
/// | `pausing` | 401, 404, a redirect, ``UploadPause`` | never | at once |
///
/// With ``UploadRetryPolicy/countsOutages``, all causes except `pausing` count.
enum FailureCause: Sendable, Equatable {
  case unavailable
  case postponed
  case failed
  case rejected
  case pausing

  /// The cause of a failure that is retried, by its answer.
  static func ofRetried(_ response: UploadResponse) -> FailureCause {
    switch response.status {
    case 425, 429: .postponed
    case _ where response.retryAfter != nil: .postponed
    case 408, 502, 503, 504: .unavailable
    default: .failed
    }
  }

  /// Whether the destination currently accepts no uploads at all.
  var isOutage: Bool { self == .unavailable || self == .postponed }
}
