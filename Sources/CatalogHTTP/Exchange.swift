import AsyncHTTPClient
import HTTPSupport
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// One attempt of a fetch: a connection for each hop, the request with its redirects, and the body.
///
/// Every wait for the server has a timeout. When a timeout fires, it shuts down the attempt's client, which ends any
/// wait, and records which limit was exceeded. No timeout runs while the caller processes a chunk, so a slow disk is
/// never mistaken for a slow server.
final class Exchange: Sendable {
  let transport: HTTPTransport
  let attempt: Int
  let deadline: ContinuousClock.Instant
  private let tls: TLSConfiguration
  /// The client of the current hop; `nil` before the first one.
  let client = Mutex<HTTPClient?>(nil)
  /// The timeout of a request whose response has not begun; `nil` if there is no such request.
  let headAlarm = Mutex<Scheduled<Void>?>(nil)
  /// The limit whose timeout fired first.
  let passedLimit = Mutex<TransportError.TimeLimit?>(nil)

  var options: TransportOptions { transport.options }

  /// - Throws: `AttemptFailure` for a certificate authority file that cannot be used.
  init(transport: HTTPTransport, attempt: Int, deadline: ContinuousClock.Instant) throws(AttemptFailure) {
    self.transport = transport
    self.attempt = attempt
    self.deadline = deadline
    tls = try TLSSettings.configuration(transport.options)
  }

  /// Begins a hop: creates a client that connects to `url` directly or through its proxy, and replaces the previous
  /// one.
  private func makeClient(_ url: RequestURL, _ proxy: HTTPProxy?) async -> HTTPClient {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: .init(connect: TimeAmount(options.connectTimeout)))
    // Only the transport retries, because it counts and reports retries.
    configuration.connectionPool.retryConnectionEstablishment = false
    // One fetch uses one connection, so multiplexing has no benefit.
    configuration.httpVersion = .http1Only
    // The server may be closing a reused connection; a redirect would then fail at random.
    configuration.maximumUsesPerConnection = 1
    switch (url.scheme, proxy) {
    case (.https, let proxy?):
      configuration.proxy = .server(
        host: proxy.host, port: proxy.port,
        authorization: proxy.credentials.map { .basic(credentials: Basic.encoded($0)) })
    case (.http, _?), (_, nil): break
    }
    let target = url.scheme == .http && proxy != nil ? url.text : nil
    // The connection is open, including TLS and a tunnel; the request is sent next.
    configuration.http1_1ConnectionDebugInitializer = { channel in
      do throws(AttemptFailure) { try self.beginSilence(of: url) } catch {
        return channel.eventLoop.makeFailedFuture(error)
      }
      return target.map { AbsoluteForm.add($0, to: channel) } ?? channel.eventLoop.makeSucceededVoidFuture()
    }
    let new = HTTPClient(configuration: configuration)
    let former = client.withLock { client in
      defer { client = new }
      return client
    }
    try? await former?.shutdown()
    return new
  }

  /// Closes the connection, whatever its state.
  func end() async {
    // It fails only if a timeout has already shut down the client.
    try? await client.withLock { $0 }?.shutdown()
  }

  // MARK: Request

  /// Sends the request, and follows redirects until a response with status 200.
  func request(
    cursor: String
  ) async throws -> (response: HTTPClientResponse, url: RequestURL, redirectCount: Int) {
    var url = transport.base.asking(cursor: cursor)
    for redirectCount in 0...options.maximumRedirects {
      let response = try await head(of: url)
      switch response.status.code {
      case 200:
        return (response, url, redirectCount)
      case 301, 302, 303, 307, 308:
        guard let location = response.headers.first(name: "Location") else {
          throw failure(
            .notUnderstood(url: shown(url), reason: "redirect without target", attempts: attempt))
        }
        do { url = try url.redirected(to: location, cursor: cursor) } catch { throw failure(error) }
      case let status:
        throw await refusal(response, status: Int(status), url: url)
      }
    }
    throw failure(.tooManyRedirects(url: transport.base.display, maximum: options.maximumRedirects))
  }

  private func head(of url: RequestURL) async throws -> HTTPClientResponse {
    let proxy: HTTPProxy?
    do { proxy = try options.proxies.proxy(for: url) } catch { throw failure(error) }
    let client = await makeClient(url, proxy)
    let alarm = try setAlarm(options.connectTimeout, for: .connect, url: url)
    headAlarm.withLock { $0 = alarm }
    defer { headAlarm.withLock { $0.take() }?.cancel() }
    do {
      return try await client.execute(request(for: url, through: proxy), deadline: .distantFuture)
    } catch {
      var explained = try explain(error, url: url)
      if proxy == nil, TLSReason.isDistrust(error),
        let certificate = await PeerCertificate.of(url, timeout: min(options.connectTimeout, .seconds(5)))
      {
        let reason = certificate.reason(now: transport.environment.secondsSince1970())
        explained.error = .insecure(url: shown(url), reason: reason)
      }
      throw explained
    }
  }

  private func request(for url: RequestURL, through proxy: HTTPProxy?) -> HTTPClientRequest {
    guard url.scheme == .http, let proxy else {
      var request = HTTPClientRequest(url: url.text)
      request.headers = transport.headers
      return request
    }
    // The request goes to the proxy; ``AbsoluteForm`` adds the server.
    var request = HTTPClientRequest(url: "http://\(proxy.display)/")
    request.headers = transport.headers
    request.headers.add(name: "Host", value: url.authority)
    if let credentials = proxy.credentials {
      request.headers.add(name: "Proxy-Authorization", value: "Basic \(Basic.encoded(credentials))")
    }
    return request
  }

  /// The failure for an error response, with the beginning of its explanation.
  private func refusal(_ response: HTTPClientResponse, status: Int, url: RequestURL) async -> AttemptFailure {
    var beginning: [UInt8] = []
    var body = response.body.makeAsyncIterator()
    // Reporting the status alone is useful too: an explanation that is cut off or never arrives changes nothing.
    if let alarm = try? setAlarm(min(options.idleTimeout, .seconds(5)), for: .idle, url: url) {
      while beginning.count < 1024, let chunk = try? await body.next() {
        beginning += chunk.readableBytesView.prefix(1024)
      }
      alarm.cancel()
    }
    return AttemptFailure(
      error: .refused(
        url: shown(url), status: status, message: Self.explanation(beginning), attempts: attempt),
      isRetryable: RetryPolicy.isRetryable(status: status),
      retryAfter: response.headers.first(name: "Retry-After").flatMap {
        RetryAfter.duration($0, now: transport.environment.secondsSince1970())
      })
  }

  /// The first line of an error response's body, if it is plain text and not a page.
  static func explanation(_ body: [UInt8]) -> String? {
    let line = String(decoding: body, as: UTF8.self)
      .split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) }
    guard let line, !line.hasPrefix("<"),
      line.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { return nil }
    return line
  }

  // MARK: Body

  /// Passes the body on chunk by chunk, and verifies that it is complete.
  ///
  /// - Returns: The length of the body in bytes.
  nonisolated(nonsending) func readBody(
    _ response: HTTPClientResponse, of url: RequestURL, onChunk: (Span<UInt8>) throws -> Void
  ) async throws -> Int {
    let encoding = response.headers.first(name: "Content-Encoding") ?? "identity"
    guard encoding.lowercased() == "identity" else {
      throw failure(
        .notUnderstood(url: shown(url), reason: "Content-Encoding was not asked for", attempts: attempt))
    }
    // Absent if the body is chunked or ends with the connection.
    let expected = response.headers.first(name: "Content-Length").flatMap { Int($0) }
    let tooLong = failure(.bodyTooLong(url: shown(url), maximum: options.maximumBodyByteCount))
    if let expected, expected > options.maximumBodyByteCount { throw tooLong }

    var received = 0
    var rate = RateGuard(bytesPerSecond: options.minimumRate, window: options.minimumRateWindow)
    var body = response.body.makeAsyncIterator()
    while true {
      let chunk: ByteBuffer?
      let start = ContinuousClock.now
      do {
        let alarm = try setAlarm(options.idleTimeout, for: .idle, url: url)
        defer { alarm.cancel() }
        chunk = try await body.next()
      } catch {
        throw try explainBreak(error, url: url, received: received, expected: expected)
      }
      guard let chunk else { break }
      guard rate.accepts(chunk.readableBytes, after: ContinuousClock.now - start) else {
        throw handing(received, in: timeout(.rate, url: url))
      }
      guard chunk.readableBytes <= options.maximumBodyByteCount - received else { throw tooLong }
      received += chunk.readableBytes
      try onChunk(chunk.readableBytesUInt8Span)
    }
    // The stream of a cancelled task, or of a client that a timeout shut down, may end without an error.
    try Task.checkCancellation()
    if let limit = passedLimit.withLock({ $0 }) { throw handing(received, in: timeout(limit, url: url)) }
    guard expected == nil || expected == received else {
      throw cutShort(url, received: received, expected: expected)
    }
    return received
  }

  /// Why the body ended early: an exceeded limit, or a broken connection, which is reported to the operator as an
  /// incomplete response.
  private func explainBreak(
    _ error: any Error, url: RequestURL, received: Int, expected: Int?
  ) throws -> AttemptFailure {
    let explained =
      if let failure = error as? AttemptFailure { failure } else { try explain(error, url: url) }
    if case .timedOut = explained.error { return handing(received, in: explained) }
    return cutShort(url, received: received, expected: expected)
  }
}
