import Synchronization
import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(10))) struct FileTransportTests {
  typealias Step = ScriptedServer.Step

  let time = FakeTime()
  /// The file of most tests.
  static let file = "abcdefghijklmnopqrst"

  func transport(
    _ server: ScriptedServer, _ path: String = "/p", change: (inout TransportOptions) -> Void = { _ in }
  ) throws -> FileTransport {
    var options = TransportOptions()
    change(&options)
    return try FileTransport(url: server.url(path), options: options, environment: time.environment)
  }

  /// Gets the file, and expects the world's fault.
  func failure(
    _ transport: FileTransport, _ request: FileRequest = FileRequest(limit: 100)
  ) async throws -> TransportError? {
    await #expect(throws: TransportError.self) { try await transport.bytes(of: "f", request) }
  }

  /// A 206 with a range of the file.
  static func part(_ range: Range<Int>, headers: [String] = []) -> Step {
    let fields = ["Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.count)"]
    return .answer("206 Partial Content", headers: fields + headers, body: text(range))
  }

  static func text(_ range: Range<Int>) -> String { String(file.dropFirst(range.lowerBound).prefix(range.count)) }

  /// The value of a request's field.
  static func field(_ name: String, of request: String) -> String? {
    request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  // MARK: Request

  @Test func `a file is got whole, with what the server says about it`() async throws {
    try await ScriptedServer.run { _, _ in
      [
        .answer(
          headers: [
            "ETag: \"a1\"", "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT", "Date: Fri, 02 Jan 2026 03:04:05 GMT",
            "Age: 17",
          ], body: Self.file)
      ]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(limit: 20))
      let validators = FileValidators(etag: "\"a1\"", lastModified: "Thu, 01 Jan 2026 00:00:00 GMT")
      let body = FileBody(
        start: 0, isWhole: true, byteCount: 20, totalByteCount: 20, validators: validators, date: 1_767_323_045,
        age: 17)
      #expect(contents == FileContents(answer: .body(body), bytes: Array(Self.file.utf8)))
      let request = try #require(server.requests.first)
      #expect(request.hasPrefix("GET /p/f HTTP/1.1\r\n"))
      #expect(Self.field("Accept-Encoding", of: request) == "identity")
      #expect(Self.field("Accept", of: request) == "*/*")
      for name in ["Range", "If-None-Match", "If-Modified-Since", "Cache-Control", "Authorization"] {
        #expect(Self.field(name, of: request) == nil)
      }
    }
  }

  @Test(arguments: ["", "/", "/p", "/p/", "/p?token=s%40cret", "/p/?token=s%40cret"])
  func `files lie in the folder of the URL, each with its query`(path: String) async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "x")]
    } _: { server in
      let transport = try FileTransport(url: "http://ann:s%40cret@127.0.0.1:\(server.port)\(path)")
      _ = try await transport.bytes(of: "base/a b%.zst", FileRequest(limit: 1))
      let folder = path.hasPrefix("/p") ? "/p" : ""
      let query = path.contains("?") ? "?token=s%40cret" : ""
      let request = try #require(server.requests.first)
      #expect(request.hasPrefix("GET \(folder)/base/a%20b%25.zst\(query) HTTP/1.1"))
      #expect(Self.field("Authorization", of: request) == "Basic YW5uOnNAY3JldA==")
      #expect(transport.url == server.url(folder + "/"))
      #expect(transport.host == "127.0.0.1")
    }
  }

  @Test(arguments: ["", "/", "../f", "a/../../f", "./f", "a//f", "/f", "a/"])
  func `a name that leads out of the folder is refused and not asked for`(name: String) async throws {
    let transport = try FileTransport(url: "http://127.0.0.1:1/p", environment: time.environment)
    let error = await #expect(throws: TransportError.self) {
      try await transport.bytes(of: name, FileRequest(limit: 1))
    }
    guard case .notUnderstood("http://127.0.0.1:1/p/", let reason, 0) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason == "“\(name)” is no name of a file below it")
    #expect(transport.traffic == (0, 0))
  }

  @Test(arguments: ["Range", "if-range", "If-None-Match", "If-Modified-Since", "Cache-Control", "Accept-Encoding"])
  func `a header that the transport sets itself is refused`(name: String) {
    var options = TransportOptions()
    options.headers = [(name, "x")]
    #expect(throws: TransportError.invalidHeader(name: name)) {
      try FileTransport(url: "http://h/", options: options)
    }
  }

  @Test func `a fresh request asks caches to ask the origin`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "x")]
    } _: { server in
      _ = try await transport(server).bytes(of: "f", FileRequest(limit: 1, isFresh: true))
      #expect(try Self.field("Cache-Control", of: #require(server.requests.first)) == "no-cache")
    }
  }

  // MARK: Validators

  @Test(
    arguments: [
      (FileValidators(etag: "\"a1\"", lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"), "\"a1\"", nil),
      (
        FileValidators(lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"), nil, "Thu, 01 Jan 2026 00:00:00 GMT"
      ),
      (
        FileValidators(etag: "\"a\r\nX: 1\"", lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"), nil,
        "Thu, 01 Jan 2026 00:00:00 GMT"
      ),
    ] as [(FileValidators, String?, String?)])
  func `a poll without news is one request with one validator`(
    validators: FileValidators, etag: String?, time: String?
  ) async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 304 Not Modified\r\nETag: \"a1\"\r\n\r\n")]
    } _: { server in
      let transport = try transport(server)
      let contents = try await transport.bytes(of: "f", FileRequest(validators: validators, limit: 9))
      #expect(contents == FileContents(answer: .notModified))
      let request = try #require(server.requests.first)
      #expect(server.requests.count == 1)
      #expect(Self.field("If-None-Match", of: request) == etag)
      #expect(Self.field("If-Modified-Since", of: request) == time)
      #expect(transport.traffic == (1, 41))
    }
  }

  @Test func `a 304 that was not asked for is refused`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 304 Not Modified\r\n\r\n")]
    } _: { server in
      let error = try await failure(transport(server), FileRequest(validators: FileValidators(), limit: 1))
      #expect(error == .refused(url: server.url("/p/f"), status: 304, message: nil, attempts: 1))
    }
  }

  // MARK: Ranges

  @Test(
    arguments: [
      (5, 5, "bytes=5-9", 5..<10), (0, 4, "bytes=0-3", 0..<4), (15, nil, "bytes=15-", 15..<20),
      (15, 100, "bytes=15-114", 15..<20), (19, Int.max, "bytes=19-", 19..<20),
    ] as [(Int, Int?, String, Range<Int>)])
  func `a range is asked for and taken, to the end of the file`(
    offset: Int, byteCount: Int?, header: String, range: Range<Int>
  ) async throws {
    try await ScriptedServer.run { _, _ in
      [Self.part(range)]
    } _: { server in
      let request = FileRequest(offset: offset, byteCount: byteCount, limit: range.count)
      let contents = try await transport(server).bytes(of: "f", request)
      let body = FileBody(start: offset, isWhole: false, byteCount: range.count, totalByteCount: 20)
      #expect(contents == FileContents(answer: .body(body), bytes: Array(Self.text(range).utf8)))
      #expect(try Self.field("Range", of: #require(server.requests.first)) == header)
    }
  }

  @Test(arguments: [true, false])
  func `of a whole file that answers a range only the range is passed on`(hasLength: Bool) async throws {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n\(Self.file)\r\n0\r\n\r\n"
    try await ScriptedServer.run { _, _ in
      [hasLength ? .answer(body: Self.file) : .send(chunked)]
    } _: { server in
      for (offset, byteCount) in [(5, 5), (0, 4), (15, nil), (15, 100), (0, 20)] as [(Int, Int?)] {
        let end = min(20, byteCount.map { offset + $0 } ?? 20)
        let request = FileRequest(offset: offset, byteCount: byteCount, limit: end - offset)
        let contents = try await transport(server).bytes(of: "f", request)
        #expect(contents.bytes == Array(Self.text(offset..<end).utf8))
        guard case .body(let body) = contents.answer else {
          Issue.record("\(contents.answer)")
          continue
        }
        #expect(body.start == 0 && body.isWhole && body.byteCount == end - offset)
        if hasLength { #expect(body.totalByteCount == 20) }
      }
    }
  }

  @Test func `the rest of a whole file after the range is not read`() async throws {
    try await ScriptedServer.run { _, _ in
      [.head(length: 1 << 30), .send(Self.file), .hang]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(offset: 2, byteCount: 3, limit: 3))
      #expect(contents.bytes == Array("cde".utf8))
    }
  }

  @Test(
    arguments: [
      .answer("416 Range Not Satisfiable", headers: ["Content-Range: bytes */20"], body: "<html>"),
      .answer(body: file), .send("HTTP/1.0 200 OK\r\n\r\n" + file),
    ] as [Step])
  func `a range after the end of the file is refused, however the server says so`(step: Step) async throws {
    try await ScriptedServer.run { _, _ in
      [step]
    } _: { server in
      for offset in [20, 21] {
        let contents = try await transport(server).bytes(of: "f", FileRequest(offset: offset, limit: 9))
        #expect(contents == FileContents(answer: .rangeRefused))
      }
      #expect(server.requests.count == 2)
    }
  }

  @Test(
    arguments: [
      ("bytes 4-9/20", "Content-Range is bytes 4-9/20, but the bytes 5-9 were asked for"),
      ("bytes 5-8/20", "Content-Range is bytes 5-8/20, but the bytes 5-9 were asked for"),
      ("bytes 5-10/20", "Content-Range is bytes 5-10/20, but the bytes 5-9 were asked for"),
      ("bytes 5-9/8", "Content-Range is bytes 5-9/8, but the bytes 5-9 were asked for"),
      ("bytes 9-5/20", "Content-Range is bytes 9-5/20, but the bytes 5-9 were asked for"),
      ("items 5-9/20", "Content-Range is items 5-9/20, but the bytes 5-9 were asked for"),
      ("nonsense", "Content-Range is nonsense, but the bytes 5-9 were asked for"),
      ("bytes 5-9/20", "Content-Length is 6, but Content-Range has 5 bytes"),
      (nil, "206 without Content-Range"),
    ] as [(String?, String)])
  func `a part that is not the one that was asked for is refused`(range: String?, reason: String) async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("206 Partial Content", headers: range.map { ["Content-Range: \($0)"] } ?? [], body: "fghijk")]
    } _: { server in
      let error = try await failure(transport(server), FileRequest(offset: 5, byteCount: 5, limit: 9))
      #expect(error == .notUnderstood(url: server.url("/p/f"), reason: reason, attempts: 1))
      #expect(server.requests.count == 1)
    }
  }

  @Test func `several parts, a part of nothing, and more than the part are refused`() async throws {
    let chunked = "HTTP/1.1 206 X\r\nContent-Range: bytes 5-9/20\r\nTransfer-Encoding: chunked\r\n\r\n"
    let cases: [(Step, FileRequest, String)] = [
      (
        .answer("206 X", headers: ["Content-Type: multipart/byteranges; boundary=x"], body: "--x"),
        FileRequest(offset: 5, byteCount: 5, limit: 9), "206 and several parts, but one was asked for"
      ),
      (Self.part(0..<20), FileRequest(limit: 20), "206 and a part, but the whole file was asked for"),
      (
        .send(chunked + "6\r\nfghijk\r\n0\r\n\r\n"), FileRequest(offset: 5, byteCount: 5, limit: 9),
        "it has more bytes than its Content-Range"
      ),
    ]
    for (step, request, reason) in cases {
      try await ScriptedServer.run { _, _ in
        [step]
      } _: { server in
        let error = try await failure(transport(server), request)
        #expect(error == .notUnderstood(url: server.url("/p/f"), reason: reason, attempts: 1))
      }
    }
  }

  // MARK: Bodies

  @Test(arguments: [nil, 5]) func `a body that a proxy compressed is refused`(byteCount: Int?) async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(headers: ["Content-Encoding: gzip"], body: "x")]
    } _: { server in
      let error = try await failure(transport(server), FileRequest(byteCount: byteCount, limit: 9))
      let reason = "its Content-Encoding is gzip, which was not asked for; does a proxy compress?"
      #expect(error == .notUnderstood(url: server.url("/p/f"), reason: reason, attempts: 1))
    }
  }

  @Test func `a page for people is passed on as any other body`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(headers: ["Content-Type: text/html", "Date: yesterday", "Age: -1"], body: "<html>Log in</html>")]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(limit: 100))
      #expect(contents.bytes == Array("<html>Log in</html>".utf8))
      #expect(contents.answer == .body(FileBody(byteCount: 19, totalByteCount: 19)))
    }
  }

  @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!", "HTTP/1.0 200 OK\r\n\r\nhello!"])
  func `a body of the limit is taken and one byte more refused`(answer: String) async throws {
    try await ScriptedServer.run { _, _ in
      [.send(answer)]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(limit: 6))
      #expect(contents.bytes == Array("hello!".utf8))
      let error = try await failure(transport(server), FileRequest(limit: 5))
      #expect(error == .bodyTooLong(url: server.url("/p/f"), maximum: 5))
      // The bytes before and after the range do not count.
      let part = try await transport(server).bytes(of: "f", FileRequest(offset: 2, byteCount: 3, limit: 3))
      #expect(part.bytes == Array("llo".utf8))
    }
  }

  @Test func `an empty file is a body without bytes`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer()]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(limit: 0))
      #expect(contents == FileContents(answer: .body(FileBody(byteCount: 0, totalByteCount: 0))))
    }
  }

  @Test func `the caller's own error passes through and is not retried`() async throws {
    struct DiskFull: Error {}
    try await ScriptedServer.run { _, _ in
      [.answer(body: Self.file)]
    } _: { server in
      let transport = try transport(server)
      await #expect(throws: DiskFull.self) {
        try await transport.get("f", FileRequest(limit: 20)) { _ in throw DiskFull() }
      }
      #expect(server.requests.count == 1)
    }
  }

  // MARK: Bodies that break off

  @Test func `a body that is cut goes on where it broke, without validators`() async throws {
    try await ScriptedServer.run { number, _ in
      switch number {
      case 0: [.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\nETag: W/\"a\"\r\n\r\nabcde")]
      case 1: [.answer("503 Asleep")]
      case 2: [.send("HTTP/1.1 206 X\r\nContent-Length: 15\r\nContent-Range: bytes 5-19/20\r\n\r\nfghij")]
      default: [Self.part(10..<20, headers: ["ETag: \"a\"", "Age: 5"])]
      }
    } _: { server in
      let request = FileRequest(validators: FileValidators(etag: "\"old\""), limit: 20)
      let transport = try transport(server)
      let contents = try await transport.bytes(of: "f", request)
      let body = FileBody(byteCount: 20, totalByteCount: 20, validators: FileValidators(etag: "W/\"a\""))
      #expect(contents == FileContents(answer: .body(body), bytes: Array(Self.file.utf8)))
      #expect(server.requests.map { Self.field("Range", of: $0) } == [nil, "bytes=5-", "bytes=5-", "bytes=10-"])
      #expect(server.requests.map { Self.field("If-None-Match", of: $0) } == ["\"old\"", nil, nil, nil])
      #expect(time.pauses == [.seconds(1), .seconds(2), .seconds(4)])
      #expect(transport.traffic.requests == 4)
    }
  }

  @Test func `a range that is cut goes on where it broke`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0
        ? [.send("HTTP/1.1 206 X\r\nContent-Length: 10\r\nContent-Range: bytes 5-14/*\r\n\r\nfg")]
        : [Self.part(7..<15)]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(offset: 5, byteCount: 10, limit: 10))
      let body = FileBody(start: 5, isWhole: false, byteCount: 10, totalByteCount: 20)
      #expect(contents == FileContents(answer: .body(body), bytes: Array(Self.text(5..<15).utf8)))
      #expect(server.requests.map { Self.field("Range", of: $0) } == ["bytes=5-14", "bytes=7-14"])
    }
  }

  @Test(arguments: [(0, nil), (3, 12)] as [(Int, Int?)])
  func `no byte is passed on twice by a server that ignores ranges`(offset: Int, byteCount: Int?) async throws {
    try await ScriptedServer.run { number, _ in
      number < 3
        ? [.head(length: 20), .send(Self.text(0..<(4 + 3 * number)))] : [.answer(body: Self.file)]
    } _: { server in
      let end = byteCount.map { offset + $0 } ?? 20
      let request = FileRequest(offset: offset, byteCount: byteCount, limit: end - offset)
      let contents = try await transport(server).bytes(of: "f", request)
      let body = FileBody(byteCount: end - offset, totalByteCount: 20)
      #expect(contents == FileContents(answer: .body(body), bytes: Array(Self.text(offset..<end).utf8)))
      #expect(server.requests.count == 4)
    }
  }

  @Test func `a body that breaks off before its first byte is asked for again as before`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.head(length: 20)] : [.answer(headers: ["ETag: \"b\""], body: Self.file)]
    } _: { server in
      let request = FileRequest(validators: FileValidators(etag: "\"old\""), limit: 20)
      let contents = try await transport(server).bytes(of: "f", request)
      #expect(contents.bytes == Array(Self.file.utf8))
      #expect(server.requests.map { Self.field("Range", of: $0) } == [nil, nil])
      #expect(server.requests.map { Self.field("If-None-Match", of: $0) } == ["\"old\"", "\"old\""])
    }
  }

  @Test func `a body that stalls goes on where it stopped`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.head(length: 20), .send("abc"), .hang] : [Self.part(3..<20)]
    } _: { server in
      let contents = try await transport(server) { $0.idleTimeout = .seconds(2) }
        .bytes(of: "f", FileRequest(limit: 20))
      #expect(contents.bytes == Array(Self.file.utf8))
    }
  }

  @Test(
    arguments: [
      part(5..<20, headers: ["ETag: \"b\""]),
      .answer("206 X", headers: ["Content-Range: bytes 5-20/21"], body: "fghijklmnopqrstu"),
      .answer(headers: ["ETag: \"a\""], body: "abcd"), .answer(headers: ["ETag: \"b\""], body: file),
      .answer("416 X", headers: ["Content-Range: bytes */4"]), .answer("416 X"),
    ] as [Step])
  func `a file that changed after its body broke off is an error, not a mixture`(step: Step) async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\nETag: \"a\"\r\n\r\nabcde")] : [step]
    } _: { server in
      let error = try await failure(transport(server))
      #expect(
        error
          == .notUnderstood(
            url: server.url("/p/f"), reason: "the file changed while it was fetched", attempts: 2))
    }
  }

  @Test func `a body without a length that broke off after its last byte is whole`() async throws {
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n\(Self.file)\r\n"
    try await ScriptedServer.run { number, _ in
      number % 2 == 0 ? [.send(chunks)] : [.answer("416 X", headers: ["Content-Range: bytes */20"])]
    } _: { server in
      let whole = try await transport(server).bytes(of: "f", FileRequest(limit: 20))
      #expect(whole.bytes == Array(Self.file.utf8))
      #expect(whole.answer == .body(FileBody(byteCount: 20, totalByteCount: 20)))
      #expect(server.requests.count == 2)
      // The last byte that is wanted has arrived.
      let part = try await transport(server).bytes(of: "f", FileRequest(byteCount: 20, limit: 20))
      #expect(part.bytes == Array(Self.file.utf8))
      #expect(server.requests.count == 3)
    }
  }

  @Test func `a body that is always cut is an error after the last attempt`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0
        ? [.head(length: 20), .send("ab")]
        : [.send("HTTP/1.1 206 X\r\nContent-Length: 18\r\nContent-Range: bytes 2-19/20\r\n\r\n")]
    } _: { server in
      let error = try await failure(transport(server) { $0.retry.maximumAttempts = 3 })
      #expect(error == .bodyCutShort(url: server.url("/p/f"), received: 0, expected: 18, attempts: 3))
    }
  }

  // MARK: Statuses

  @Test(
    arguments: [
      ("403 Forbidden", nil, nil), ("404 Not Found", "Retry-After: 3600", Duration.seconds(3600)),
      ("410 Gone", "Retry-After: Fri, 02 Jan 2026 03:04:22 GMT", .seconds(17)),
    ] as [(String, String?, Duration?)])
  func `a file that is missing is an answer, and not asked for again`(
    status: String, header: String?, pause: Duration?
  ) async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(status, headers: header.map { [$0] } ?? [], body: "<html>")]
    } _: { server in
      let contents = try await transport(server).bytes(of: "f", FileRequest(limit: 9))
      #expect(contents == FileContents(answer: .missing(status: Int(status.prefix(3))!, retryAfter: pause)))
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504]) func `a passing failure is retried`(status: Int) async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.answer("\(status) X", headers: ["Retry-After: 17"])] : [.answer(body: "x")]
    } _: { server in
      let transport = try transport(server)
      let contents = try await transport.bytes(of: "f", FileRequest(limit: 1))
      #expect(contents.bytes == Array("x".utf8))
      // A quarter more at most.
      #expect(time.pauses == [.seconds(21.25)])
      #expect(transport.traffic.requests == 2)
    }
  }

  @Test func `a passing failure that does not pass is reported with the server's words`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("503 X", body: "asleep\n")]
    } _: { server in
      let error = try await failure(transport(server) { $0.retry.maximumAttempts = 2 })
      #expect(error == .refused(url: server.url("/p/f"), status: 503, message: "asleep", attempts: 2))
    }
  }

  @Test(arguments: [204, 400, 401, 416, 501, 505]) func `another status is refused at once`(status: Int) async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("\(status) X")]
    } _: { server in
      let error = try await failure(transport(server))
      #expect(error == .refused(url: server.url("/p/f"), status: status, message: nil, attempts: 1))
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a connection that is refused is retried and then reported`() async throws {
    // A port that was free a moment ago.
    let port = try await ScriptedServer.run { _, _ in
      []
    } _: {
      $0.port
    }
    var options = TransportOptions()
    options.retry.maximumAttempts = 2
    let transport = try FileTransport(
      url: "http://127.0.0.1:\(port)/", options: options, environment: time.environment)
    let error = try await failure(transport)
    guard case .unreachable(_, let reason, 2) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("refused"))
    #expect(time.pauses == [.seconds(1)])
  }

  @Test func `cancellation ends a waiting request at once`() async throws {
    try await ScriptedServer.run { _, _ in
      [.head(length: 10), .send("first"), .hang]
    } _: { server in
      let transport = try transport(server)
      let (firstByte, signal) = AsyncStream.makeStream(of: Void.self)
      let task = Task { try await transport.get("f", FileRequest(limit: 10)) { _ in signal.finish() } }
      for await _ in firstByte {}
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  // MARK: Redirects

  @Test func `a redirect on the same host is followed with the same headers`() async throws {
    try await ScriptedServer.run(keepsConnections: true) { number, _ in
      number == 0
        ? [.answer("302 Found", headers: ["Location: /new/f?x=1"], body: "<html>")] : [Self.part(5..<10)]
    } _: { server in
      let transport = try transport(server, "/p?token=1") { $0.authorization = "Bearer abc" }
      let contents = try await transport.bytes(of: "f", FileRequest(offset: 5, byteCount: 5, limit: 5))
      #expect(contents.bytes == Array(Self.text(5..<10).utf8))
      let last = try #require(server.requests.last)
      #expect(last.hasPrefix("GET /new/f?x=1 HTTP/1.1"))
      #expect(Self.field("Range", of: last) == "bytes=5-9")
      #expect(Self.field("Authorization", of: last) == "Bearer abc")
      #expect(transport.traffic.requests == 2)
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `a redirect to another host is refused`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("301 Moved", headers: ["Location: http://localhost:1/f?token=secret"])]
    } _: { server in
      let error = try await failure(transport(server) { $0.authorization = "Bearer abc" })
      #expect(
        error
          == .redirectRefused(
            url: server.url("/p/f"), target: "http://localhost:1/f", reason: "which is another host"))
      #expect(server.requests.count == 1)
    }
  }

  // MARK: Connections

  @Test func `a connection serves one request after another, whatever it answers`() async throws {
    let steps: [Step] = [
      .answer(body: Self.file), .send("HTTP/1.1 304 Not Modified\r\n\r\n"), Self.part(5..<10),
      .answer("404 Not Found", body: "<html>no such file</html>"),
      .answer("416 X", headers: ["Content-Range: bytes */20"], body: "<html>no</html>"), .answer(body: Self.file),
    ]
    try await ScriptedServer.run(keepsConnections: true) { number, _ in
      [steps[number]]
    } _: { server in
      let transport = try transport(server)
      let news = FileRequest(validators: FileValidators(etag: "\"a\""), limit: 20)
      let part = FileRequest(offset: 5, byteCount: 5, limit: 5)
      for request in [news, news, part, news, part, part] { _ = try await transport.bytes(of: "f", request) }
      #expect(server.connectionCount == 1)
      #expect(server.requests.count == 6)
      let heads = steps.map { step in
        guard case .send(let text) = step else { return 0 }
        return text.utf8.count
      }
      // The last answer is a whole file instead of a part; it arrives in one piece.
      #expect(transport.traffic == (6, heads.reduce(0, +)))
    }
  }

  @Test func `a kept connection that dies under a request is replaced without an attempt`() async throws {
    try await ScriptedServer.run(keepsConnections: true) { number, _ in
      number == 1 ? [.close] : [.answer(body: "x")]
    } _: { server in
      let transport = try transport(server) { $0.retry.maximumAttempts = 1 }
      for _ in 0..<2 {
        let contents = try await transport.bytes(of: "f", FileRequest(limit: 1))
        #expect(contents.bytes == Array("x".utf8))
      }
      #expect(server.requests.count == 3)
      #expect(server.connectionCount == 2)
      #expect(time.pauses.isEmpty)
    }
  }
}

@Suite struct ContentRangeTests {
  @Test(
    arguments: [
      ("bytes 0-99/1234", 0, 100, 1234), ("bytes 5-5/*", 5, 6, nil), ("BYTES  0-0/1", 0, 1, 1),
    ] as [(String, Int, Int, Int?)])
  func `a range and the size of the file are read`(text: String, start: Int, end: Int, total: Int?) throws {
    let range = try #require(ContentRange(text))
    #expect(range.start == start && range.end == end && range.total == total)
  }

  @Test(arguments: [
    "", "bytes", "bytes 0-99", "bytes 0-99/", "bytes 9-0/20", "bytes 0-20/20", "bytes -5-9/20", "bytes +0-9/20",
    "bytes */20", "bytes 0-9/20/20", "bytes 0-1-2/20", "lines 0-9/20", "bytes 0-9 /20",
    "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "bytes -/9", "bytes 0-/9",
  ])
  func `a range that no file has is not read`(text: String) { #expect(ContentRange(text) == nil) }

  @Test func `the size of the file is read from a refusal`() {
    #expect(ContentRange.total(ofRefusal: "bytes */20") == 20)
    for text in ["", "bytes 0-9/20", "bytes */*", "lines */20", "bytes */-1"] {
      #expect(ContentRange.total(ofRefusal: text) == nil, "\(text)")
    }
  }
}
