import Synchronization
import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(10))) struct HTTPTransportTests {
  let time = FakeTime()

  /// Fetches into a text, as every caller with a state does.
  func fetch(
    _ url: String, cursor: String = "", change: (inout TransportOptions) -> Void = { _ in }
  ) async throws -> (text: String, info: FetchInfo) {
    var options = TransportOptions()
    change(&options)
    let transport = try HTTPTransport(url: url, options: options, environment: time.environment)
    let fetched = try await transport.fetch(cursor: cursor, into: { [UInt8]() }) { state, chunk in
      for index in chunk.indices { state.append(chunk[index]) }
    }
    return (String(decoding: fetched.state, as: UTF8.self), fetched.info)
  }

  /// Fetches expecting the world's fault.
  func failure(
    _ url: String, change: (inout TransportOptions) -> Void = { _ in }
  ) async throws -> TransportError? {
    await #expect(throws: TransportError.self) { try await fetch(url, change: change) }
  }

  // MARK: Request

  @Test func `the request carries the cursor, the headers and nothing about compression`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let answer = try await fetch(server.url("/c?site=7"), cursor: "2026-01-02 03:04:05") {
        $0.authorization = "Bearer abc"
        $0.headers = [("X-Device", "till 3"), ("user-agent", "till")]
      }
      #expect(answer.text == "hello")
      #expect(
        answer.info == FetchInfo(url: server.url("/c"), byteCount: 5, attempts: 1, redirects: 0))
      let head = try #require(server.requests.first).lowercased()
      #expect(head.hasPrefix("get /c?site=7&updatetime=2026-01-02%2003%3a04%3a05 http/1.1\r\n"))
      #expect(head.contains("\r\nauthorization: bearer abc\r\n"))
      #expect(head.contains("\r\nx-device: till 3\r\n"))
      #expect(head.contains("\r\nuser-agent: till\r\n"))
      #expect(!head.contains("shelfmark"))
      #expect(!head.contains("accept-encoding"))
    }
  }

  @Test func `a user and password in the URL become Basic authentication`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      _ = try await fetch("http://ann:s%40cret@127.0.0.1:\(server.port)/")
      #expect(try #require(server.requests.first).contains("Authorization: Basic YW5uOnNAY3JldA=="))
    }
  }

  @Test(arguments: [
    ("X\r\nY", "1"), ("", "1"), ("X", "1\r\nY: 2"), ("Host", "other"), ("Accept-Encoding", "br"),
  ])
  func `a header that cannot or must not be sent is refused`(name: String, value: String) {
    var options = TransportOptions()
    options.headers = [(name, value)]
    #expect(throws: TransportError.invalidHeader(name: name)) {
      try HTTPTransport(url: "http://h/", options: options)
    }
  }

  // MARK: Retries

  @Test func `a 503 is retried until it succeeds`() async throws {
    let notices = Mutex<[String]>([])
    try await ScriptedServer.run { number, _ in
      number < 2 ? [.answer("503 Asleep")] : [.answer(body: "hello")]
    } _: { server in
      let answer = try await fetch(server.url()) {
        $0.onRetry = { notice in
          notices.withLock { $0.append("\(notice.attempt)/\(notice.maximumAttempts) \(notice.pause)") }
        }
      }
      #expect(answer.text == "hello")
      #expect(answer.info.attempts == 3)
      #expect(time.pauses == [.seconds(1), .seconds(2)])
      #expect(notices.withLock { $0 } == ["1/5 1.0 seconds", "2/5 2.0 seconds"])
    }
  }

  @Test(arguments: [
    ("429 Slow Down", "Retry-After: 17"), ("503 Asleep", "Retry-After: Fri, 02 Jan 2026 03:04:22 GMT"),
  ])
  func `Retry-After is honoured`(status: String, header: String) async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.answer(status, headers: [header])] : [.answer(body: "hello")]
    } _: { server in
      let answer = try await fetch(server.url())
      #expect(answer.text == "hello")
      #expect(time.pauses == [.seconds(17)])
    }
  }

  @Test func `after the last attempt the refusal is reported with the server's words`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("500 Oops", body: "disk full\nstack trace")]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 3 }
      #expect(error == .refused(url: server.url(), status: 500, message: "disk full", attempts: 3))
      #expect(server.requests.count == 3)
      #expect(time.pauses.count == 2)
    }
  }

  @Test(arguments: ["404 Not Found", "401 Unauthorized", "204 No Content", "206 Partial Content"])
  func `another status is not retried`(status: String) async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(status)]
    } _: { server in
      let error = try await failure(server.url())
      #expect(error == .refused(url: server.url(), status: Int(status.prefix(3))!, message: nil, attempts: 1))
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a refused connection is retried and then reported`() async throws {
    // A port that was free a moment ago.
    let port = try await ScriptedServer.run { _, _ in
      []
    } _: {
      $0.port
    }
    let error = try await failure("http://127.0.0.1:\(port)/") { $0.retry.maximumAttempts = 2 }
    guard case .unreachable(_, let reason, 2) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("refused"))
    #expect(time.pauses == [.seconds(1)])
  }

  @Test func `a connection closed without an answer is retried`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [] : [.answer(body: "hello")]
    } _: { server in
      let answer = try await fetch(server.url())
      #expect(answer.info.attempts == 2)
    }
  }

  @Test func `what is not HTTP is reported`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("SSH-2.0-OpenSSH_9.6\r\n\r\n")]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 1 }
      #expect(error == .notUnderstood(url: server.url(), reason: "no HTTP answer", attempts: 1))
    }
  }

  @Test(arguments: ["HTTP/1.1 200 OK\r\nX", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n"])
  func `an answer that ends inside its head, or is another protocol, is reported`(text: String) async throws {
    try await ScriptedServer.run { _, _ in
      [.send(text)]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 1 }
      #expect(error == .notUnderstood(url: server.url(), reason: "no HTTP answer", attempts: 1))
    }
  }

  @Test func `a switch of protocols is an answer that is refused`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 1 }
      #expect(error == .refused(url: server.url(), status: 101, message: nil, attempts: 1))
    }
  }

  @Test func `no pause is begun that would outlast the total time`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("503 Asleep", headers: ["Retry-After: 100"])]
    } _: { server in
      let error = try await failure(server.url()) { $0.totalTimeout = .seconds(90) }
      #expect(error == .refused(url: server.url(), status: 503, message: nil, attempts: 1))
      #expect(time.pauses.isEmpty)
    }
  }

  // MARK: Redirects

  @Test func `a redirect on the same host is followed`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.answer("302 Found", headers: ["Location: /new?x=1"])] : [.answer(body: "hello")]
    } _: { server in
      let answer = try await fetch(server.url("/old"), cursor: "5")
      #expect(answer.text == "hello")
      #expect(answer.info.redirects == 1)
      #expect(answer.info.url == server.url("/new"))
      #expect(server.requests.last?.hasPrefix("GET /new?x=1&updateTime=5 ") == true)
    }
  }

  @Test func `a redirect to another host is refused`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("301 Moved", headers: ["Location: http://localhost:1/p?token=secret"])]
    } _: { server in
      let error = try await failure(server.url())
      #expect(
        error
          == .redirectRefused(
            url: server.url(), target: "http://localhost:1/p", reason: "which is another host"))
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a circle of redirects ends at the limit`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("307 Again", headers: ["Location: /"])]
    } _: { server in
      let error = try await failure(server.url()) { $0.maximumRedirects = 3 }
      #expect(error == .tooManyRedirects(url: server.url(), maximum: 3))
      #expect(server.requests.count == 4)
    }
  }

  // MARK: Body

  @Test func `the bytes of two attempts never meet`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.head(length: 10), .send("first")] : [.answer(body: "second")]
    } _: { server in
      let answer = try await fetch(server.url())
      #expect(answer.text == "second")
      #expect(answer.info == FetchInfo(url: server.url(), byteCount: 6, attempts: 2, redirects: 0))
    }
  }

  @Test func `a body cut short is an error`() async throws {
    try await ScriptedServer.run { _, _ in
      [.head(length: 10), .send("first")]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 2 }
      #expect(error == .bodyCutShort(url: server.url(), received: 5, expected: 10, attempts: 2))
    }
  }

  @Test func `a chunked body without its end is an error`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 1 }
      #expect(error == .bodyCutShort(url: server.url(), received: 5, expected: nil, attempts: 1))
    }
  }

  @Test func `a caller without a state is not asked to forget what it was given`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.answer("503 Asleep")] : [.head(length: 10), .send("first")]
    } _: { server in
      let transport = try HTTPTransport(url: server.url(), environment: time.environment)
      var byteCount = 0
      await #expect(
        throws: TransportError.bodyCutShort(url: server.url(), received: 5, expected: 10, attempts: 2)
      ) {
        try await transport.fetch(cursor: "") { byteCount += $0.count }
      }
      #expect(byteCount == 5)
      #expect(server.requests.count == 2)
    }
  }

  @Test func `the caller's own error passes through and is not retried`() async throws {
    struct DiskFull: Error {}
    try await ScriptedServer.run { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let transport = try HTTPTransport(url: server.url(), environment: time.environment)
      await #expect(throws: DiskFull.self) {
        try await transport.fetch(cursor: "", into: {}) { _, _ in throw DiskFull() }
      }
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a body with the connection as its end is taken whole`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 200 OK\r\n\r\nhello")]
    } _: { server in
      let answer = try await fetch(server.url())
      #expect(answer.text == "hello")
    }
  }

  @Test(arguments: ["1.0", "1.1"])
  func `an answer without a length that was cut is fetched again`(version: String) async throws {
    let whole = #"{"message":"a \" b }","code":1000,"data":"H4sI","list":[{"a":[1]}]}"#
    for count in [0, 1, 12, 20, 21, 40, 55, whole.utf8.count - 1] {
      try await ScriptedServer.run { number, _ in
        let body = number == 0 ? String(whole.prefix(count)) : whole + "\n"
        return [.send("HTTP/\(version) 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)]
      } _: { server in
        let answer = try await fetch(server.url())
        #expect(answer.text == whole + "\n" && answer.info.attempts == 2, "after \(count) bytes: \(answer)")
      }
    }
  }

  @Test func `an answer without a length that is always cut says so`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.0 200 OK\r\n\r\n{\"code\":1000,\"data\":\"H4sI")]
    } _: { server in
      let error = try await failure(server.url()) { $0.retry.maximumAttempts = 3 }
      #expect(error == .bodyCutShort(url: server.url(), received: 25, expected: nil, attempts: 3))
      #expect(server.requests.count == 3)
    }
  }

  @Test(arguments: ["hello", "<html><body>{", "\u{FEFF} {\"a\":1}", "[1,{}]x{", "1"])
  func `a body without a length is otherwise taken as it is`(body: String) async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.0 200 OK\r\n\r\n" + body)]
    } _: { server in
      let answer = try await fetch(server.url())
      #expect(answer.text == body && answer.info.attempts == 1)
    }
  }

  @Test func `an empty body makes an empty state`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer()]
    } _: { server in
      let answer = try await fetch(server.url())
      #expect(answer.info.byteCount == 0)
    }
  }

  @Test func `a body of the maximum is taken and one byte more refused`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.answer(body: "hello")] : [.send("HTTP/1.1 200 OK\r\n\r\nhello!")]
    } _: { server in
      let answer = try await fetch(server.url()) { $0.maximumBodyByteCount = 5 }
      #expect(answer.text == "hello")
      let error = try await failure(server.url()) { $0.maximumBodyByteCount = 5 }
      #expect(error == .bodyTooLong(url: server.url(), maximum: 5))
    }
  }

  @Test func `an announced length beyond the maximum is refused before the body`() async throws {
    try await ScriptedServer.run { _, _ in
      [.head(length: 1 << 40), .hang]
    } _: { server in
      let error = try await failure(server.url())
      #expect(error == .bodyTooLong(url: server.url(), maximum: TransportOptions().maximumBodyByteCount))
    }
  }

  @Test func `a content coding that nobody asked for is refused`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(headers: ["Content-Encoding: br"], body: "x")]
    } _: { server in
      let error = try await failure(server.url())
      #expect(
        error == .notUnderstood(url: server.url(), reason: "Content-Encoding was not asked for", attempts: 1))
    }
  }

  @Test func `a length that no body can have is refused`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello")]
    } _: { server in
      let error = try await failure(server.url())
      let reason = "Content-Length is 99999999999999999999, which is no length"
      #expect(error == .notUnderstood(url: server.url(), reason: reason, attempts: 1))
    }
  }

  @Test func `a big body is streamed and the server waits for a slow caller`() async throws {
    let byteCount = 48 << 20
    try await ScriptedServer.run { _, _ in
      [.head(length: byteCount), .flood(byteCount: byteCount)]
    } _: { server in
      let transport = try HTTPTransport(url: server.url(), environment: time.environment)
      var received = 0
      var longestChunk = 0
      var aheadAtFirst = 0
      let info = try await transport.fetch(cursor: "") { chunk in
        if received == 0 {
          // Until the server makes no progress any more: then it waits for us.
          var before = -1
          while before != server.floodedByteCount {
            before = server.floodedByteCount
            var spins = 0
            let end = ContinuousClock.now + .milliseconds(50)
            while ContinuousClock.now < end { spins += 1 }
          }
          aheadAtFirst = before
        }
        received += chunk.count
        longestChunk = max(longestChunk, chunk.count)
      }
      #expect(info.byteCount == byteCount)
      #expect(received == byteCount)
      #expect(longestChunk <= 4 << 20)
      #expect(aheadAtFirst < byteCount / 2)
    }
  }

  // MARK: Time limits and cancellation

  @Test(arguments: [false, true])
  func `a server that says nothing is given up after the read time, whatever a connection may take`(
    isEncrypted: Bool
  ) async throws {
    try await ScriptedServer.run(tls: isEncrypted) { _, _ in
      [.hang]
    } _: { server in
      let url = server.url(host: "localhost", scheme: isEncrypted ? "https" : "http")
      let error = try await failure(url) {
        $0.connectTimeout = .seconds(3000)
        $0.idleTimeout = .milliseconds(50)
        $0.verifiesCertificates = false
        $0.retry.maximumAttempts = 1
      }
      #expect(error == .timedOut(url: url, limit: .idle, seconds: 0.05, attempts: 1))
    }
  }

  @Test func `a server that does not answer the handshake is given up as no connection`() async throws {
    try await ScriptedServer.run { _, _ in
      [.hang]
    } _: { server in
      let url = server.url(host: "localhost", scheme: "https")
      let error = try await failure(url) {
        $0.connectTimeout = .milliseconds(300)
        $0.idleTimeout = .milliseconds(1)
        $0.retry.maximumAttempts = 1
      }
      #expect(error == .timedOut(url: url, limit: .connect, seconds: 0.3, attempts: 1))
    }
  }

  @Test func `a body that stalls is given up after the read time`() async throws {
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.head(length: 10), .send("first"), .hang] : [.answer(body: "second")]
    } _: { server in
      let answer = try await fetch(server.url()) { $0.idleTimeout = .seconds(5) }
      #expect(answer.text == "second")
    }
  }

  @Test func `a body without a length that stalls is not taken for whole`() async throws {
    try await ScriptedServer.run { _, _ in
      [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"), .hang]
    } _: { server in
      let error = try await failure(server.url()) {
        $0.idleTimeout = .milliseconds(100)
        $0.retry.maximumAttempts = 1
      }
      #expect(error == .timedOut(url: server.url(), limit: .idle, seconds: 0.1, attempts: 1))
    }
  }

  @Test func `a body that drips for ever is given up after the total time`() async throws {
    try await ScriptedServer.run { _, _ in
      [.head(length: 1 << 20), .drip("x")]
    } _: { server in
      var options = TransportOptions()
      options.totalTimeout = .milliseconds(150)
      // The machine's clock: the limit passes between bytes, not in one wait.
      let transport = try HTTPTransport(url: server.url(), options: options)
      await #expect(
        throws: TransportError.timedOut(url: server.url(), limit: .total, seconds: 0.15, attempts: 1)
      ) {
        try await transport.fetch(cursor: "") { _ in }
      }
    }
  }

  @Test func `cancellation ends a waiting fetch at once`() async throws {
    try await ScriptedServer.run { _, _ in
      [.head(length: 10), .send("first"), .hang]
    } _: { server in
      let transport = try HTTPTransport(url: server.url(), environment: time.environment)
      let (firstByte, signal) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await transport.fetch(cursor: "") { _ in signal.finish() }
      }
      for await _ in firstByte {}
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func `cancellation before the answer ends the fetch at once`() async throws {
    let (asked, signal) = AsyncStream.makeStream(of: Void.self)
    try await ScriptedServer.run { _, _ in
      signal.finish()
      return [.hang]
    } _: { server in
      let transport = try HTTPTransport(url: server.url(), environment: time.environment)
      let task = Task { try await transport.fetch(cursor: "") { _ in } }
      for await _ in asked {}
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func `cancellation ends a pause at once`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("503 Asleep", headers: ["Retry-After: 60"])]
    } _: { server in
      var options = TransportOptions()
      let (pausing, signal) = AsyncStream.makeStream(of: Void.self)
      options.onRetry = { _ in signal.finish() }
      let transport = try HTTPTransport(url: server.url(), options: options)
      let task = Task { try await transport.fetch(cursor: "") { _ in } }
      for await _ in pausing {}
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}
