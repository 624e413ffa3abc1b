import HTTPServer
import NIOCore
import NIOEmbedded
import NIOHTTP1
import StoreTestSupport
import Synchronization
import Testing

@testable import DaemonHTTP

/// Requests that no route ever sees.
@Suite(.timeLimit(.minutes(10))) struct RequestGuardTests {
  /// Everything that the daemon writes until the connection ends.
  private func exchange(_ test: TestDaemon, _ pieces: [String]) async throws -> String {
    let received = Mutex<[UInt8]>([])
    do {
      try await test.client.connect().executeThenClose { inbound, outbound in
        for piece in pieces { try? await outbound.write(ByteBuffer(string: piece)) }
        for try await buffer in inbound { received.withLock { $0 += buffer.readableBytesView } }
      }
    } catch ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed {
      // One that the daemon has closed already may not be closed once more.
    }
    return String(decoding: received.withLock { $0 }, as: UTF8.self)
  }

  private static let host = "Host: localhost\r\n"

  @Test(arguments: [
    ("nonsense\r\n\r\n", 400, "badRequest"),
    ("FROBNICATE / HTTP/1.1\r\n\(host)\r\n", 400, "badRequest"),
    ("GET / HTTP/1.1\r\n\(host)no colon\r\n\r\n", 400, "badRequest"),
    ("GET / HTTP/1.1\r\n\(host): nameless\r\n\r\n", 400, "badRequest"),
    ("GET / HTTP/2.0\r\n\(host)\r\n", 505, "unknownVersion"),
    ("GET / HTTP/3.0\r\n\(host)\r\n", 505, "unknownVersion"),
    ("GET /v1/scan/\(String(repeating: "1", count: 16_400)) HTTP/1.1\r\n\(host)\r\n", 414, "targetTooLong"),
    ("GET / HTTP/1.1\r\n\(host)X: \(String(repeating: "x", count: 17_000))\r\n\r\n", 431, "headTooLarge"),
    ("GET / HTTP/1.1\r\n\(host)\((0..<120).map { "X-\($0): 1\r\n" }.joined())\r\n", 431, "headTooLarge"),
    (
      "GET / HTTP/1.1\r\n\(host)\((0..<5).map { "X-\($0): \(String(repeating: "x", count: 9000))\r\n" }.joined())\r\n",
      431, "headTooLarge"
    ),
    ("POST /v1/scans HTTP/1.1\r\n\(host)Content-Length: two\r\n\r\n{}", 400, "badRequest"),
    ("POST /v1/scans HTTP/1.1\r\n\(host)Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", 400, "badRequest"),
    (
      "POST /v1/scans HTTP/1.1\r\n\(host)Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      400,
      "badRequest"
    ),
    ("POST /v1/scans HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n", 400, "badRequest"),
    ("POST /v1/nothing HTTP/1.1\r\n\(host)Transfer-Encoding: gzip\r\n\r\n", 501, "unknownTransferCoding"),
    (
      "POST /v1/scans HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501,
      "unknownTransferCoding"
    ),
    // Nothing of the body is there, or will be.
    ("POST /v1/scans HTTP/1.1\r\n\(host)Content-Length: 99999999\r\n\r\n", 413, "bodyTooLarge"),
    ("POST /v1/scans HTTP/1.1\r\n\(host)Transfer-Encoding: identity\r\n\r\n", 501, "unknownTransferCoding"),
  ])
  func `it is answered as JSON, and the connection ends`(request: String, status: Int, code: String) async throws {
    try await TestDaemon.run { test in
      let text = try await exchange(test, [request])
      let answer = TestAnswer(Array(text.utf8))
      #expect(answer?.status == status && answer?.errorCode == code, "\(text)")
      #expect(answer?.headers["content-type"] == "application/json" && answer?.headers["connection"] == "close")
      #expect(answer?.headers["date"] != nil)
      #expect(text.ranges(of: "\r\n\r\n").count == 1, "\(text)")
      // Also where it comes in two pieces.
      let half = request.index(request.startIndex, offsetBy: request.count / 2)
      let pieces = [String(request[..<half]), String(request[half...])]
      let again = TestAnswer(Array(try await exchange(test, pieces).utf8))
      #expect(again?.status == status && again?.errorCode == code, "\(again?.text ?? "")")
      try await test.exchange("GET", "/healthz")
    }
  }

  @Test func `what came before is answered first`() async throws {
    try await TestDaemon.run { test in
      let scan = String(decoding: test.client.request("GET", "/v1/scan/n1"), as: UTF8.self)
      let post = String(
        decoding: test.client.request("POST", "/v1/scans", body: Array(#"{"code":"n2"}"#.utf8)), as: UTF8.self)
      for (bad, status) in [
        ("nonsense\r\n\r\n", 400),
        ("POST /v1/scans HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("POST /v1/scans HTTP/1.1\r\n\(Self.host)Transfer-Encoding: gzip\r\n\r\n", 501),
      ] {
        let text = try await exchange(test, [scan + post + bad])
        let statuses = text.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) }
        #expect(statuses == ["200", "200", "\(status)"], "\(text)")
        #expect(text.contains(#""code":"n1""#) && text.contains(#""code":"n2""#))
      }
    }
  }

  @Test func `a body that breaks after its answer gets no second one`() async throws {
    try await TestDaemon.run { test in
      // Nobody reads this body: the answer comes first, and then the connection ends.
      let head = "POST /v1/nothing HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
      try await test.client.connect().executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(string: head))
        var received = ""
        var isBroken = false
        for try await buffer in inbound {
          received += String(buffer: buffer)
          if !isBroken, TestAnswer(Array(received.utf8)) != nil {
            isBroken = true
            try await outbound.write(ByteBuffer(string: "xyz\r\n"))
          }
        }
        #expect(isBroken && received.ranges(of: "HTTP/1.1 ").count == 1, "\(received)")
      }
    }
  }

  @Test func `HEAD is refused without a body`() async throws {
    try await TestDaemon.run { test in
      let text = try await exchange(test, ["HEAD / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: gzip\r\n\r\n"])
      #expect(text.hasPrefix("HTTP/1.1 501") && text.hasSuffix("\r\n\r\n"), "\(text)")
    }
  }

  @Test func `a packed body is refused`() async throws {
    try await TestDaemon.run { test in
      let refused = try await test.exchange(
        "POST", "/v1/scans", #"{"code":"1"}"#, headers: [("Content-Encoding", "gzip")], expecting: 415)
      #expect(refused.errorCode == "unsupportedContentEncoding")
      #expect(refused.headers["accept-encoding"] == "identity")
      try await test.exchange("POST", "/v1/scans", #"{"code":"1"}"#, headers: [("Content-Encoding", "identity")])
    }
  }

  @Test func `another protocol is not agreed to, and the connection ends`() async throws {
    try await TestDaemon.run { test in
      let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
      let text = try await exchange(test, ["GET /healthz HTTP/1.1\r\n\(Self.host)\(upgrade)\r\n"])
      #expect(text.hasPrefix("HTTP/1.1 200"), "\(text)")
      let tunnel = try await exchange(test, ["CONNECT localhost:1 HTTP/1.1\r\n\(Self.host)\r\n"])
      #expect(tunnel.hasPrefix("HTTP/1.1 4"), "\(tunnel)")
    }
  }

  // MARK: Limits

  /// Opens connections and has them send something; gives them to `body`, and closes them.
  private func withConnections(
    _ count: Int, _ test: TestDaemon, _ beginning: String, _ body: () async throws -> Void
  ) async throws {
    guard count > 0 else { return try await body() }
    // One that is ended already may not be closed once more.
    var outcome: Result<Void, any Error> = .success(())
    try? await test.client.connect().executeThenClose { inbound, outbound in
      if !beginning.isEmpty { try await outbound.write(ByteBuffer(string: beginning)) }
      do { try await withConnections(count - 1, test, beginning, body) } catch { outcome = .failure(error) }
    }
    try outcome.get()
  }

  @Test func `slow callers keep nobody out`() async throws {
    try await TestDaemon.run { _, server in
      server.maximumConnections = 32
    } _: { test in
      for beginning in ["", "GET /healthz HTTP/1.1\r\nHost: loc"] {
        try await withConnections(40, test, beginning) {
          // At once, though all are younger than a second; then whatever is asked.
          try await test.exchange("GET", "/healthz", isFull: true)
          try await test.exchange("GET", "/readyz", isFull: true)
          var answer = try await test.client.sendAgainIfUnread(test.client.request("GET", "/v1/scan/n1"))
          while answer.status == 503 {
            #expect(answer.errorCode == "tooManyConnections" && answer.headers["retry-after"] == "1")
            try await Task.sleep(for: .milliseconds(100))
            answer = try await test.client.sendAgainIfUnread(test.client.request("GET", "/v1/scan/n1"))
          }
          #expect(answer.json["code"]?.text == "n1")
          let problems = try JSONBody(test.daemon.status().bytes)["problems"]?.elements ?? []
          #expect(problems.contains { $0["code"]?.text == "connections_refused" && $0["about"]?.text == "http" })
        }
      }
    }
  }

  @Test func `beyond the share of an address only the daemon's health is answered`() async throws {
    try await TestDaemon.run { _, server in
      server.maximumConnections = 32
      server.maximumConnectionsPerAddress = 3
    } _: { test in
      let listen = String(decoding: test.client.request("GET", "/v1/events"), as: UTF8.self)
      try await withConnections(3, test, listen) {
        while try JSONBody(test.daemon.status().bytes)["eventListeners"]?.int ?? 0 < 3 {
          try await Task.sleep(for: .milliseconds(10))
        }
        for path in ["/healthz", "/readyz"] {
          try await test.exchange("GET", path, isFull: true)
          try await test.exchange("HEAD", path, isFull: true)
        }
        for (method, path) in [("GET", "/v1/status"), ("POST", "/v1/scans"), ("GET", "/healthzz"), ("OPTIONS", "*")] {
          let refused = try await test.client.sendAgainIfUnread(test.client.request(method, path))
          #expect(refused.status == 503 && refused.errorCode == "tooManyConnections", "\(path)")
          #expect(refused.headers["connection"] == "close")
        }
      }
      // They are gone when the daemon has seen that.
      while try await test.client.sendAgainIfUnread(test.client.request("GET", "/v1/status")).status != 200 {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  @Test func `a Unix domain socket has no shares`() async throws {
    let directory = try TemporaryDirectory()
    try await TestDaemon.run { _, server in
      server.address = .socket(path: directory.path + "/http")
      server.maximumConnectionsPerAddress = 1
    } _: { test in
      try await withConnections(3, test, "") { try await test.exchange("GET", "/v1/status") }
    }
  }
}
