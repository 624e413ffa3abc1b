import CurlClient
import Essentials
import HTTPSupport
import Platform
public import UploadQueue

/// Sends uploads over HTTP, each with its id as `Idempotency-Key`. Redirects are not followed: they are answers.
///
///     let http = try UploadHTTPTransport(url: "https://example.com/uploads/{kind}")
///     let worker = UploadWorker(queue, transport: http.send)
///     try await worker.run()
///     try await http.shutdown()
public final class UploadHTTPTransport: Sendable {
  private let url: UploadURL
  private let options: UploadHTTPOptions
  private let client = HTTPClient()

  /// Creates a transport. Opens no connection.
  ///
  /// - Parameters:
  ///   - url: The URL, with `{id}` and `{kind}` after the host where these belong.
  ///   - options: The format of requests, and their timeouts.
  /// - Throws: ``UploadHTTPError``.
  public init(url: String, options: UploadHTTPOptions = UploadHTTPOptions()) throws(UploadHTTPError) {
    self.url = try UploadURL(url)
    self.options = options
    for (name, value) in options.headers where !Self.isSendable(name: name, value: value) { throw .header(name) }
    if let agent = options.userAgent, !Self.isSendable(name: "User-Agent", value: agent) { throw .header("User-Agent") }
  }

  /// Whether this is a valid URL of a transport.
  package static func isTemplate(_ url: String) -> Bool { (try? UploadURL(url)) != nil }

  /// Whether this can be one of the additional headers of a transport.
  package static func isSendable(name: String, value: String) -> Bool {
    let own =
      ["idempotency-key", "content-type", "content-encoding", "content-length", "transfer-encoding", "host"]
      + WebhookSignature.headerNames
    return HeaderField.isSendable(name: name, value: value, own: own)
  }

  /// Loads the system's libcurl, which otherwise the first upload does.
  ///
  /// - Throws: `UploadPause` if it cannot be used, with the reason and the remedy.
  public static func load() throws(UploadPause) {
    do { _ = try HTTPClient.version() } catch { throw UploadPause(error.reason(host: "")) }
  }

  /// Closes each connection after its request has ended.
  public func shutdown() async throws { client.shutdown() }

  /// Sends one upload, and returns the server's response. Memory: the body, twice if it is compressed; one piece of a
  /// file.
  ///
  /// - Throws: ``UploadNoAnswer`` if no response arrived, a temporary failure; `UploadPause` without libcurl;
  ///   `UploadQueueError` for a file that was changed after it was enqueued.
  @Sendable public func send(_ upload: Upload) async throws -> UploadResponse {
    let url = try url.url(id: upload.id.text, kind: upload.kind)
    return try await execute(
      request(to: url, body(of: upload), id: upload.id.text), readsBody: options.readsResponses)
  }

  /// Sends several uploads in one request, with the id of the batch as `Idempotency-Key` and `{id}`, and returns the
  /// server's response. Memory: the body, twice if it is compressed.
  ///
  /// - Throws: ``UploadNoAnswer`` if no response arrived, a temporary failure; `UploadRefusal` for a file, which a batch
  ///   cannot contain.
  @Sendable public func send(_ batch: UploadBatch) async throws -> UploadResponse {
    let url = try url.url(id: batch.id, kind: batch.kind)
    return try await execute(request(to: url, body(of: batch), id: batch.id), readsBody: true)
  }

  private func body(of batch: UploadBatch) throws -> UploadBody {
    let isArray = options.batchFormat == .array
    var bytes: [UInt8] = isArray ? [UInt8(ascii: "[")] : []
    for (index, upload) in batch.uploads.enumerated() {
      guard upload.payload.files.isEmpty, let json = upload.payload.json else {
        throw UploadRefusal("the file \(upload.id) cannot be part of a batch")
      }
      if isArray, index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += isArray ? json.bytes : json.line
      if !isArray { bytes.append(UInt8(ascii: "\n")) }
    }
    if isArray { bytes.append(UInt8(ascii: "]")) }
    return UploadBody(type: isArray ? "application/json" : "application/x-ndjson", [.bytes(bytes)])
  }

  /// - Throws: ``UploadNoAnswer`` for an error of the client; `UploadPause` without libcurl.
  private func execute(_ request: ClientRequest, readsBody: Bool) async throws -> UploadResponse {
    let (head, exchange) = try await head(of: request)
    let pause = head["Retry-After"].flatMap {
      RetryAfter.duration($0, sent: head["Date"], now: Int64(Date().timeIntervalSince1970))
    }
    var result = UploadResponse(status: head.status, retryAfter: pause)
    guard readsBody else {
      let beginning = await Self.beginning(exchange)
      result.message = beginning.count <= Self.longestText ? Self.text(beginning) : nil
      explainPage(beginning, &result)
      return result
    }
    let body = await read(exchange)
    result.body = body
    if case .complete(let bytes) = body, !bytes.isEmpty {
      result.message = Self.text(bytes.prefix(Self.longestText))
      explainPage(bytes, &result)
    }
    return result
  }

  /// Marks a response whose body is a web page, unless it is accepted, and names it by its title.
  private func explainPage(_ body: [UInt8], _ response: inout UploadResponse) {
    guard !options.acceptsHTML, let page = WebPage(body) else { return }
    response.isPage = true
    let title = page.title.map { " with the title \"\($0)\"" } ?? ""
    response.message =
      (200...299).contains(response.status)
      ? page.title.map { "\"\($0)\"" } : "a web page (HTML)\(title), perhaps of a proxy"
  }

  private func head(of request: ClientRequest) async throws -> (ResponseHead, HTTPExchange) {
    do {
      let exchange = try client.begin(request)
      return (try await exchange.head(), exchange)
    } catch let error as ClientError {
      try Task.checkCancellation()
      if case .noLibrary(let reason) = error { throw UploadPause("nothing can be sent: \(reason)") }
      throw await UploadNoAnswer(error, of: request, options)
    }
  }

  /// Returns the complete body, if it arrives in time and is not too long.
  private func read(_ exchange: HTTPExchange) async -> UploadResponseBody {
    let (limit, bound) = (options.maximumResponseByteCount, options.timeout)
    do {
      guard let bytes = try await exchange.prefix(limit + 1, within: bound) else {
        return .incomplete("did not come within \(bound)")
      }
      return bytes.count > limit ? .incomplete("has more than \(limit) bytes") : .complete(bytes)
    } catch { return .incomplete("is cut off") }
  }

  /// Returns the beginning of a body that is for people only. What does not arrive soon is dropped.
  private static func beginning(_ exchange: HTTPExchange) async -> [UInt8] {
    (try? await exchange.prefix(longestText + 1, within: textTimeout)) ?? []
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String? {
    bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static let longestText = 4096
  private static let textTimeout: Duration = .seconds(2)

  /// Returns a request with its body, its type, and its signatures.
  ///
  /// Files that are signed are read twice, because the signature is sent before the body.
  private func request(to url: String, _ body: UploadBody, id: String) async throws -> ClientRequest {
    var request = ClientRequest(url: url)
    request.method = options.method
    request.connectTimeout = options.connectTimeout
    request.certificateAuthorityFile = options.certificateAuthorityFile
    request.headTimeout = options.timeout
    request.headers = options.headers
    request.headers += [("Idempotency-Key", id), ("Content-Type", body.type)]
    if options.isCompressed { request.headers.append(("Content-Encoding", "gzip")) }
    if let agent = options.userAgent, !options.headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
      request.headers.append(("User-Agent", agent))
    }
    let (secrets, isCompressed) = (options.secrets, options.isCompressed)
    let timestamp = Int64(Date().timeIntervalSince1970)
    if body.hasFiles {
      request.body = body.requestBody(isCompressed: isCompressed)
      if secrets.isEmpty { return request }
      request.headers += try await BlockingThread.run {
        let signature = try WebhookSignature(secrets, id: id, timestamp: timestamp)
        let reader = UploadBody.Reader(body, isCompressed: isCompressed)
        while let piece = try reader.next() { try signature.update(piece) }
        return try signature.headers()
      }
    } else {
      let bytes =
        isCompressed
        ? try await BlockingThread.run { try body.bytes(isCompressed: true) } : try body.bytes(isCompressed: false)
      request.body = ClientBody(bytes)
      let signature = try WebhookSignature(secrets, id: id, timestamp: timestamp)
      try signature.update(bytes)
      request.headers += try signature.headers()
    }
    return request
  }

  private func body(of upload: Upload) -> UploadBody {
    let json = upload.payload.json
    if options.body == .json, let json, upload.payload.files.isEmpty {
      return UploadBody(type: "application/json", [.bytes(json.bytes)])
    }
    var form = UploadForm(upload)
    if let json { form.add(json) }
    switch upload.payload {
    case .value, .json: break
    case .file(let file):
      if options.body == .json { return UploadBody(type: "application/octet-stream", [.file(file)]) }
      form.add(file)
    case .document(_, let files):
      for file in files { form.add(file.file, name: file.name, contentType: file.contentType) }
    }
    return form.body
  }
}
