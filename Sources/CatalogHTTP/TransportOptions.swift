/// What a transport may be told: limits, headers, trust and patience.
///
/// The defaults suit a warehouse on a slow line: an attempt is given up after 10 seconds without a connection, after 30
/// seconds without a byte, or after 30 seconds of fewer than 1,000 bytes each; a whole fetch after an hour.
public struct TransportOptions: Sendable {
  /// The value of the `Authorization` header, such as `Bearer …`. It is sent to the host of the transport's
  /// URL only, and no error or description ever shows it. `nil`: the URL's user and password as Basic
  /// authentication, if it has them.
  public var authorization: String?
  /// Further request headers in the order given. They may replace `Accept`, `User-Agent` and `Authorization`,
  /// not `Host` and what frames a request.
  public var headers: [(name: String, value: String)] = []
  /// The value of the `User-Agent` header.
  public var userAgent = "shelfmark"

  /// The longest time for name resolution, TCP and TLS together, per attempt.
  public var connectTimeout: Duration = .seconds(10)
  /// The longest silence of the server: before the head of its answer and between two chunks of the body.
  /// Time that the caller spends on a chunk does not count.
  public var idleTimeout: Duration = .seconds(30)
  /// The lowest rate of the body, in bytes a second; 0 accepts any. An attempt whose body is slower over
  /// ``minimumRateWindow`` is given up. Time that the caller spends on a chunk does not count.
  public var minimumRate = 1000
  /// How long the body may be slower than ``minimumRate``.
  public var minimumRateWindow: Duration = .seconds(30)
  /// The longest time for everything: all attempts, the pauses between them, and the caller's own time.
  public var totalTimeout: Duration = .seconds(3600)

  /// How many redirects one attempt follows; 0 follows none.
  public var maximumRedirects = 5
  /// The longest body taken, in bytes as they come over the wire.
  public var maximumBodyByteCount = 8 << 30

  /// Whether the server's certificate and host name are checked. Turning this off gives the catalogue and the
  /// credentials to whoever sits on the line; meant for a test bench.
  public var verifiesCertificates = true
  /// A PEM file of certificates to trust *instead of* the system's, for a company's own authority.
  public var certificateAuthorityFile: String?

  /// Through which proxies servers are asked; without other rules through none.
  public var proxies = ProxyRules()

  /// What messages call these options; see ``TransportError/description(naming:)``.
  public var names = OptionNames()

  /// How often and after which pauses a failed attempt is repeated.
  public var retry = RetryPolicy()
  /// Called before each pause; for progress and logs. It must not block.
  public var onRetry: (@Sendable (RetryNotice) -> Void)?

  /// Creates the default options; see ``TransportOptions``.
  public init() {}
}

/// An attempt failed and another one follows after a pause.
public struct RetryNotice: Sendable {
  /// The number of the attempt that failed, from 1.
  public var attempt: Int
  /// The number of attempts that the policy allows, as in ``RetryPolicy/maximumAttempts``.
  public var maximumAttempts: Int
  /// How long the transport waits now.
  public var pause: Duration
  /// Why the attempt failed.
  public var error: TransportError
}
