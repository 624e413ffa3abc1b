import CurlClient
import HTTPSupport

/// One attempt of a fetch: a connection for each hop, the request with its redirects, and the body.
///
/// Every wait for the server has a limit. No limit runs while the caller processes a chunk, so a slow disk is never
/// mistaken for a slow server.
struct FetchAttempt: Sendable {
  let attempt: Int
  let options: TransportOptions
  let environment: TransportEnvironment
  let connections: FetchConnections
  /// The end of the attempt, on the machine's clock.
  private let deadline: ContinuousClock.Instant

  /// - Parameters:
  ///   - attempt: The number of the attempt, from 1.
  ///   - deadline: The end of the fetch, on the clock of the environment.
  /// - Throws: `AttemptFailure` for a certificate authority file that cannot be used.
  init(
    _ attempt: Int, _ options: TransportOptions, _ environment: TransportEnvironment,
    _ connections: FetchConnections, deadline: ContinuousClock.Instant
  ) throws(AttemptFailure) {
    self.attempt = attempt
    self.options = options
    self.environment = environment
    self.connections = connections
    self.deadline = .now + (deadline - environment.now())
    try TLSSettings.check(options)
  }

  // MARK: Request

  /// A response whose body was not read yet.
  struct Answer {
    let head: ResponseHead
    let body: HTTPExchange
    let url: RequestURL
    let redirectCount: Int
  }

  /// Sends the request, and follows redirects until a response with an accepted status.
  func answer(to request: FetchRequest) async throws -> Answer {
    var url = request.url
    for redirectCount in 0...options.maximumRedirects {
      let (head, body) = try await head(of: url, headers: request.headers)
      switch head.status {
      case _ where request.acceptedStatuses.contains(head.status):
        return Answer(head: head, body: body, url: url, redirectCount: redirectCount)
      case 301, 302, 303, 307, 308:
        if connections.areKept { _ = await beginning(of: body, atMost: 16_384) } else { body.cancel() }
        guard let location = head["Location"] else { throw misunderstanding(url, "redirect without target") }
        do { url = try url.redirected(to: location, cursor: request.cursor) } catch { throw failure(error) }
      default:
        throw await refusal(head, body, url: url, isRetryable: request.isRetryable(head.status))
      }
    }
    throw failure(.tooManyRedirects(url: request.url.display, maximum: options.maximumRedirects))
  }

  private func head(
    of url: RequestURL, headers: [(name: String, value: String)]
  ) async throws -> (ResponseHead, HTTPExchange) {
    var request = ClientRequest(url: url.text)
    request.headers = headers
    do { request.proxy = try options.proxies.proxy(for: url)?.client } catch { throw failure(error) }
    request.certificateAuthorityFile = options.certificateAuthorityFile
    request.verifiesCertificates = options.verifiesCertificates
    // One fetch uses one connection, so multiplexing has no benefit.
    request.isHTTP1Only = true
    request.connectTimeout = options.connectTimeout
    request.silenceTimeout = options.idleTimeout
    request.deadline = deadline
    do {
      let exchange = try connections.client.begin(request)
      connections.countRequest()
      let head = try await exchange.head()
      connections.count(bytesIn: head.byteCount)
      return (head, exchange)
    } catch {
      var explained = try explain(error, url: url)
      if let error = error as? ClientError, error == .untrusted,
        let fault = await EncryptionFault(
          error, of: request, host: url.host, timeout: min(options.connectTimeout, .seconds(5)),
          now: environment.secondsSince1970())
      {
        explained.error = .insecure(url: shown(url), reason: fault.reason)
      }
      throw explained
    }
  }

  /// The failure for an error response, with the beginning of its explanation.
  private func refusal(
    _ head: ResponseHead, _ body: HTTPExchange, url: RequestURL, isRetryable: Bool
  ) async -> AttemptFailure {
    let beginning = await beginning(of: body, atMost: 1024)
    return AttemptFailure(
      error: .refused(
        url: shown(url), status: head.status, message: Self.explanation(beginning), attempts: attempt),
      isRetryable: isRetryable, retryAfter: retryAfter(head))
  }

  /// How long a response asks to wait before the next request.
  func retryAfter(_ head: ResponseHead) -> Duration? {
    head["Retry-After"].flatMap {
      RetryAfter.duration($0, sent: head["Date"], now: environment.secondsSince1970())
    }
  }

  /// The first bytes of a body that explains a status, and the end of the exchange. The connection is usable for
  /// another request if the body has fewer bytes than `count`.
  ///
  /// - Returns: No bytes if the body is cut off or does not arrive soon: the status alone is useful too.
  func beginning(of body: HTTPExchange, atMost count: Int) async -> [UInt8] {
    let bytes = (try? await body.prefix(count, within: min(options.idleTimeout, .seconds(5)))) ?? []
    connections.count(bytesIn: bytes.count)
    return bytes
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

  /// The next piece of the body; `nil` at the end of a complete body.
  ///
  /// - Parameters:
  ///   - received: The bytes of the body so far.
  ///   - expected: The length that the answer announces.
  func nextPiece(
    of answer: Answer, _ rate: inout RateGuard, received: Int, expected: Int?
  ) async throws -> [UInt8]? {
    let piece: [UInt8]?
    let start = ContinuousClock.now
    do { piece = try await answer.body.nextPiece() } catch {
      throw try explainBreak(error, url: answer.url, received: received, expected: expected)
    }
    guard let piece else { return nil }
    connections.count(bytesIn: piece.count)
    guard rate.accepts(piece.count, after: ContinuousClock.now - start) else {
      throw handing(received, in: timeout(.rate, url: answer.url))
    }
    return piece
  }

  /// The length that an answer announces; `nil` if its body is chunked or ends with the connection.
  func contentLength(of answer: Answer) throws(AttemptFailure) -> Int? {
    guard let length = answer.head["Content-Length"] else { return nil }
    guard let expected = Int(length) else {
      throw misunderstanding(answer.url, "Content-Length is \(length.prefix(40)), which is no length")
    }
    return expected
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

/// A request of a fetch.
struct FetchRequest: Sendable {
  var url: RequestURL
  var headers: [(name: String, value: String)]
  /// The cursor in the URL, which a redirect keeps; `nil` if it has none.
  var cursor: String?
  /// The statuses of responses that the caller reads.
  var acceptedStatuses: Set<Int> = [200]
  /// Whether the same request may succeed later after a response with this status.
  var isRetryable: @Sendable (Int) -> Bool = { RetryPolicy.isRetryable(status: $0) }
}
