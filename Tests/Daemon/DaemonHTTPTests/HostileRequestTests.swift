import Foundation
import NIOCore
import RandomTestSupport
import ScanDaemon
import StoreTestSupport
import Testing

@testable import DaemonHTTP

@Suite(.timeLimit(.minutes(10))) struct HostileRequestTests {
  @Test func `methods that a path does not know are refused, and it says which it knows`() async throws {
    try await TestDaemon.run { test in
      for (method, path, allowed) in [
        ("PUT", "/v1/status", "GET, HEAD, OPTIONS"), ("GET", "/v1/scans", "OPTIONS, POST"),
        ("HEAD", "/v1/scans", "OPTIONS, POST"), ("PATCH", "/v1/session", "DELETE, GET, HEAD, OPTIONS, POST"),
        ("TRACE", "/healthz", "GET, HEAD, OPTIONS"), ("POST", "/v1/products/1", "GET, HEAD, OPTIONS"),
      ] {
        let found1 = try await test.exchange(method, path, expecting: 405).headers["allow"]
        #expect(found1 == allowed)
        let found2 = try await test.exchange("OPTIONS", path, expecting: 204).headers["allow"]
        #expect(found2 == allowed)
      }
      let found3 = try await test.exchange("OPTIONS", "*", expecting: 204).headers["allow"]
      #expect(found3 == "GET, HEAD, OPTIONS")
    }
  }

  @Test(arguments: [
    "HTTP/1.0\r\n", "HTTP/1.0\r\nConnection: keep-alive\r\n", "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n",
    "HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, Close\r\nUpgrade: h2c\r\n",
  ])
  func `callers who wait for the end of the connection get it behind the answer`(version: String) async throws {
    try await TestDaemon.run { test in
      for request in ["GET /healthz", "GET /v1/scan/6901234567892", "GET /none", "GET none"] {
        let text = try await test.client.connect().executeThenClose { inbound, outbound in
          try await outbound.write(ByteBuffer(string: "\(request) \(version)\r\n"))
          var received: [UInt8] = []
          for try await buffer in inbound { received += buffer.readableBytesView }
          return String(decoding: received, as: UTF8.self)
        }
        #expect(text.hasPrefix("HTTP/1.1 ") && (text.hasSuffix("}") || request.hasSuffix(" none")), "\(text)")
      }
    }
  }

  @Test func `a request of HTTP-1.1 names one host`() async throws {
    try await TestDaemon.run { test in
      for path in ["/healthz", "/v1/status", "/v1/nothing", "/v1/events"] {
        for hosts in [
          "", "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nhost: example.org\r\n", "Host: a b\r\n",
        ] {
          let answer = try await test.client.send(Array("GET \(path) HTTP/1.1\r\n\(hosts)\r\n".utf8))
          #expect(answer.status == 400 && answer.errorCode == "badRequest", "\(path) \(hosts)")
        }
      }
      let both = "GET /healthz HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n"
      let found12 = try await test.client.send(Array(both.utf8)).status
      #expect(found12 == 400)
    }
  }

  @Test func `HEAD is GET without its body`() async throws {
    try await TestDaemon.run { test in
      for path in ["/v1/scan/6901234567892", "/healthz", "/v1/products/1001", "/openapi.json"] {
        let get = try await test.exchange("GET", path)
        let head = try await test.exchange("HEAD", path)
        #expect(head.body == [])
        #expect(head.headers["content-type"] == get.headers["content-type"])
        // The answer of a scan names itself anew, in as many bytes, but for its age.
        if !path.contains("scan") { #expect(head.headers["content-length"] == String(get.body.count)) }
      }
      try await test.exchange("HEAD", "/v1/products/9", expecting: 404)
    }
  }

  @Test(arguments: [
    "/", "/v1", "/v2/status", "/v1/status/", "/v1//status", "/v1/products/1/2", "/V1/STATUS", "/../etc",
  ])
  func `what is not there is 404 as JSON`(path: String) async throws {
    try await TestDaemon.run { test in
      let found4 = try await test.exchange("GET", path, expecting: 404).errorCode
      #expect(found4 == "notFound")
    }
  }

  @Test func `paths that are none are refused`() async throws {
    try await TestDaemon.run { test in
      for path in ["/v1/scan/%", "/v1/scan/%zz", "/v1/scan/%ff", "/v1/scan/%c3%28", "/v1/products?barcode=%ff"] {
        let found5 = try await test.exchange("GET", path, expecting: 400).errorCode
        #expect(found5 == "badRequest")
      }
      // Bytes that are no UTF-8 and stand there as they are.
      let raw = Array("GET /v1/scan/".utf8) + [0xFF, 0xC3] + Array(" HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
      #expect([400, 200].contains(try await test.client.send(raw).status))
      try await test.exchange("GET", "/healthz")
    }
  }

  @Test(arguments: ["/v1/scan/名", "/v1/scan/é", "/v1/scan/a b", "/v1/search?text=名 1", "/v1/scan/a\tb", "/\u{7F}"])
  func `an address that is not percent-encoded is refused, and the answer says what to do`(path: String) async throws {
    try await TestDaemon.run { test in
      for method in ["GET", "POST"] {
        let answer = try await test.client.send(Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.status == 400 && answer.errorCode == "badRequest" && text.contains("percent-encode"), "\(text)")
      }
    }
  }

  @Test func `bodies that are none are refused`() async throws {
    try await TestDaemon.run { test in
      for body in ["", "{", "[]", "null", "{\"code\":\"1\"", "{\"code\":\"\u{1}\"}", "{\"code\":[]}", "\u{FEFF}{}"] {
        let found6 = try await test.exchange("POST", "/v1/scans", body, expecting: 400).errorCode
        #expect(found6 == "badRequest")
      }
      try await test.exchange("POST", "/v1/scans", String(repeating: "[", count: 100_000), expecting: 400)
      let bytes = Array("{\"code\":\"".utf8) + [0xFF] + Array("\"}".utf8)
      let found7 = try await test.client.send(test.client.request("POST", "/v1/scans", body: bytes)).status
      #expect(found7 == 400)
    }
  }

  @Test func `the document and the server refuse the same bodies`() async throws {
    try await TestDaemon.run { test in
      let session = try await test.exchange("POST", "/v1/sessions", #"{"name":"s"}"#, expecting: 201).json["id"]?.text
      let scans = "/v1/sessions/\(try #require(session))/scans"
      let long = String(repeating: "1", count: 4096)
      // There is no server to synchronise with: a conflict is no error of the body.
      for (path, body, isGood) in [
        ("/v1/scans", #"{"code":"1","input":null,"tag":null}"#, true),
        ("/v1/scans", #"{"code":"1","codes":null}"#, true),
        ("/v1/scans", #"{"scans":[{"code":"1","input":"a-B_c.9","tag":null}],"input":null}"#, true),
        ("/v1/sync", #"{"full":null}"#, true), ("/v1/sync", #"{"full":0}"#, false),
        ("/v1/scans", #"{"code":"1","tag":"\#(long)"}"#, true),
        ("/v1/scans", #"{"code":"1","tag":"\#(long)x"}"#, false),
        ("/v1/scans", #"{"code":"\#(long)"}"#, true), ("/v1/scans", #"{"codes":["\#(long)x"]}"#, false),
        (scans, #"{"code":"\#(long)x"}"#, false), ("/v1/session", #"{"user":"\#(long)"}"#, false),
        ("/v1/scans", #"{"scans":[{"code":"1","tag":"t","input":"i"}],"tag":"\#(long)x"}"#, false),
        ("/v1/scans", #"{"scans":[{"code":"1","tag":"t","input":"i"}],"input":"a b"}"#, false),
        ("/v1/scans", #"{"code":"1","codes":["2"]}"#, false), ("/v1/scans", #"{"codes":["2"],"scans":3}"#, false),
        ("/v1/scans", #"{"code":"1","input":""}"#, false), ("/v1/scans", #"{"code":"1","input":"a b"}"#, false),
        ("/v1/scans", #"{"scans":[{"code":"1","input":"\u0012"}]}"#, false), ("/v1/sessions", #"{"input":""}"#, false),
        (scans, #"{"code":"1","codes":3.7}"#, false), (scans, #"{"code":null,"codes":["1"]}"#, true),
      ] {
        let faults = test.checker.faults("POST", path, requestBody: Array(body.utf8))
        #expect(faults.isEmpty == isGood, "\(body): \(faults)")
        let status = !isGood ? 400 : path == "/v1/sync" ? 409 : 200
        try await test.exchange("POST", path, body, expecting: status)
      }
    }
  }

  @Test func `only JSON is taken`() async throws {
    try await TestDaemon.run { test in
      for type in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx", "multipart/form-data"] {
        try await test.exchange(
          "POST", "/v1/scans", #"{"code":"1"}"#, headers: [("Content-Type", type)], expecting: 415)
      }
      for type in ["application/json", "Application/JSON ; charset=utf-8", "application/json;charset=UTF-8"] {
        try await test.exchange("POST", "/v1/scans", #"{"code":"1"}"#, headers: [("Content-Type", type)])
      }
    }
  }

  @Test func `a body has as many bytes as it may, and not one more`() async throws {
    try await TestDaemon.run { _, server in
      server.maximumBodyByteCount = 1000
    } _: { test in
      func body(_ count: Int) -> String {
        let frame = #"{"code":"1","x":""}"#
        return #"{"code":"1","x":""# + String(repeating: "y", count: count - frame.utf8.count) + #""}"#
      }
      try await test.exchange("POST", "/v1/scans", body(1000))
      let found8 = try await test.exchange("POST", "/v1/scans", body(1001), expecting: 413).errorCode
      #expect(found8 == "bodyTooLarge")
      try await test.exchange("POST", "/v1/scans", body(3_000_000), expecting: 413)
      // The limit that is named is the one that holds, also where so much is announced that nothing of it is read.
      let announced = try await test.client.send(
        test.client.request("POST", "/v1/scans", headers: [("Content-Length", "99999999")]))
      #expect(announced.status == 413 && announced.text.contains("more than 1000 bytes"), "\(announced.text)")
      // Without an announced length.
      let chunk = "7D0\r\n" + String(repeating: " ", count: 2000) + "\r\n0\r\n\r\n"
      let head = "POST /v1/scans HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      let found9 = try await test.client.send(Array((head + chunk).utf8)).status
      #expect(found9 == 413)
      // Who asks first is told before sending anything.
      let asks = "POST /v1/scans HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n"
      let found10 = try await test.client.send(Array(asks.utf8)).status
      #expect(found10 == 413)
    }
  }

  @Test func `who waits with the body until told to send it is told`() async throws {
    try await TestDaemon.run { test in
      let body = #"{"code":"1"}"#
      let head =
        "POST /v1/scans HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      try await test.client.connect().executeThenClose { inbound, outbound in
        var iterator = inbound.makeAsyncIterator()
        try await outbound.write(ByteBuffer(string: head))
        let go = try await iterator.next().map { String(buffer: $0) }
        #expect(go?.hasPrefix("HTTP/1.1 100") == true)
        try await outbound.write(ByteBuffer(string: body))
        let answer = try await iterator.next().map { String(buffer: $0) }
        #expect(answer?.hasPrefix("HTTP/1.1 200") == true)
      }
    }
  }

  @Test func `bytes that are no HTTP end a connection, and nothing else`() async throws {
    try await TestDaemon.run { test in
      var random = SeededGenerator(for: "requests")
      for _ in 0..<20 * depth {
        let noise = (0..<Int.random(in: 1...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        _ = try? await test.client.send(noise + Array("\r\n\r\n".utf8))
      }
      try await test.exchange("GET", "/healthz")
    }
  }

  @Test func `behind an answer to HEAD comes the next answer`() async throws {
    try await TestDaemon.run { test in
      let requests =
        test.client.request("HEAD", "/v1/events") + test.client.request("HEAD", "/healthz")
        + test.client.request("GET", "/healthz", headers: [("Connection", "close")])
      let text = try await test.client.connect().executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(bytes: requests))
        var received: [UInt8] = []
        for try await buffer in inbound { received += buffer.readableBytesView }
        return String(decoding: received, as: UTF8.self)
      }
      let parts = text.split(separator: "\r\n\r\n")
      #expect(parts.count == 4 && parts.prefix(3).allSatisfy { $0.hasPrefix("HTTP/1.1 200 OK") }, "\(text)")
    }
  }

  @Test func `who sends a body too slowly is cut off, also where nobody reads it`() async throws {
    try await TestDaemon.run { _, server in
      server.idleTimeout = .milliseconds(300)
    } _: { test in
      let fields = "Host: localhost\r\nContent-Length: 1000000\r\n"
      for beginning in [
        // Refused before the body is looked at, answered without it, and one behind another request.
        "POST /v1/nothing HTTP/1.1\r\n\(fields)\r\n", "POST /v1/queue/pause HTTP/1.1\r\n\(fields)\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n\(fields)\r\n",
      ] {
        let start = ContinuousClock.now
        let connection = try await test.client.connect()
        // One that is cut off already may not be closed once more.
        try? await connection.executeThenClose { inbound, outbound in
          await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
              try await outbound.write(ByteBuffer(string: beginning))
              while true {
                try await Task.sleep(for: .milliseconds(50))
                try await outbound.write(ByteBuffer(string: "x"))
              }
            }
            do { for try await _ in inbound {} } catch {}
            group.cancelAll()
          }
        }
        #expect(ContinuousClock.now - start < .seconds(120))
      }
    }
  }

  @Test func `who sends a request too slowly is cut off`() async throws {
    try await TestDaemon.run { _, server in
      server.idleTimeout = .milliseconds(200)
    } _: { test in
      for beginning in [
        "", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
        "POST /v1/scans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
      ] {
        let start = ContinuousClock.now
        let connection = try await test.client.connect()
        // One that is cut off already may not be closed once more.
        try? await connection.executeThenClose { inbound, outbound in
          // A byte now and then does not help.
          await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
              try? await outbound.write(ByteBuffer(string: beginning))
              while !beginning.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
                do { try await outbound.write(ByteBuffer(string: "x")) } catch { break }
              }
            }
            do { for try await _ in inbound {} } catch {}
            group.cancelAll()
          }
        }
        #expect(ContinuousClock.now - start < .seconds(120))
      }
    }
  }

  @Test func `a token is asked for`() async throws {
    try await TestDaemon.run { _, server in
      server.token = "s3cret"
      server.metrics = { [] }
    } _: { test in
      let refused = try await test.exchange("GET", "/v1/status", expecting: 401)
      #expect(refused.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
      #expect(refused.errorCode == "unauthorized")
      for header in ["Bearer wrong", "Bearer s3cre", "Basic s3cret", "s3cret"] {
        try await test.exchange("GET", "/v1/status", headers: [("Authorization", header)], expecting: 401)
      }
      try await test.exchange("GET", "/v1/nothing", expecting: 401)
      try await test.exchange("GET", "/v1/events", expecting: 401)
      try await test.exchange("GET", "/v1/status", headers: [("Authorization", "Bearer s3cret")])
      for path in ["/healthz", "/readyz", "/metrics"] { try await test.exchange("GET", path) }
    }
  }

  @Test func `pages of other sites are kept out`() async throws {
    try await TestDaemon.run { test in
      let rebound = try await test.exchange(
        "GET", "/v1/status", headers: [("Host", "rebound.example.org:8765")], expecting: 403)
      #expect(rebound.errorCode == "foreignHost")
      let foreign = try await test.exchange(
        "POST", "/v1/scans", #"{"code":"1"}"#, headers: [("Origin", "https://example.org")], expecting: 403)
      #expect(foreign.errorCode == "foreignOrigin")
      let found11 = try await test.exchange("GET", "/v1/misses").json["misses"]
      #expect(found11 == .array([]))
      try await test.exchange("GET", "/v1/status", headers: [("Origin", "http://localhost:3000")])
    }
  }

  @Test func `too many requests are refused for a while`() async throws {
    try await TestDaemon.run { _, server in
      server.requestsPerSecond = 0.01
      server.requestBurst = 3
    } _: { test in
      for _ in 0..<3 { try await test.exchange("GET", "/v1/scan/1") }
      let refused = try await test.exchange("GET", "/v1/scan/1", expecting: 429)
      #expect(refused.errorCode == "tooManyRequests")
      #expect(Int(refused.headers["retry-after"] ?? "") ?? 0 > 1)
      try await test.exchange("GET", "/healthz")
    }
  }

  @Test func `a hundred requests at once are answered, each with its own`() async throws {
    try await TestDaemon.run { _, server in
      // Fewer connections than callers: the others are told to come back.
      server.maximumConnections = 20
    } _: { test in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            let request =
              number % 2 == 0
              ? test.client.request("GET", "/v1/scan/n\(number)")
              : test.client.request("POST", "/v1/scans", body: Array(#"{"code":"n\#(number)"}"#.utf8))
            var answer = try await test.client.sendAgainIfUnread(request)
            while answer.status == 503, answer.errorCode == "tooManyConnections", answer.headers["retry-after"] == "1" {
              try await Task.sleep(for: .milliseconds(20))
              answer = try await test.client.sendAgainIfUnread(request)
            }
            #expect(answer.json["code"]?.text == "n\(number)", "\(answer.text)")
          }
        }
        try await group.waitForAll()
      }
      _ = try await test.misses(50)
    }
  }

  @Test func `requests of one connection are answered in their order`() async throws {
    try await TestDaemon.run { test in
      var bytes: [UInt8] = []
      for number in 0..<20 {
        bytes += test.client.request("GET", "/v1/scan/n\(number)")
        bytes += test.client.request("POST", "/v1/scans", body: Array("{\"code\":\"m\(number)\"}".utf8))
      }
      try await test.client.connect().executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(bytes: bytes))
        var received = ""
        for try await buffer in inbound {
          received += String(buffer: buffer)
          if received.contains("\"code\":\"m19\""), received.hasSuffix("}") { break }
        }
        let codes = received.matches(of: /"code":"([nm]\d+)"/).map { String($0.1) }
        #expect(codes == (0..<20).flatMap { ["n\($0)", "m\($0)"] })
      }
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct ListeningTests {
  @Test func `a Unix domain socket is its owner's, replaces a stale one, and goes at the end`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/http"
    for _ in 0..<2 {
      try await TestDaemon.run { _, server in
        server.address = .socket(path: path)
      } _: { test in
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let found13 = try await test.exchange("GET", "/v1/session").json["user"]?.text
        #expect(found13 == "ana")
        // Another one does not take it away.
        var options = DaemonServer.Options()
        options.address = .socket(path: path)
        let second = try DaemonServer(test.daemon, options: options, logger: .init(label: "test"))
        await #expect(throws: DaemonServerError.cannotListen(path, reason: "another process listens there")) {
          try await second.run()
        }
        try await test.exchange("GET", "/healthz")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["http"])
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
      try await StaleSocket.make(path)
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  /// Why a server does not listen at a path.
  private func errorResponse(_ path: String) async throws -> DaemonServerError {
    try await #require(throws: DaemonServerError.self) {
      try await TestDaemon.run({ _, options in options.address = .socket(path: path) }) { _ in }
    }
  }

  @Test func `a file that is no socket stays`() async throws {
    let directory = try TemporaryDirectory()
    try directory.write([1], to: "http")
    let path = directory.path + "/http"
    #expect(try await errorResponse(path) == .cannotListen(path, reason: "a file that is no socket has this name"))
    #expect(try directory.contents("http") == [1])
  }

  @Test func `a path that cannot be is refused with words`() async throws {
    let long = "/tmp/" + String(repeating: "x", count: 120)
    let reason = "a socket's path has 1 to 93 bytes, none of them zero; this one has 125"
    #expect(try await errorResponse(long) == .cannotListen(long, reason: reason))
    let (empty, nowhere) = (try await errorResponse(""), try await errorResponse("/nowhere/at/all"))
    #expect(empty.description.contains("1 to 93 bytes"))
    #expect(nowhere.description.contains("No such file or directory"))
  }

  @Test func `a port that is taken is an error of its own`() async throws {
    try await TestDaemon.run { test in
      guard case .port(let port) = test.client.place else { return }
      var options = DaemonServer.Options()
      options.address = .host("127.0.0.1", port: port)
      let second = try DaemonServer(test.daemon, options: options, logger: .init(label: "test"))
      await #expect(throws: DaemonServerError.self) { try await second.run() }
    }
  }

  @Test func `a running answer is finished at graceful shutdown`() async throws {
    try await TestDaemon.run { test in
      let body = #"{"codes":["# + (0..<300).map { "\"miss \($0)\"" }.joined(separator: ",") + "]}"
      try await test.client.connect().executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(bytes: test.client.request("POST", "/v1/scans", body: Array(body.utf8))))
        // The answer has begun when its scans are reported as events.
        for await _ in test.daemon.events.events(after: nil) { break }
        await test.group.triggerGracefulShutdown()
        var received: [UInt8] = []
        for try await buffer in inbound { received += buffer.readableBytesView }
        let answer = TestAnswer(received)
        #expect(answer?.status == 200)
        #expect(answer?.json["answers"]?.elements.count == 300)
      }
    }
  }
}
