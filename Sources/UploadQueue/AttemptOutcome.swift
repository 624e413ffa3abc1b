/// How an attempt ended, before it is known what that means for the upload.
enum AttemptOutcome: Sendable, Equatable {
  case delivered
  case failed(UploadFailure, FailureCause, retryAfter: Duration?)
  /// It was not even tried: its file is another one, or the transport will not send it.
  case refused(UploadFailure)
  /// Nobody knows: the attempt was cancelled, or an upload before it in the same batch did not pass.
  case released

  /// The outcome of an attempt that got no answer.
  init(thrown error: any Error) {
    let failure = UploadFailure(message: "\(error)")
    self =
      error is UploadRefusal || error is UploadQueueError
      ? .refused(failure) : .failed(failure, .unavailable, retryAfter: nil)
  }
}

/// What a failed attempt says, and of whom.
///
/// | cause | for example | counts against the upload | opens the breaker |
/// |---|---|---|---|
/// | `unavailable` | connection refused, no answer in time, 502, 503, 504 | if others to the same destination passed meanwhile | after five in a row |
/// | `postponed` | 425, 429, a Retry-After | never | after five in a row |
/// | `failed` | 500, a response that a success rule cannot read | while the breaker is closed | after five different uploads |
/// | `rejected` | 422, a success rule that does not hold | always | never: the destination is there |
/// | `pausing` | 401, 404, a redirect | never | at once |
///
/// With ``UploadRetryPolicy/countsOutages`` all but `pausing` count.
enum FailureCause: Sendable, Equatable {
  case unavailable
  case postponed
  case failed
  case rejected
  case pausing

  /// The cause of an answer that is tried again.
  static func ofRetried(_ response: UploadResponse) -> FailureCause {
    switch response.status {
    case 425, 429: .postponed
    case _ where response.retryAfter != nil: .postponed
    case 408, 502, 503, 504: .unavailable
    default: .failed
    }
  }

  /// Whether it says that the destination takes nothing now, whatever is sent.
  var isOutage: Bool { self == .unavailable || self == .postponed }
}
