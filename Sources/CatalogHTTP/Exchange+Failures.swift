import AsyncHTTPClient
import HTTPSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Timeouts, and descriptions of failed attempts for the operator.
extension Exchange {
  /// A URL as shown in errors, with the proxy that is used for it.
  func shown(_ url: RequestURL) -> String {
    guard let proxy = (try? options.proxies.proxy(for: url)) ?? nil else { return url.display }
    return "\(url.display) (through the proxy \(proxy.display))"
  }

  /// Schedules a timeout that ends the attempt after `limit` or the rest of the total time, whichever is shorter.
  func setAlarm(
    _ duration: Duration, for limit: TransportError.TimeLimit, url: RequestURL
  ) throws(AttemptFailure) -> Scheduled<Void> {
    let remaining = deadline - transport.environment.now()
    guard remaining > .zero else { throw timeout(.total, url: url) }
    let ringing = remaining < duration ? TransportError.TimeLimit.total : limit
    let group = client.withLock { $0?.eventLoopGroup } ?? HTTPClient.defaultEventLoopGroup
    return group.any().scheduleTask(in: TimeAmount(min(duration, remaining))) {
      self.passedLimit.withLock { $0 = $0 ?? ringing }
      self.client.withLock { $0 }?.shutdown { _ in }
    }
  }

  /// Replaces the connection timeout by the idle timeout after the connection is open.
  ///
  /// - Throws: `AttemptFailure` if the total time is over.
  func beginSilence(of url: RequestURL) throws(AttemptFailure) {
    // The request may have been given up while its connection was being made.
    guard let former = headAlarm.withLock({ $0.take() }) else { return }
    former.cancel()
    let alarm = try setAlarm(options.idleTimeout, for: .idle, url: url)
    headAlarm.withLock { $0 = alarm }
  }

  /// Describes the client's error for the operator.
  ///
  /// - Throws: `CancellationError` if the task was cancelled; the client's error does not matter then.
  func explain(_ error: any Error, url: RequestURL) throws -> AttemptFailure {
    try Task.checkCancellation()
    if error is CancellationError { throw error }
    if let limit = passedLimit.withLock({ $0 }) { return timeout(limit, url: url) }
    if let failure = error as? AttemptFailure { return failure }
    func unreachable(_ reason: String) -> AttemptFailure {
      retryable(.unreachable(url: shown(url), reason: reason, attempts: attempt))
    }
    switch error {
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first { return unreachable(SystemReason.text(first.error)) }
      return unreachable("the name \(error.host) was not found")
    case let error as HTTPClientError:
      let connecting: [HTTPClientError] = [
        .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout,
      ]
      if connecting.contains(error) { return timeout(.connect, url: url) }
      if error == .proxyAuthenticationRequired {
        return failure(
          .unreachable(url: shown(url), reason: "the proxy asks for a user and password", attempts: attempt))
      }
      if error == .invalidProxyResponse { return unreachable("the proxy refused to connect to the server") }
      return unreachable(
        error == .remoteConnectionClosed ? "closed without an answer" : error.shortDescription)
    case NIOSSLError.uncleanShutdown:
      return unreachable("closed without an answer")
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
      return failure(.insecure(url: shown(url), reason: TLSReason.reason(error, host: url.host)))
    case is HTTPParserError:
      return retryable(.notUnderstood(url: shown(url), reason: "no HTTP answer", attempts: attempt))
    default:
      return unreachable(SystemReason.text(error))
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

  func failure(_ error: TransportError) -> AttemptFailure {
    AttemptFailure(error: error, isRetryable: false)
  }

  func retryable(_ error: TransportError) -> AttemptFailure {
    AttemptFailure(error: error, isRetryable: true)
  }
}
