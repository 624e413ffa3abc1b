import AsyncHTTPClient
import CatalogHTTP
import CatalogWire
import DocumentFormat
import NIOCore
import NIOHTTP1
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
    let own = ["idempotency-key", "content-type", "content-encoding", "content-length", "transfer-encoding", "host"]
    return HeaderField.isSendable(name: name, value: value, own: own)
  }

  /// Closes the connections. The transport sends nothing afterwards; owed once, before its last reference goes.
  public func shutdown() async throws { try await client.shutdown() }

  /// Sends one upload, and says what the server answered. Memory: the body, and once more where it is packed.
  ///
  /// - Throws: ``UploadNoAnswer`` where there is none, which passes; `UploadQueueError` for a file that is not the one that was
  ///   enqueued.
  @Sendable public func send(_ upload: Upload) async throws -> UploadResponse {
    var request = HTTPClientRequest(url: try url.url(id: upload.id, kind: upload.kind))
    request.method = HTTPMethod(rawValue: options.method)
    for (name, value) in options.headers { request.headers.add(name: name, value: value) }
    request.headers.add(name: "Idempotency-Key", value: upload.id.text)
    let (type, body) = try await encoded(upload)
    request.headers.add(name: "Content-Type", value: type)
    if options.isPacked { request.headers.add(name: "Content-Encoding", value: "gzip") }
    request.body = .bytes(body)
    let response: HTTPClientResponse
    do { response = try await client.execute(request, timeout: TimeAmount(options.timeout)) } catch {
      if Task.isCancelled || error is CancellationError { throw error }
      throw UploadNoAnswer(error, url: request.url)
    }
    let text = await Self.text(response.body)
    let pause = response.headers.first(name: "Retry-After").flatMap {
      RetryAfter.duration($0, now: Int64(Date().timeIntervalSince1970))
    }
    return UploadResponse(status: Int(response.status.code), retryAfter: pause, message: text)
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

  /// The body as it is sent. Files are read, and bodies packed, where no other task has to wait for that.
  private func encoded(_ upload: Upload) async throws -> (type: String, bytes: [UInt8]) {
    if case .value = upload.payload, !options.isPacked { return try body(of: upload) }
    return try await FileReference.aside { [self] in
      let (type, bytes) = try body(of: upload)
      return (type, options.isPacked ? GzipBytes.pack(bytes) : bytes)
    }
  }

  private func body(of upload: Upload) throws -> (type: String, bytes: [UInt8]) {
    switch (options.body, upload.payload) {
    case (.json, .value(let value)): return ("application/json", Array(value.json.utf8))
    case (.json, .file(let file)): return ("application/octet-stream", try file.contents())
    case (.multipart, .value(let value)):
      return multipart(upload, "name=\"payload\"", "application/json", Array(value.json.utf8))
    case (.multipart, .file(let file)):
      let name = String(file.path.split(separator: "/").last ?? "file")
      let quoted = name.replacing("\\", with: "%5C").replacing("\"", with: "%22").replacing("\r", with: "%0D")
        .replacing("\n", with: "%0A")
      return multipart(
        upload, "name=\"file\"; filename=\"\(quoted)\"", "application/octet-stream", try file.contents())
    }
  }

  /// One part. Its boundary has random bits of the id; that it stands in a payload by chance is as likely as two equal ids.
  private func multipart(
    _ upload: Upload, _ disposition: String, _ type: String, _ content: [UInt8]
  ) -> (type: String, bytes: [UInt8]) {
    let boundary = "shelfmark-\(upload.id.text)"
    let head =
      "--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\nContent-Type: \(type)\r\n\r\n"
    return (
      "multipart/form-data; boundary=\(boundary)", Array(head.utf8) + content + Array("\r\n--\(boundary)--\r\n".utf8)
    )
  }
}
