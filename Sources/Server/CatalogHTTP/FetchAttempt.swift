import CurlClient
import HTTPSupport

/// One attempt of a fetch: a connection for each hop, the request with its redirects, and the body.
///
/// Every wait for the server has a limit. No limit runs while the caller processes a chunk, so a slow disk is never
/// mistaken for a slow server.
struct FetchAttempt: Sendable {
  let transport: HTTPTransport
  let attempt: Int
  /// The end of the attempt, on the machine's clock.
  private let deadline: ContinuousClock.Instant
  // One fetch uses one connection for each hop: the server may be closing a connection that was used before, and a
  // redirect would then fail at random.
  private let client = HTTPClient(keepsConnections: false)

  var options: TransportOptions { transport.options }

  /// - Parameter deadline: The end of the fetch, on the clock of the transport's environment.
  /// - Throws: `AttemptFailure` for a certificate authority file that cannot be used.
  init(transport: HTTPTransport, attempt: Int, deadline: ContinuousClock.Instant) throws(AttemptFailure) {
    self.transport = transport
    self.attempt = attempt
    self.deadline = .now + (deadline - transport.environment.now())
    try TLSSettings.check(transport.options)
  }

  // MARK: Request

  /// A response whose body was not read yet.
  struct Answer {
    let head: ResponseHead
    let body: HTTPExchange
    let url: RequestURL
    let redirectCount: Int
  }

  /// Sends the request, and follows redirects until a response with status 200.
  func request(cursor: String) async throws -> Answer {
    var url = transport.base.asking(cursor: cursor)
    for redirectCount in 0...options.maximumRedirects {
      let (head, body) = try await head(of: url)
      switch head.status {
      case 200:
        return Answer(head: head, body: body, url: url, redirectCount: redirectCount)
      case 301, 302, 303, 307, 308:
        body.cancel()
        guard let location = head["Location"] else {
          throw failure(
            .notUnderstood(url: shown(url), reason: "redirect without target", attempts: attempt))
        }
        do { url = try url.redirected(to: location, cursor: cursor) } catch { throw failure(error) }
      default:
        throw await refusal(head, body, url: url)
      }
    }
    throw failure(.tooManyRedirects(url: transport.base.display, maximum: options.maximumRedirects))
  }

  private func head(of url: RequestURL) async throws -> (ResponseHead, HTTPExchange) {
    var request = ClientRequest(url: url.text)
    request.headers = transport.headers
    do { request.proxy = try options.proxies.proxy(for: url)?.client } catch { throw failure(error) }
    request.certificateAuthorityFile = options.certificateAuthorityFile
    request.verifiesCertificates = options.verifiesCertificates
    // One fetch uses one connection, so multiplexing has no benefit.
    request.isHTTP1Only = true
    request.connectTimeout = options.connectTimeout
    request.silenceTimeout = options.idleTimeout
    request.deadline = deadline
    do {
      let exchange = try client.begin(request)
      return (try await exchange.head(), exchange)
    } catch {
      var explained = try explain(error, url: url)
      if let error = error as? ClientError, error == .untrusted,
        let fault = await EncryptionFault(
          error, of: request, host: url.host, timeout: min(options.connectTimeout, .seconds(5)),
          now: transport.environment.secondsSince1970())
      {
        explained.error = .insecure(url: shown(url), reason: fault.reason)
      }
      throw explained
    }
  }

  /// The failure for an error response, with the beginning of its explanation.
  private func refusal(_ head: ResponseHead, _ body: HTTPExchange, url: RequestURL) async -> AttemptFailure {
    // Reporting the status alone is useful too: an explanation that is cut off or never arrives changes nothing.
    let beginning = (try? await body.prefix(1024, within: min(options.idleTimeout, .seconds(5)))) ?? []
    return AttemptFailure(
      error: .refused(
        url: shown(url), status: head.status, message: Self.explanation(beginning), attempts: attempt),
      isRetryable: RetryPolicy.isRetryable(status: head.status),
      retryAfter: head["Retry-After"].flatMap {
        RetryAfter.duration($0, sent: head["Date"], now: transport.environment.secondsSince1970())
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
    _ answer: Answer, onChunk: (Span<UInt8>) throws -> Void
  ) async throws -> Int {
    let url = answer.url
    let encoding = answer.head["Content-Encoding"] ?? "identity"
    guard encoding.lowercased() == "identity" else {
      throw failure(
        .notUnderstood(url: shown(url), reason: "Content-Encoding was not asked for", attempts: attempt))
    }
    // Absent if the body is chunked or ends with the connection.
    let length = answer.head["Content-Length"]
    let expected = length.flatMap { Int($0) }
    if let length, expected == nil {
      let reason = "Content-Length is \(length.prefix(40)), which is no length"
      throw failure(.notUnderstood(url: shown(url), reason: reason, attempts: attempt))
    }
    let tooLong = failure(.bodyTooLong(url: shown(url), maximum: options.maximumBodyByteCount))
    if let expected, expected > options.maximumBodyByteCount { throw tooLong }

    // Only its content tells then that the body is complete.
    var content = length == nil && answer.head["Transfer-Encoding"] == nil ? JSONCompleteness() : nil
    var received = 0
    var rate = RateGuard(bytesPerSecond: options.minimumRate, window: options.minimumRateWindow)
    while true {
      let chunk: [UInt8]?
      let start = ContinuousClock.now
      do { chunk = try await answer.body.nextPiece() } catch {
        throw try explainBreak(error, url: url, received: received, expected: expected)
      }
      guard let chunk else { break }
      guard rate.accepts(chunk.count, after: ContinuousClock.now - start) else {
        throw handing(received, in: timeout(.rate, url: url))
      }
      guard chunk.count <= options.maximumBodyByteCount - received else { throw tooLong }
      received += chunk.count
      content?.consume(chunk.span)
      try onChunk(chunk.span)
    }
    guard expected == nil || expected == received, content?.isCutShort != true else {
      throw cutShort(url, received: received, expected: expected)
    }
    return received
  }

  /// Why the body ended early: an exceeded limit, or a broken connection, which is reported to the operator as an
  /// incomplete response.
  private func explainBreak(
    _ error: any Error, url: RequestURL, received: Int, expected: Int?
  ) throws -> AttemptFailure {
    let explained = try explain(error, url: url)
    if case .timedOut = explained.error { return handing(received, in: explained) }
    return cutShort(url, received: received, expected: expected)
  }
}
