/// How a worker works.
public struct WorkerOptions: Sendable {
  /// Attempts at once; at least 1.
  public var concurrency = 2
  /// How often and how soon what failed goes again.
  public var retry = UploadRetryPolicy()
  /// Other policies for some kinds. How many interruptions a kind survives says ``retry`` for all.
  public var retryPolicies: [String: UploadRetryPolicy] = [:]
  /// How long one attempt may take; `nil` for as long as the transport likes. It counts as a failure that may pass.
  public var attemptTimeout: Duration? = .seconds(120)
  /// Where uploads of a kind go: uploads for a destination that fails are held back, those for others are not.
  public var destination: @Sendable (_ kind: String) -> String = { _ in "" }
  /// After so many a destination is left alone: *different* uploads that failed without a success between them, or attempts in a row
  /// that got no answer, or one that says that the server takes nothing now (408, 425, 429, 502, 503, 504).
  public var breakerFailures = 5
  /// For how long that is the first time; it doubles each time up to ``breakerLongestPause``.
  public var breakerFirstPause: Duration = .seconds(30)
  /// The cap of doubling.
  public var breakerLongestPause: Duration = .seconds(600)
  /// The same cap for a destination that an answer paused (``UploadStatusPolicy/pauseOn``).
  public var longestPauseOnAnswer: Duration = .seconds(300)
  /// How often leases of other workers are looked at: theirs may have ended.
  public var leaseCheckInterval: Duration = .seconds(5)
  /// Which answers mean success though their status is not 2xx: that the server has the upload already.
  public var isAlreadyDone: @Sendable (Upload, UploadResponse) -> Bool = { _, _ in false }
  /// Whether an answer with a 2xx means success; `nil` for the status alone, which is the default.
  ///
  /// Where it returns false, the answer counts like 422: the upload is parked after its retries. Where it throws, nobody knows what
  /// the server did, and the upload is sent again. See ``UploadSuccessRule``.
  public var success: (@Sendable (_ kind: String, UploadResponse) throws -> Bool)?
  /// What becomes of later uploads with the order key of one that is parked; `nil` lets them go on. Uploads that were parked while it
  /// said otherwise hold nothing.
  public var onParked: (@Sendable (_ kind: String, _ orderKey: String) -> OnParked)?
  /// How several uploads of one kind go in one request, where the worker has a transport for that; `nil` lets each go alone.
  public var batch: UploadBatchOptions?
  /// The same for some kinds, instead of ``batch``.
  public var batches: [String: UploadBatchOptions] = [:]
  /// Is told how each attempt ended, before that is written; for a batch once for each upload of which that is known. It is called by the
  /// worker, and holds it up.
  public var onAttempt: (@Sendable (UploadAttempt) -> Void)?
  /// Whether the network is there, whenever that changes. The queue is paused while it is not.
  public var reachability: AsyncStream<Bool>?

  public init() {}

  /// How uploads of a kind go together.
  func batch(_ kind: String) -> UploadBatchOptions? { batches[kind] ?? batch }

  var breaker: CircuitBreaker.Policy {
    CircuitBreaker.Policy(
      failures: max(1, breakerFailures), firstPause: breakerFirstPause.microseconds,
      longestPause: breakerLongestPause.microseconds, longestPauseOnAnswer: longestPauseOnAnswer.microseconds)
  }

  /// Whether an upload holds its order key if it is parked.
  func holds(_ entry: ScheduleEntry) -> Bool { entry.orderKey.map { onParked?(entry.kind, $0) == .hold } ?? false }
}

/// How one attempt ended.
public struct UploadAttempt: Sendable, Equatable {
  /// What becomes of the upload.
  public enum Result: Sendable, Equatable {
    /// It arrived.
    case delivered
    /// It is tried again later.
    case failed(UploadFailure)
    /// It is tried again when its destination, which the answer paused, takes uploads again.
    case paused(UploadFailure)
    /// It is parked.
    case parked(UploadFailure)
  }

  /// Which upload it was.
  public let upload: UploadID
  /// What the upload is.
  public let kind: String
  /// What becomes of it.
  public let result: Result
}
