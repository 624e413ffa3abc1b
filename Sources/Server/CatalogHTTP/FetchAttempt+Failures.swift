import CurlClient

/// Descriptions of failed attempts for the operator.
extension FetchAttempt {
  /// A URL as shown in errors, with the proxy that is used for it.
  func shown(_ url: RequestURL) -> String {
    guard let proxy = (try? options.proxies.proxy(for: url)) ?? nil else { return url.display }
    return "\(url.display) (through the proxy \(proxy.display))"
  }

  /// Describes the client's error for the operator.
  ///
  /// - Throws: `CancellationError` if the task was cancelled; the client's error does not matter then.
  func explain(_ error: any Error, url: RequestURL) throws -> AttemptFailure {
    try Task.checkCancellation()
    guard let error = error as? ClientError else { throw error }
    let proxy = ((try? options.proxies.proxy(for: url)) ?? nil)?.host
    let reason = error.reason(host: url.host, proxy: proxy)
    let unreachable = TransportError.unreachable(url: shown(url), reason: reason, attempts: attempt)
    switch error {
    case .timedOut(.connect): return timeout(.connect, url: url)
    case .timedOut(.silence): return timeout(.idle, url: url)
    case .timedOut(.deadline): return timeout(.total, url: url)
    case .noLibrary(let reason): return failure(.noLibrary(reason: reason))
    case .proxyAuthentication: return failure(unreachable)
    case .authorityFile:
      if let path = options.certificateAuthorityFile { return TLSSettings.noCertificates(path) }
      return failure(.insecure(url: shown(url), reason: error.encryptionReason(host: url.host)))
    case .untrusted, .otherHost, .noEncryption:
      return failure(.insecure(url: shown(url), reason: error.encryptionReason(host: url.host)))
    case .proxyEncryption:
      return failure(.insecure(url: shown(url), reason: error.encryptionReason(host: proxy ?? url.host)))
    case .notHTTP:
      return retryable(.notUnderstood(url: shown(url), reason: "no HTTP answer", attempts: attempt))
    case .nameNotFound, .proxyRefused, .closed, .other: return retryable(unreachable)
    }
  }

  func timeout(_ limit: TransportError.TimeLimit, url: RequestURL) -> AttemptFailure {
    let duration =
      switch limit {
      case .connect: options.connectTimeout
      case .idle: options.idleTimeout
      case .rate: options.minimumRateWindow
      case .total: options.totalTimeout
      }
    let error = TransportError.timedOut(
      url: shown(url), limit: limit, seconds: duration / .seconds(1), attempts: attempt)
    return AttemptFailure(error: error, isRetryable: limit != .total)
  }

  func cutShort(_ url: RequestURL, received: Int, expected: Int?) -> AttemptFailure {
    let error = TransportError.bodyCutShort(
      url: shown(url), received: received, expected: expected, attempts: attempt)
    return handing(received, in: retryable(error))
  }

  func handing(_ byteCount: Int, in failure: AttemptFailure) -> AttemptFailure {
    var failure = failure
    failure.handedByteCount = byteCount
    return failure
  }

  /// The failure for a response that breaks the rules of HTTP, or is not the one that was asked for.
  func misunderstanding(_ url: RequestURL, _ reason: String) -> AttemptFailure {
    failure(.notUnderstood(url: shown(url), reason: reason, attempts: attempt))
  }

  func failure(_ error: TransportError) -> AttemptFailure {
    AttemptFailure(error: error, isRetryable: false)
  }

  func retryable(_ error: TransportError) -> AttemptFailure {
    AttemptFailure(error: error, isRetryable: true)
  }
}
