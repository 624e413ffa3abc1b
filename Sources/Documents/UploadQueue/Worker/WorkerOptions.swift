/// The options of a worker.
public struct WorkerOptions: Sendable {
  /// The maximum number of concurrent attempts; at least 1.
  public var concurrency = 2
  /// The retry policy.
  public var retry = UploadRetryPolicy()
  /// Retry policies for some kinds, instead of ``retry``. The limit of interruptions in ``retry`` applies to all kinds.
  public var retryPolicies: [String: UploadRetryPolicy] = [:]
  /// The timeout of one attempt; `nil` for none. A timeout counts as a temporary failure.
  public var attemptTimeout: Duration? = .seconds(120)
  /// The destination of a kind's uploads. Uploads to a failing destination are held back; those to others are not.
  public var destination: @Sendable (_ kind: String) -> String = { _ in "" }
  /// The number of failures that open the circuit breaker: *different* uploads that failed without a success between
  /// them, or attempts in a row that got no answer, or one by which the server currently accepts nothing (408, 425,
  /// 429, 502, 503, 504).
  public var breakerFailures = 5
  /// The first pause of an open breaker. It doubles each time up to ``breakerLongestPause``.
  public var breakerFirstPause: Duration = .seconds(30)
  /// The cap of an open breaker's pause.
  public var breakerLongestPause: Duration = .seconds(600)
  /// The cap of the pause for a destination that an answer paused (``UploadStatusPolicy/pauseOn``).
  public var longestPauseOnAnswer: Duration = .seconds(300)
  /// How often the worker checks for leases of workers that have ended.
  package var leaseCheckInterval: Duration = .seconds(5)
  /// Returns whether an answer without a 2xx status means success, because the server already has the upload.
  public var isAlreadyDone: @Sendable (Upload, UploadResponse) -> Bool = { _, _ in false }
  /// Returns whether an answer with a 2xx status means success; `nil`, the default, to decide by the status alone.
  ///
  /// If it returns false, the answer counts like 422: the upload is parked after its retries. If it throws, the result
  /// is unknown, and the upload is sent again. See ``UploadSuccessRule``.
  public var success: (@Sendable (_ kind: String, UploadResponse) throws -> Bool)?
  /// Returns the rule for later uploads with the order key of a parked one; `nil` lets them continue. Uploads that were
  /// parked under another setting hold nothing.
  public var onParked: (@Sendable (_ kind: String, _ orderKey: String) -> ParkedUploadPolicy)?
  /// Limits for batches, if the worker has a batch transport; `nil` to send each upload alone.
  public var batch: UploadBatchOptions?
  /// Limits for batches of some kinds, instead of ``batch``.
  public var batches: [String: UploadBatchOptions] = [:]
  /// A callback for each finished attempt, called before the result is written; for a batch, once for each upload with
  /// a known result. The worker waits for it to return.
  public var onAttempt: (@Sendable (UploadAttempt) -> Void)?
  /// A stream of whether the network is reachable. The queue is paused while it is not.
  public var reachability: AsyncStream<Bool>?

  /// Creates the default options: two concurrent attempts, each upload on its own.
  public init() {}

  /// The batch limits of a kind; `nil` to send each upload alone.
  func batch(_ kind: String) -> UploadBatchOptions? { batches[kind] ?? batch }

  var breaker: CircuitBreaker.Policy {
    CircuitBreaker.Policy(
      failures: max(1, breakerFailures), firstPause: breakerFirstPause.microseconds,
      longestPause: breakerLongestPause.microseconds, longestPauseOnAnswer: longestPauseOnAnswer.microseconds)
  }

  /// Whether an upload holds its order key if it is parked.
  func holds(_ entry: ScheduleEntry) -> Bool { entry.orderKey.map { onParked?(entry.kind, $0) == .hold } ?? false }
}

/// A finished attempt.
public struct UploadAttempt: Sendable, Equatable {
  /// The consequence of an attempt for its upload.
  public enum Result: Sendable, Equatable {
    /// The upload was delivered.
    case delivered
    /// The upload is retried later.
    case failed(UploadFailure)
    /// The answer paused the destination. The upload is retried when the destination accepts uploads again.
    case paused(UploadFailure)
    /// The upload is parked.
    case parked(UploadFailure)
  }

  /// The upload's ID.
  public let upload: UploadID
  /// The upload's kind.
  public let kind: String
  /// The consequence for the upload.
  public let result: Result
}
