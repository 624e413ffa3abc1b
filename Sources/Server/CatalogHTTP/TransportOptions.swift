/// The options of a transport: timeouts, headers, TLS and retries.
///
/// The defaults suit a warehouse with a slow connection: an attempt fails after 10 seconds without a connection, after
/// 30 seconds without a byte, or if it receives fewer than 1,000 bytes per second over 30 seconds; a fetch fails after
/// an hour.
public struct TransportOptions: Sendable {
  /// The value of the `Authorization` header, for example `Bearer …`. It is sent only to the host of the transport's
  /// URL, and never shown in an error or description. `nil` to use the URL's user and password for Basic
  /// authentication, if it contains them.
  public var authorization: String?
  /// Additional request headers, in order. They may replace `Accept`, `User-Agent` and `Authorization`, but not `Host`
  /// and the headers that frame a request.
  public var headers: [(name: String, value: String)] = []
  /// The value of the `User-Agent` header.
  public var userAgent = "shelfmark"

  /// The timeout per attempt for name resolution, TCP and TLS together.
  public var connectTimeout: Duration = .seconds(10)
  /// The timeout for silence of the server: before the head of its response, and between two chunks of the body. The
  /// time that the caller spends on a chunk does not count.
  public var idleTimeout: Duration = .seconds(30)
  /// The minimum rate of the body in bytes per second; 0 accepts any. An attempt fails if its body is slower over
  /// ``minimumRateWindow``. The time that the caller spends on a chunk does not count.
  public var minimumRate = 1000
  /// How long the body may be slower than ``minimumRate``.
  public var minimumRateWindow: Duration = .seconds(30)
  /// The timeout for the entire fetch: all attempts, the pauses between them, and the caller's own time.
  public var totalTimeout: Duration = .seconds(3600)

  /// The maximum number of redirects that an attempt follows; 0 follows none.
  public var maximumRedirects = 5
  /// The maximum size of a body in bytes, as transferred.
  public var maximumBodyByteCount = 8 << 30

  /// Whether to verify the server's certificate and host name. Without verification, the catalogue and the credentials
  /// are exposed to anyone on the network path; use this only for tests.
  public var verifiesCertificates = true
  /// A PEM file of certificates to trust *instead of* the system's, for example of a company's own certificate
  /// authority.
  public var certificateAuthorityFile: String?

  /// The proxy rules; by default no proxy is used.
  public var proxies = ProxyRules()

  /// The names of these options in messages; see ``TransportError/description(naming:)``.
  public var names = OptionNames()

  /// The retry policy: how often and after which pauses a failed attempt is retried.
  public var retry = RetryPolicy()
  /// Called before each pause, for progress and logs. It must not block.
  public var onRetry: (@Sendable (RetryNotice) -> Void)?

  /// Creates the default options; see ``TransportOptions``.
  public init() {}

  /// Stops the program if a count is out of its range.
  func checkCounts() {
    precondition(retry.maximumAttempts > 0, "maximumAttempts: at least one attempt is made")
    precondition(maximumRedirects >= 0, "maximumRedirects is a count")
    precondition(minimumRate >= 0, "minimumRate is a count of bytes")
  }
}

/// A notice that an attempt failed and will be retried after a pause.
public struct RetryNotice: Sendable {
  /// The number of the attempt that failed, from 1.
  public var attempt: Int
  /// The number of attempts that the policy allows, as in ``RetryPolicy/maximumAttempts``.
  public var maximumAttempts: Int
  /// The pause before the next attempt.
  public var pause: Duration
  /// Why the attempt failed.
  public var error: TransportError
}
