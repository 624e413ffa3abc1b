import Cryptography
import DocumentFormat
import Documents
import Foundation
import LogStore
import StoreTestSupport
import Testing
import UploadQueue

@testable import UploadHTTP

/// Signatures as in Standard Webhooks, the header of the program, and forms with files.
@Suite(.timeLimit(.minutes(10))) struct SignatureTests {
  private static let key = Array("0123456789abcdefghijklmnopqrstuv".utf8)

  let folder: TemporaryDirectory
  let queue: UploadQueue

  init() throws {
    folder = try TemporaryDirectory()
    queue = try UploadQueue(in: DocumentStore.open(StoreLocation.test(folder.directory, name: "documents")))
  }

  /// Sends an upload once, to a server that answers 200, and returns what came there.
  private func request(
    _ payload: UploadPayload, change: (inout UploadHTTPOptions) -> Void
  ) async throws -> Receiver.Request {
    var options = UploadHTTPOptions()
    change(&options)
    let id = try await queue.enqueue(payload: payload, kind: "k")
    let upload = try #require(try queue.upload(id))
    var request: Receiver.Request?
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      let http = try UploadHTTPTransport(url: server.url(), options: options)
      let result: Result<UploadResponse, any Error>
      do { result = .success(try await http.send(upload)) } catch { result = .failure(error) }
      try await http.shutdown()
      #expect(try result.get().status == 200)
      request = server.requests.first
    }
    return try #require(request)
  }

  /// The signature of a request, computed at once from its bytes.
  private func signature(_ request: Receiver.Request, _ key: [UInt8]) throws -> String {
    let head = "\(request["webhook-id"][0]).\(request["webhook-timestamp"][0])."
    let hash = try Hash.hmacSHA256(key: key)
    try hash.update(Array(head.utf8) + request.body)
    return "v1," + Data(try hash.digest()).base64EncodedString()
  }

  /// The example of the specification, computed by another program.
  @Test func `the example of Standard Webhooks`() throws {
    let secret = try WebhookSecret(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8))
    let signature = try WebhookSignature([secret], id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330)
    for piece in [#"{"test": "#, "", "2432232314}"] { try signature.update(Array(piece.utf8)) }
    let headers = try signature.headers()
    #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
    #expect(headers[0].value == "msg_p5jXN8AQM9LWM0D4loKWxJek" && headers[1].value == "1614265330")
    #expect(headers[2].value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func `a secret is base64 or its bytes, and is never shown`() throws {
    let text = "whsec_" + Data(Self.key).base64EncodedString()
    let secrets = [
      try WebhookSecret(Array(text.utf8)), try WebhookSecret(Array(" \(text)\r\n".utf8)), try WebhookSecret(Self.key),
      try WebhookSecret(Self.key + [0x0A]),
    ]
    for secret in secrets {
      #expect(secret == secrets[0])
      var shown = ""
      dump(secret, to: &shown)
      for text in [shown, "\(secret)", String(reflecting: secret)] {
        #expect(!text.contains("0123") && !text.contains("48, 49") && text.contains("secret"))
      }
    }
    // Bytes that are not text are taken as they are, white space too.
    let binary = [0xFF] + Self.key + [0x20]
    #expect(try WebhookSecret(binary) != WebhookSecret(Array(binary.dropLast())))
    for bad in ["", "whsec_", "whsec_!!!!", "whsec_AAAA", "short", String(repeating: " ", count: 40)] {
      #expect(throws: UploadHTTPError.self) { try WebhookSecret(Array(bad.utf8)) }
    }
  }

  @Test func `a request is signed with each secret, and says who sends it`() async throws {
    let other = Self.key.reversed() as [UInt8]
    let before = Int64(Date().timeIntervalSince1970)
    let secrets = [try WebhookSecret(Self.key), try WebhookSecret(other)]
    let request = try await request(.value(.text("é"))) {
      $0.secrets = secrets
      $0.userAgent = "shelfmark-test/1.0"
    }
    #expect(request["webhook-id"] == request["idempotency-key"])
    let timestamp = try #require(request["webhook-timestamp"].first.flatMap { Int64($0) })
    #expect((before...Int64(Date().timeIntervalSince1970)).contains(timestamp))
    #expect(
      request["webhook-signature"] == [try signature(request, Self.key) + " " + signature(request, other)])
    #expect(request["user-agent"] == ["shelfmark-test/1.0"])
    let plain = try await self.request(.value(.text("a"))) {
      $0.headers = [("User-Agent", "mine")]
      $0.userAgent = "shelfmark-test/1.0"
    }
    #expect(plain["user-agent"] == ["mine"] && plain["webhook-signature"].isEmpty && plain["webhook-id"].isEmpty)
  }

  @Test(arguments: UploadHTTPOptions.BatchFormat.allCases, [false, true])
  func `a batch is signed as one body, with each secret`(format: UploadHTTPOptions.BatchFormat, isCompressed: Bool)
    async throws
  {
    let other = Self.key.reversed() as [UInt8]
    var uploads: [Upload] = []
    for text in ["é", "two"] {
      let id = try await queue.enqueue(text, kind: "k", orderKey: "o")
      uploads.append(try #require(try queue.upload(id)))
    }
    let batch = UploadBatch(uploads)
    var options = UploadHTTPOptions()
    options.batchFormat = format
    options.isCompressed = isCompressed
    options.secrets = [try WebhookSecret(Self.key), try WebhookSecret(other)]
    options.userAgent = "shelfmark-test/1.0"
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { [options] server in
      let http = try UploadHTTPTransport(url: server.url(), options: options)
      let result: Result<UploadResponse, any Error>
      do { result = .success(try await http.send(batch)) } catch { result = .failure(error) }
      try await http.shutdown()
      #expect(try result.get().status == 200)
      let request = try #require(server.requests.first)
      #expect(request["webhook-id"] == [batch.id] && request["idempotency-key"] == [batch.id])
      #expect(
        request["webhook-signature"] == [try signature(request, Self.key) + " " + signature(request, other)])
      #expect(request["user-agent"] == ["shelfmark-test/1.0"])
      let body = isCompressed ? try unpacked(request.body, in: folder) : request.body
      #expect(body == Array((format == .ndjson ? "\"é\"\n\"two\"\n" : "[\"é\",\"two\"]").utf8))
    }
  }

  @Test(arguments: [false, true]) func `a document and its files are one form, signed as it is sent`(
    isCompressed: Bool
  ) async throws {
    // More than is read at once.
    let content = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    try folder.write(content, to: "a \"1\".jpg")
    try folder.write([], to: "empty")
    let files = [
      try UploadFile(contentsOf: folder.path + "/a \"1\".jpg", name: "pic\"ture", contentType: "image/jpeg"),
      try UploadFile(contentsOf: folder.path + "/empty"),
    ]
    let secret = try WebhookSecret(Self.key)
    let request = try await request(.document(.object([DocumentValue.Field("code", .text("690"))]), files: files)) {
      $0.isCompressed = isCompressed
      $0.secrets = [secret]
    }
    let boundary = "shelfmark-" + (request["idempotency-key"].first ?? "")
    #expect(request["content-type"] == ["multipart/form-data; boundary=\(boundary)"])
    #expect(request["webhook-signature"] == [try signature(request, Self.key)])
    func head(_ disposition: String, _ type: String) -> [UInt8] {
      Array("--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\nContent-Type: \(type)\r\n\r\n".utf8)
    }
    let end = Array("\r\n".utf8)
    let expected =
      head(#"name="payload""#, "application/json") + Array(#"{"code":"690"}"#.utf8) + end
      + head(#"name="pic%22ture"; filename="a %221%22.jpg""#, "image/jpeg") + content + end
      + head(#"name="file"; filename="empty""#, "application/octet-stream") + end + Array("--\(boundary)--\r\n".utf8)
    #expect(request["content-encoding"] == (isCompressed ? ["gzip"] : []))
    #expect(request["content-length"] == (isCompressed ? [] : ["\(expected.count)"]))
    #expect(isCompressed ? try unpacked(request.body, in: folder) == expected : request.body == expected)
  }

  @Test(arguments: [false, true]) func `a file that is another one is no request, or none that ends`(
    isSigned: Bool
  ) async throws {
    try folder.write(Array(repeating: 7, count: 3_000_000), to: "a.jpg")
    let files = [try UploadFile(contentsOf: folder.path + "/a.jpg")]
    let id = try await queue.enqueue("a", files: files, kind: "k")
    let upload = try #require(try queue.upload(id))
    // As long as before: only its end tells.
    try folder.write(Array(repeating: 7, count: 2_999_999) + [8], to: "a.jpg")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      var options = UploadHTTPOptions()
      if isSigned { options.secrets = [try WebhookSecret(Self.key)] }
      let http = try UploadHTTPTransport(url: server.url(), options: options)
      await #expect(throws: UploadQueueError.changed(path: folder.path + "/a.jpg")) { try await http.send(upload) }
      try await http.shutdown()
      #expect(server.requests.isEmpty)
    }
  }

  @Test(arguments: ["webhook-id", "Webhook-Timestamp", "WEBHOOK-SIGNATURE"])
  func `the headers of signatures are the transport's`(name: String) {
    var options = UploadHTTPOptions()
    options.headers = [(name, "1")]
    #expect(throws: UploadHTTPError.header(name)) { try UploadHTTPTransport(url: "http://h/", options: options) }
  }
}
