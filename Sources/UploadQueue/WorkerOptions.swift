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
  /// Failures in a row, each of which may pass, after which a destination is left alone.
  public var breakerFailures = 5
  /// For how long that is the first time; it doubles each time up to ``breakerLongestPause``.
  public var breakerFirstPause: Duration = .seconds(30)
  /// The cap of doubling.
  public var breakerLongestPause: Duration = .seconds(600)
  /// How often leases of other workers are looked at: theirs may have ended.
  public var leaseCheckInterval: Duration = .seconds(5)
  /// Which answers mean success though their status is not 2xx: that the server has the upload already.
  public var isAlreadyDone: @Sendable (Upload, UploadResponse) -> Bool = { _, _ in false }
  /// Whether the network is there, whenever that changes. The queue is paused while it is not.
  public var reachability: AsyncStream<Bool>?

  public init() {}

  var breaker: CircuitBreaker.Policy {
    CircuitBreaker.Policy(
      failures: max(1, breakerFailures), firstPause: breakerFirstPause.microseconds,
      longestPause: breakerLongestPause.microseconds)
  }
}
