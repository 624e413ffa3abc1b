import CurlClient
import HTTPSupport
import Platform

extension S3Store {
  private static let backoff = Backoff(first: .milliseconds(500), longest: .seconds(20))
  /// The cap of a server's `Retry-After`.
  private static let longestRetryAfter: Duration = .seconds(60)
  /// The largest answer that explains a refusal.
  private static let longestRefusal = 64 << 10
  /// The time for an answer, on top of that for the bytes.
  private static let answerTimeout: Duration = .seconds(60)
  /// The slowest line for which a request waits, in bytes a second.
  private static let slowestRate = 10_000

  /// Sends a request about an object, again if it fails for a reason that may pass.
  ///
  /// - Parameters:
  ///   - body: `nil` for a request without a body.
  ///   - limit: The largest number of bytes of the object.
  /// - Returns: The answer, whatever its status.
  func send(
    _ method: String, _ name: String, headers: [(String, String)] = [], body: [UInt8]? = nil, limit: Int = 0
  ) async throws(ObjectStoreError) -> S3Answer {
    try ObjectName.check(name)
    let hash = try SHA256Text.text(of: body ?? [])
    var mayHaveWritten = false
    var hasNewCredentials = false
    var attempt = 1
    while true {
      if Task.isCancelled { throw .cancelled }
      let credentials = try await credentials.current()
      let request = request(method, name, headers: headers, body: body, hash: hash, credentials)
      var pause = Self.backoff.pause(afterFailure: attempt, fraction: timing.random())
      do {
        var answer = try await perform(request, name, limit: limit)
        answer.mayHaveWritten = mayHaveWritten
        answer.key = credentials.accessKey
        if answer.hasSessionEnded, !hasNewCredentials, await self.credentials.drop(credentials) {
          hasNewCredentials = true
          continue
        }
        guard answer.mayPass, attempt < options.maximumAttempts else { return answer }
        // A gateway that gave up may have handed the request on.
        if answer.status >= 500 { mayHaveWritten = true }
        if let wait = answer.retryAfter(now: timing.now()) { pause = max(pause, min(wait, Self.longestRetryAfter)) }
      } catch {
        guard error.mayPass, attempt < options.maximumAttempts else { throw error.error }
        mayHaveWritten = true
      }
      do { try await timing.sleep(pause) } catch { throw .cancelled }
      attempt += 1
    }
  }

  private func request(
    _ method: String, _ name: String, headers: [(String, String)], body: [UInt8]?, hash: String,
    _ credentials: S3Credentials
  ) -> ClientRequest {
    var request = ClientRequest(url: endpoint.base + location.key(name))
    request.method = method
    request.headers = headers.map { (name: $0.0, value: $0.1) }
    request.headers.append(("x-amz-content-sha256", hash))
    if let token = credentials.sessionToken { request.headers.append(("x-amz-security-token", token)) }
    request.body = body.map { ClientBody($0) }
    request.proxy = options.proxy
    request.certificateAuthorityFile = options.certificateAuthorityFile
    request.signature = ClientSignature(
      provider: "aws:amz:\(region):s3", accessKey: credentials.accessKey, secret: credentials.secret)
    if let body {
      request.headTimeout = Self.answerTimeout + .seconds(body.count / Self.slowestRate)
    } else {
      request.silenceTimeout = Self.answerTimeout
    }
    return request
  }

  /// Why an attempt got no answer.
  private struct FailedAttempt: Error {
    var error: ObjectStoreError
    /// Whether another attempt may get one.
    var mayPass = false
  }

  /// Makes one attempt.
  private func perform(
    _ request: ClientRequest, _ name: String, limit: Int
  ) async throws(FailedAttempt) -> S3Answer {
    do {
      let exchange = try client.begin(request)
      // Ends the request, if the body was not read to its end.
      defer { exchange.cancel() }
      let head = try await exchange.head()
      var answer = S3Answer(head)
      let isObject = request.method == "GET" && head.status == 200
      let limit = isObject ? limit : Self.longestRefusal
      while let piece = try await exchange.nextPiece() {
        answer.body += piece
        if answer.body.count <= limit { continue }
        if isObject { throw FailedAttempt(error: .tooLarge(store: description, name: name, limit: limit)) }
        break
      }
      return answer
    } catch let error as FailedAttempt {
      throw error
    } catch let error as ClientError {
      let reason = error.reason(host: endpoint.host, proxy: options.proxy?.url)
      let unreachable = ObjectStoreError.unreachable(store: description, reason: "\(endpoint.host): \(reason)")
      switch error {
      case .noLibrary: throw FailedAttempt(error: .noLibrary(reason: reason))
      // What a person has to change does not pass.
      case .untrusted, .otherHost, .noEncryption, .authorityFile, .proxyAuthentication, .proxyEncryption:
        throw FailedAttempt(error: unreachable)
      default: throw FailedAttempt(error: unreachable, mayPass: true)
      }
    } catch { throw FailedAttempt(error: .cancelled) }
  }
}
