import DocumentFormat
import Documents
import Foundation
import LogStore
import StoreTestSupport
import Synchronization
import Testing
import UploadHTTP
import UploadQueue

/// Uploads from a queue on the disk to a server on loopback.
@Suite(.timeLimit(.minutes(10))) struct UploadHTTPTests {
  private struct Scan: Codable, Equatable {
    var code: String
    var count: Int
  }

  let folder: TemporaryDirectory
  let queue: UploadQueue

  init() throws {
    folder = try TemporaryDirectory()
    queue = try UploadQueue(in: DocumentStore.open(StoreLocation.test(folder.directory, name: "documents")))
  }

  /// Sends all that waits, with one repetition at once, and with time for a machine that stands still for a while.
  private func run(_ url: String, change: (inout UploadHTTPOptions) -> Void = { _ in }) async throws {
    var options = UploadHTTPOptions()
    options.timeout = .seconds(600)
    change(&options)
    let http = try UploadHTTPTransport(url: url, options: options)
    var work = WorkerOptions()
    work.concurrency = 1
    work.retry.maximumRetries = 1
    work.retry.firstPause = .milliseconds(1)
    do { try await UploadWorker(queue, options: work, transport: http.send).run(untilEmpty: true) } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
  }

  /// What a transport makes of one attempt, without a worker.
  private func send(
    _ url: String, _ payload: DocumentValue = .text("a"), change: (inout UploadHTTPOptions) -> Void = { _ in }
  ) async throws -> UploadResponse {
    var options = UploadHTTPOptions()
    options.timeout = .seconds(600)
    change(&options)
    let http = try UploadHTTPTransport(url: url, options: options)
    let id = try await queue.enqueue(payload: .value(payload), kind: "k")
    let upload = try #require(try queue.upload(id))
    let result: Result<UploadResponse, any Error>
    do { result = .success(try await http.send(upload)) } catch { result = .failure(error) }
    try await http.shutdown()
    return try result.get()
  }

  // MARK: No answer

  @Test func `a receiver that does not answer is told in plain words`() async throws {
    var place = ""
    try await Receiver.run { number, _ in
      number == 0 ? .send("") : .linger("")
    } _: { receiver in
      place = "127.0.0.1:\(receiver.port)"
      let closed = await #expect(throws: UploadNoAnswer.self) { try await send(receiver.url()) }
      #expect(closed?.description == "cannot reach \(place): closed without an answer")
      let late = await #expect(throws: UploadNoAnswer.self) {
        try await send(receiver.url()) { $0.timeout = .milliseconds(100) }
      }
      #expect(late?.description == "cannot reach \(place): no answer in time")
    }
    // Nobody listens there any more.
    let refused = await #expect(throws: UploadNoAnswer.self) { try await send("http://\(place)/k") }
    #expect(refused?.description == "cannot reach \(place): connection refused")
  }

  // MARK: Requests

  @Test func `a value goes as JSON, to the place that the template says, with the headers that were given`()
    async throws
  {
    let scan = Scan(code: "4006381333931 \"é\"", count: 3)
    let id = try await queue.enqueue(scan, kind: "scan/in")
    try await Receiver.run { _, _ in
      .status("201 Created")
    } _: { server in
      try await run(server.url("/v1/{kind}/{id}?x=1")) {
        $0.method = "PUT"
        $0.headers = [("Authorization", "Bearer abc"), ("X-Device", "till 3")]
      }
      let request = try #require(server.requests.first)
      #expect(request.line == "PUT /v1/scan%2Fin/\(id.text)?x=1 HTTP/1.1")
      #expect(request["content-type"] == ["application/json"])
      #expect(request["idempotency-key"] == [id.text])
      #expect(request["authorization"] == ["Bearer abc"] && request["x-device"] == ["till 3"])
      #expect(request["content-encoding"].isEmpty)
      #expect(try JSONDecoder().decode(Scan.self, from: Data(request.body)) == scan)
      #expect(server.requests.count == 1)
    }
    #expect(try queue.counts().delivered == 1)
  }

  @Test func `every attempt carries the same Idempotency-Key, and another upload another one`() async throws {
    let ids = [try await queue.enqueue("a", kind: "k"), try await queue.enqueue("b", kind: "k")]
    let seen = Mutex<Set<String>>([])
    try await Receiver.run { _, request in
      let isNew = seen.withLock { $0.insert(request["idempotency-key"].first ?? "").inserted }
      return .status(isNew ? "503 Busy" : "200 OK")
    } _: { server in
      try await run(server.url())
      let keys = server.requests.map { $0["idempotency-key"] }
      #expect(keys.count == 4)
      for id in ids { #expect(keys.count { $0 == [id.text] } == 2) }
    }
    #expect(try queue.counts().delivered == 2)
  }

  @Test func `a body is packed where that is asked for`() async throws {
    let text = String(repeating: "product ", count: 5000)
    try await queue.enqueue(text, kind: "k")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      try await run(server.url()) { $0.isCompressed = true }
      let request = try #require(server.requests.first)
      #expect(request["content-encoding"] == ["gzip"] && request["content-type"] == ["application/json"])
      #expect(request.body.count < 1000)
      #expect(try unpacked(request.body, in: folder) == Array("\"\(text)\"".utf8))
    }
  }

  @Test func `a file is a part of a form with its name, byte for byte`() async throws {
    let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    try folder.write(content, to: "pi\"ct\\ure.jpg")
    let file = try FileReference(contentsOf: folder.path + "/pi\"ct\\ure.jpg")
    let id = try await queue.enqueue(payload: .file(file), kind: "picture")
    let other = try await queue.enqueue("a", kind: "k")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      try await run(server.url()) { $0.body = .multipart }
      let request = try #require(server.requests.first { $0["idempotency-key"] == [id.text] })
      #expect(request["content-type"] == ["multipart/form-data; boundary=shelfmark-\(id.text)"])
      let head =
        "--shelfmark-\(id.text)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"pi%22ct%5Cure.jpg\"\r\n"
        + "Content-Type: application/octet-stream\r\n\r\n"
      #expect(request.body == Array(head.utf8) + content + Array("\r\n--shelfmark-\(id.text)--\r\n".utf8))
      let value = try #require(server.requests.first { $0["idempotency-key"] == [other.text] }).text
      #expect(value.contains("name=\"payload\"\r\nContent-Type: application/json\r\n\r\n\"a\"\r\n--"))
    }
    #expect(try queue.counts().delivered == 2)
  }

  @Test func `a file goes alone as its bytes, and one that was changed since is parked and never sent`() async throws {
    for name in ["same", "changed"] { try folder.write(Array("picture".utf8), to: name) }
    for name in ["same", "changed"] {
      try await queue.enqueue(payload: .file(FileReference(contentsOf: folder.path + "/" + name)), kind: name)
    }
    try folder.write(Array("pictare".utf8), to: "changed")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      try await run(server.url("/{kind}"))
      #expect(server.requests.map(\.line) == ["POST /same HTTP/1.1"])
      #expect(server.requests[0].text == "picture")
      #expect(server.requests[0]["content-type"] == ["application/octet-stream"])
    }
    let left = try queue.uploads()
    #expect(left.map(\.kind) == ["changed"] && left.first?.state == .parked)
  }

  @Test func `a file that changes while it is sent never arrives as a complete body`() async throws {
    var content = [UInt8](repeating: 0x41, count: 5 << 19)
    try folder.write(content, to: "large")
    let id = try await queue.enqueue(
      payload: .file(FileReference(contentsOf: folder.path + "/large")), kind: "picture")
    let upload = try #require(try queue.upload(id))
    content[content.count - 1] = 0x42
    try folder.write(content, to: "large")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      let http = try UploadHTTPTransport(url: server.url())
      await #expect(throws: UploadQueueError.changed(path: folder.path + "/large")) { try await http.send(upload) }
      try await http.shutdown()
      #expect(server.requests.isEmpty)
    }
  }

  @Test(arguments: [
    ("X\r\nY", "1"), ("", "1"), ("X Y", "1"), ("X", "1\r\nY: 2"), ("X", "a\u{0}"), ("Idempotency-Key", "1"),
    ("content-TYPE", "text/plain"), ("Content-Encoding", "br"), ("Host", "other"), ("Transfer-Encoding", "chunked"),
  ])
  func `a header that cannot or must not be sent is refused`(name: String, value: String) {
    var options = UploadHTTPOptions()
    options.headers = [(name, value)]
    #expect(throws: UploadHTTPError.header(name)) { try UploadHTTPTransport(url: "http://h/", options: options) }
  }

  // MARK: Answers

  @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "304 Not Modified"])
  func `a redirect is not followed, and is no success`(_ status: String) async throws {
    try await queue.enqueue("a", kind: "k")
    try await Receiver.run { number, _ in
      number == 0 ? .status(status, headers: ["Location: /other"]) : .status("200 OK")
    } _: { server in
      try await run(server.url())
      #expect(server.requests.count == 1)
    }
    let upload = try #require(try queue.uploads().first)
    #expect(upload.state == .waiting && upload.lastError?.status == Int(status.prefix(3)), "it is the receiver's fault")
  }

  @Test func `what the server says stands in the error, and an endless or unfinished text does no harm`() async throws {
    let long = String(repeating: "x", count: 100_000)
    try await Receiver.run { number, _ in
      switch number {
      case 0: .status("422 No", body: "code is missing")
      case 1: .status("500 No", body: long)
      // The head says more than ever comes.
      default: .linger("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
      }
    } _: { server in
      let said = try await send(server.url())
      #expect(said == UploadResponse(status: 422, message: "code is missing"))
      let endless = try await send(server.url())
      #expect(endless == UploadResponse(status: 500))
      let start = ContinuousClock.now
      let unfinished = try await send(server.url())
      #expect(unfinished == UploadResponse(status: 200))
      #expect(ContinuousClock.now - start < .seconds(55))
    }
  }

  @Test func `Retry-After is read, as seconds and as a date`() async throws {
    try await Receiver.run { number, _ in
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = .gmt
      format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      let date = format.string(from: Date(timeIntervalSinceNow: 100))
      return .status("429 Slowly", headers: ["Retry-After: " + ["120", date, "soon"][number]])
    } _: { server in
      #expect(try await send(server.url()).retryAfter == .seconds(120))
      let pause = try #require(try await send(server.url()).retryAfter)
      #expect(pause > .seconds(60) && pause <= .seconds(100))
      #expect(try await send(server.url()).retryAfter == nil)
    }
  }

  @Test func `a worker waits as long as the server asks`() async throws {
    let times = Mutex<[ContinuousClock.Instant]>([])
    try await queue.enqueue("a", kind: "k")
    try await Receiver.run { number, _ in
      times.withLock { $0.append(.now) }
      return number == 0 ? .status("503 Busy", headers: ["Retry-After: 1"]) : .status("200 OK")
    } _: { server in
      try await run(server.url())
    }
    let all = times.withLock { $0 }
    try #require(all.count == 2)
    #expect(all[1] - all[0] >= .seconds(1))
  }

  // MARK: No answer

  @Test func `a server that keeps silent is given up in time, and the upload stays`() async throws {
    try await queue.enqueue("a", kind: "k")
    try await Receiver.run { _, _ in
      .linger("")
    } _: { server in
      try await run(server.url()) { $0.timeout = .milliseconds(200) }
      #expect(server.requests.count <= 2, "fewer where this machine stood still")
    }
    let upload = try #require(try queue.uploads().first)
    #expect(upload.state == .parked && upload.attempts == 2 && upload.lastError?.status == nil)
  }

  @Test(arguments: ["", "HTTP/1.1 2", "220 smtp ready\r\n\r\n", "\u{0}\u{1}\u{2}"])
  func `what is no answer is no success`(_ bytes: String) async throws {
    try await queue.enqueue("a", kind: "k")
    try await Receiver.run { _, _ in
      .send(bytes)
    } _: { server in
      try await run(server.url())
      #expect(server.requests.count == 2)
    }
    #expect(try queue.counts().delivered == 0 && queue.uploads().first?.state == .parked)
  }

  @Test func `a connection that is refused is known at once, and the upload stays`() async throws {
    try await queue.enqueue("a", kind: "k")
    let port = Mutex(0)
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      port.withLock { $0 = server.port }
    }
    let start = ContinuousClock.now
    // A client that tries to connect for as long as it may would take ten minutes.
    try await run("http://127.0.0.1:\(port.withLock { $0 })/") { $0.connectTimeout = .seconds(300) }
    #expect(ContinuousClock.now - start < .seconds(240))
    let upload = try #require(try queue.uploads().first)
    #expect(upload.state == .parked && upload.attempts == 2 && upload.lastError?.status == nil)
  }

  // MARK: JSON text

  /// What a writer of values would write otherwise.
  private static let text = "{\"id\" : \"1\",\r\n\t\"price\":1.00, \"name\":\"\\u00fc\\n\"}\n"

  @Test(arguments: [UploadHTTPOptions.Body.json, .multipart], [false, true])
  func `JSON text is sent byte for byte`(body: UploadHTTPOptions.Body, isCompressed: Bool) async throws {
    let id = try await queue.enqueue(payload: .json(UploadJSON(Self.text)), kind: "k")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      try await run(server.url()) {
        $0.body = body
        $0.isCompressed = isCompressed
      }
      let request = server.requests[0]
      let sent = isCompressed ? try unpacked(request.body, in: folder) : request.body
      let boundary = "shelfmark-\(id.text)"
      let form =
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"payload\"\r\nContent-Type: application/json\r\n\r\n"
        + "\(Self.text)\r\n--\(boundary)--\r\n"
      #expect(sent == Array((body == .json ? Self.text : form).utf8))
      let type = body == .json ? "application/json" : "multipart/form-data; boundary=\(boundary)"
      #expect(request["content-type"] == [type])
    }
    #expect(try queue.counts().delivered == 1)
  }

  @Test(arguments: UploadHTTPOptions.BatchFormat.allCases)
  func `a batch has the bytes of its texts, and as NDJSON a line for each`(format: UploadHTTPOptions.BatchFormat)
    async throws
  {
    let texts = [#"{"n":1.00}"#, Self.text, "\n[\n]\r", "null"]
    for text in texts { try await queue.enqueue(payload: .json(UploadJSON(text)), kind: "scan", orderKey: "o") }
    try await queue.enqueue(payload: .value(.object([.init("n", .double(1))])), kind: "scan", orderKey: "o")
    try await Receiver.run { _, _ in
      .status("200 OK")
    } _: { server in
      var options = UploadHTTPOptions()
      options.batchFormat = format
      let http = try UploadHTTPTransport(url: server.url(), options: options)
      let response = try await http.send(UploadBatch(queue.uploads()))
      try await http.shutdown()
      #expect(response.status == 200)
      let all = texts + [#"{"n":1.0}"#]
      let lines = all.map { String(decoding: $0.utf8.map { $0 == 10 || $0 == 13 ? 32 : $0 }, as: UTF8.self) + "\n" }
      let expected = format == .ndjson ? lines.joined() : "[" + all.joined(separator: ",") + "]"
      #expect(server.requests[0].body == Array(expected.utf8))
    }
  }

  // MARK: Success rules and batches

  @Test func `a response is read for a success rule; what is cut off, too large or slow cannot be evaluated`()
    async throws
  {
    let body = #"{"status":{"code":500}}"#
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + body
    let reply = Mutex(Receiver.Answer.status("200 OK", body: body))
    try await Receiver.run { _, _ in
      reply.withLock { $0 }
    } _: { server in
      func answer(
        _ text: Receiver.Answer, _ change: (inout UploadHTTPOptions) -> Void = { _ in }
      ) async throws -> UploadResponse {
        reply.withLock { $0 = text }
        return try await send(server.url()) { options in
          options.readsResponses = true
          options.maximumResponseByteCount = 1000
          change(&options)
        }
      }
      let rule = try UploadSuccessRule("status.code == 200")
      let whole = try await answer(.status("200 OK", body: body))
      #expect(whole.status == 200 && whole.body == .complete(Array(body.utf8)) && whole.message == body)
      #expect(try !rule.holds(for: whole))
      #expect(try await answer(.send(cut)).body == .incomplete("is cut off"))
      let large = try await answer(.status("200 OK", body: String(repeating: " ", count: 2000) + body))
      #expect(large.body == .incomplete("has more than 1000 bytes"))
      // On a machine that stands still, a short time can be over before the first line of the answer.
      var slow: UploadResponse?
      for seconds in [0.3, 3, 30, 300] where slow == nil {
        slow = try? await answer(.linger(cut)) { $0.timeout = .seconds(seconds) }
      }
      let unfinished = try #require(slow)
      guard case .incomplete = unfinished.body else { throw UploadRefusal("\(unfinished)") }
      #expect(throws: UnreadableResponse.self) { try rule.holds(for: unfinished) }
      let empty = try await answer(.status("204 No Content"))
      #expect(throws: UnreadableResponse.self) { try rule.holds(for: empty) }
      reply.withLock { $0 = .status("200 OK", body: body) }
      #expect(try await send(server.url()).body == nil, "nobody asked for it")
    }
  }

  @Test(arguments: UploadHTTPOptions.BatchFormat.allCases, [false, true])
  func `a batch is one request with the payloads as they are`(format: UploadHTTPOptions.BatchFormat, isCompressed: Bool)
    async throws
  {
    let scans = (0..<3).map { Scan(code: "line\n\($0)", count: $0) }
    for scan in scans { try await queue.enqueue(scan, kind: "scan", orderKey: "o") }
    var options = UploadHTTPOptions()
    options.batchFormat = format
    options.isCompressed = isCompressed
    options.headers = [("X-Device", "till 3")]
    try await Receiver.run { number, _ in
      number == 0
        ? .status("207 Multi-Status", body: #"{"failed":[{"index":1,"status":503}]}"#) : .status("200 OK")
    } _: { [options] server in
      let http = try UploadHTTPTransport(url: server.url("/{kind}/{id}"), options: options)
      var work = WorkerOptions()
      work.retry.firstPause = .milliseconds(1)
      work.batches["scan"] = UploadBatchOptions(maximumCount: 10)
      let worker = UploadWorker(
        queue, options: work, batchTransport: { (batch: UploadBatch) in try await http.send(batch) },
        transport: { (upload: Upload) in try await http.send(upload) })
      try await worker.run(untilEmpty: true)
      try await http.shutdown()
      #expect(server.requests.count == 2)
      let request = server.requests[0]
      let key = try #require(request["idempotency-key"].first)
      #expect(request.line == "POST /scan/\(key) HTTP/1.1" && key.hasPrefix("batch-"))
      #expect(request["content-type"] == [format == .ndjson ? "application/x-ndjson" : "application/json"])
      #expect(request["x-device"] == ["till 3"] && request["content-encoding"] == (isCompressed ? ["gzip"] : []))
      #expect(server.requests[1]["idempotency-key"] != [key], "another batch, of one")
      if !isCompressed {
        let lines = request.text.split(separator: "\n").map { Data($0.utf8) }
        let sent =
          format == .ndjson
          ? try lines.map { try JSONDecoder().decode(Scan.self, from: $0) }
          : try JSONDecoder().decode([Scan].self, from: Data(request.body))
        #expect(sent == scans)
      }
    }
    #expect(try queue.counts().delivered == 3)
  }
}
