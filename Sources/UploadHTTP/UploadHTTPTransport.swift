import AsyncHTTPClient
import HTTPSupport
import NIOCore
import NIOHTTP1
import Storage
public import UploadQueue

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends uploads over HTTP, each with its id as `Idempotency-Key`. Redirects are not followed: they are answers.
///
///     let http = try UploadHTTPTransport(url: "https://example.com/uploads/{kind}")
///     let worker = UploadWorker(queue, transport: http.send)
///     try await worker.run()
///     try await http.shutdown()
public final class UploadHTTPTransport: Sendable {
  private let url: UploadURL
  private let options: UploadHTTPOptions
  private let client: HTTPClient

  /// Connects to nobody yet.
  ///
  /// - Parameters:
  ///   - url: with `{id}` and `{kind}` where these go, behind the host.
  ///   - options: how requests look, and how long they may take.
  /// - Throws: ``UploadHTTPError``.
  public init(url: String, options: UploadHTTPOptions = UploadHTTPOptions()) throws(UploadHTTPError) {
    self.url = try UploadURL(url)
    self.options = options
    for (name, value) in options.headers where !Self.isSendable(name: name, value: value) { throw .header(name) }
    if let agent = options.userAgent, !Self.isSendable(name: "User-Agent", value: agent) { throw .header("User-Agent") }
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.timeout.connect = TimeAmount(options.connectTimeout)
    // Whoever has the queue waits and tries again; a refused connection is to be known as one at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Whether a transport takes this as its URL.
  package static func isTemplate(_ url: String) -> Bool { (try? UploadURL(url)) != nil }

  /// Whether a transport takes this as one of its headers.
  package static func isSendable(name: String, value: String) -> Bool {
    let own =
      ["idempotency-key", "content-type", "content-encoding", "content-length", "transfer-encoding", "host"]
      + WebhookSignature.headerNames
    return HeaderField.isSendable(name: name, value: value, own: own)
  }

  /// Closes the connections. The transport sends nothing afterwards; owed once, before its last reference goes.
  public func shutdown() async throws { try await client.shutdown() }

  /// Sends one upload, and says what the server answered. Memory: the body, and once more where it is packed; of files a piece.
  ///
  /// - Throws: ``UploadNoAnswer`` if no answer arrived, which passes; `UploadQueueError` for a file that is not the one that was
  ///   enqueued.
  @Sendable public func send(_ upload: Upload) async throws -> UploadResponse {
    var request = HTTPClientRequest(url: try url.url(id: upload.id.text, kind: upload.kind))
    request.method = HTTPMethod(rawValue: options.method)
    for (name, value) in options.headers { request.headers.add(name: name, value: value) }
    request.headers.add(name: "Idempotency-Key", value: upload.id.text)
    try await add(body(of: upload), to: &request, id: upload.id.text)
    return try await execute(request, readsBody: options.readsResponses)
  }

  /// Sends several uploads in one request, under the id of the batch as `Idempotency-Key`, and says what the server answered. The
  /// payloads are in the body as they are; `{id}` in the URL is the batch's id. Memory: the body, and once more where it is packed.
  ///
  /// - Throws: what passes, such as a connection that is refused; `UploadRefusal` for a file, which no batch can have.
  @Sendable public func send(_ batch: UploadBatch) async throws -> UploadResponse {
    var request = HTTPClientRequest(url: try url.url(id: batch.id, kind: batch.kind))
    request.method = HTTPMethod(rawValue: options.method)
    for (name, value) in options.headers { request.headers.add(name: name, value: value) }
    request.headers.add(name: "Idempotency-Key", value: batch.id)
    try await add(body(of: batch), to: &request, id: batch.id)
    return try await execute(request, readsBody: true)
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

  private func execute(_ request: HTTPClientRequest, readsBody: Bool) async throws -> UploadResponse {
    let response = try await execute(request)
    let pause = response.headers.first(name: "Retry-After").flatMap {
      RetryAfter.duration($0, now: Int64(Date().timeIntervalSince1970))
    }
    var result = UploadResponse(status: Int(response.status.code), retryAfter: pause)
    guard readsBody else {
      result.message = await Self.text(response.body)
      return result
    }
    let body = await read(response.body)
    result.body = body
    if case .complete(let bytes) = body, !bytes.isEmpty {
      result.message = String(decoding: bytes.prefix(Self.longestText), as: UTF8.self)
    }
    return result
  }

  /// The whole body, if it comes in time and is not too long.
  private func read(_ body: HTTPClientResponse.Body) async -> UploadResponseBody {
    let (limit, bound) = (options.maximumResponseByteCount, options.timeout)
    return await withTaskGroup(of: UploadResponseBody?.self) { group in
      group.addTask {
        var bytes: [UInt8] = []
        do {
          for try await piece in body {
            guard bytes.count + piece.readableBytes <= limit else {
              return .incomplete("has more than \(limit) bytes")
            }
            bytes.append(contentsOf: piece.readableBytesView)
          }
          return .complete(bytes)
        } catch { return .incomplete("is cut off") }
      }
      group.addTask {
        try? await Task.sleep(for: bound)
        return nil
      }
      let result = await group.next() ?? nil
      group.cancelAll()
      return result ?? .incomplete("did not come within \(bound)")
    }
  }

  /// - Throws: ``UploadNoAnswer`` for what the client throws.
  private func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
    do { return try await client.execute(request, timeout: TimeAmount(options.timeout)) } catch {
      // A file that is read while it is sent has errors of its own.
      if Task.isCancelled || error is CancellationError || error is UploadQueueError || error is UploadRefusal {
        throw error
      }
      throw UploadNoAnswer(error, url: request.url)
    }
  }

  /// What the server says besides its status: for people only, so what is too long for them is not read, nor waited for.
  private static func text(_ body: HTTPClientResponse.Body) async -> String? {
    await withTaskGroup(of: ByteBuffer?.self) { group in
      group.addTask { try? await body.collect(upTo: longestText) }
      group.addTask {
        try? await Task.sleep(for: patience)
        return nil
      }
      let text = await group.next() ?? nil
      group.cancelAll()
      return text.flatMap { $0.readableBytes > 0 ? String(buffer: $0) : nil }
    }
  }

  private static let longestText = 4096
  private static let patience: Duration = .seconds(2)

  /// Adds the body of a request, and the headers that say what it is, who sends it, and that nobody changed it.
  ///
  /// Files are read, and bodies packed, where no other task has to wait for that. Files are read once more where they are signed:
  /// the signature comes before the body.
  private func add(_ body: UploadBody, to request: inout HTTPClientRequest, id: String) async throws {
    request.headers.add(name: "Content-Type", value: body.type)
    if options.isCompressed { request.headers.add(name: "Content-Encoding", value: "gzip") }
    if let agent = options.userAgent, request.headers["User-Agent"].isEmpty {
      request.headers.add(name: "User-Agent", value: agent)
    }
    let isCompressed = options.isCompressed
    var signature = WebhookSignature(options.secrets, id: id, timestamp: Int64(Date().timeIntervalSince1970))
    if body.hasFiles {
      let length: HTTPClientRequest.Body.Length = isCompressed ? .unknown : .known(Int64(body.byteCount))
      request.body = .stream(BodyPieces(body: body, isCompressed: isCompressed), length: length)
      if !options.secrets.isEmpty {
        signature = try await BlockingThread.run { [signature] in
          var signature = signature
          let reader = UploadBody.Reader(body, isCompressed: isCompressed)
          while let piece = try reader.next() { signature.update(piece) }
          return signature
        }
      }
    } else {
      let bytes =
        isCompressed
        ? try await BlockingThread.run { try body.bytes(isCompressed: true) } : try body.bytes(isCompressed: false)
      request.body = .bytes(bytes)
      signature.update(bytes)
    }
    if options.secrets.isEmpty { return }
    for (name, value) in signature.headers { request.headers.add(name: name, value: value) }
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
