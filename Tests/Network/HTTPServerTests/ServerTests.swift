import HTTPTypes
import NIOCore
import Synchronization
import Testing
import WaitingTestSupport

@testable import HTTPServer

@Suite(.timeLimit(.minutes(10))) struct ServerTests {
  private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  private let last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  // MARK: Connections

  @Test func `a connection goes on after a response, and ends when the client says so`() async throws {
    try await TestServer.run(handler: echo) { server in
      try await server.connect { connection in
        for number in 0..<3 {
          try await connection.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
          let answer = try await connection.read(upTo: "GET /\(number) ")
          #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("Content-Length: 7\r\n"), "\(answer)")
          #expect(answer.contains("Date: ") && !answer.contains("Connection:"), "\(answer)")
        }
        try await connection.send(last)
        let end = try await connection.readToEnd()
        #expect(end.hasSuffix("\r\n\r\nGET /last ") && end.contains("Connection: close\r\n"), "\(end)")
      }
    }
  }

  @Test func `requests that are sent together are answered in their order, one at a time`() async throws {
    let running = Mutex((now: 0, most: 0))
    let handler: Server.Handler = { request, _, writer, _ in
      running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      try await Task.sleep(for: .milliseconds(1))
      running.withLock { $0.now -= 1 }
      writer.send(HTTPResponse(status: .ok), body: Array("<\(request.path ?? "")>".utf8))
    }
    try await TestServer.run(handler: handler) { server in
      let requests = (0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
      let text = try await server.exchange(requests + last)
      let paths = text.matches(of: /<\/(\w+)>/).map { String($0.1) }
      #expect(paths == (0..<50).map(String.init) + ["last"])
      #expect(running.withLock { $0.most } == 1)
    }
  }

  @Test func `what follows the last request is not answered`() async throws {
    let count = Mutex(0)
    let handler: Server.Handler = { _, _, writer, _ in
      count.withLock { $0 += 1 }
      writer.send(HTTPResponse(status: .ok))
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange(last + get)
      #expect(text.ranges(of: "HTTP/1.1 200").count == 1 && count.withLock { $0 } == 1, "\(text)")
    }
  }

  @Test func `a response that says close is the last one`() async throws {
    let handler: Server.Handler = { _, _, writer, _ in
      writer.send(HTTPResponse(status: .ok, headerFields: [.connection: "Close"]))
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange(get + get)
      #expect(text.ranges(of: "HTTP/1.1 200").count == 1 && text.contains("Connection: close\r\n"), "\(text)")
    }
  }

  @Test(arguments: ["", "Connection: keep-alive\r\n"])
  func `a connection of HTTP-1.0 ends with the response`(fields: String) async throws {
    let handler: Server.Handler = { request, _, writer, _ in
      #expect(request.authority == "")
      if request.path == "/long" {
        let body = writer.begin(HTTPResponse(status: .ok))
        for _ in 0..<3 { try await body.write(Array("part".utf8)) }
        body.finish()
      } else {
        writer.send(HTTPResponse(status: .ok), body: Array("short".utf8))
      }
    }
    try await TestServer.run(handler: handler) { server in
      let short = try await server.exchange("GET / HTTP/1.0\r\n\(fields)\r\n" + get)
      #expect(short.hasPrefix("HTTP/1.1 200") && short.hasSuffix("\r\n\r\nshort"), "\(short)")
      let long = try await server.exchange("GET /long HTTP/1.0\r\n\(fields)\r\n")
      #expect(long.hasPrefix("HTTP/1.0 200") && long.hasSuffix("\r\n\r\npartpartpart"), "\(long)")
      #expect(!long.contains("chunked") && long.contains("Connection: close"), "\(long)")
    }
  }

  @Test func `no more connections are accepted than the maximum`() async throws {
    let names = Mutex<Set<ObjectIdentifier>>([])
    let handler: Server.Handler = { _, _, writer, channel in
      names.withLock { _ = $0.insert(ObjectIdentifier(channel)) }
      writer.send(HTTPResponse(status: .ok), body: Array("ok".utf8))
    }
    try await TestServer.run({ $0.maximumConnections = 2 }, handler: handler) { server in
      try await server.connect { first in
        try await server.connect { second in
          for _ in 0..<2 {
            try await first.send(get)
            _ = try await first.read(upTo: "\r\n\r\nok")
            try await second.send(get)
            _ = try await second.read(upTo: "\r\n\r\nok")
          }
          // The system accepts further connections and what they send; the server does not see them.
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
              group.addTask { _ = try await server.exchange(last) }
            }
            try await Task.sleep(for: .milliseconds(50))
            #expect(names.withLock { $0.count } == 2)
            try await second.send(last)
            _ = try await second.readToEnd()
            second.finish()
            try await group.waitForAll()
          }
        }
        try await first.send(get)
        _ = try await first.read(upTo: "\r\n\r\nok")
      }
    }
  }

  // MARK: Responses

  @Test func `HEAD has the fields of GET and no body`() async throws {
    let handler: Server.Handler = { request, _, writer, _ in
      switch request.path {
      case "/stream": try await writer.send(Response(status: .ok, body: .stream { try await $0.write([65, 66]) }))
      case "/parts":
        let body = writer.begin(HTTPResponse(status: .ok, headerFields: [.contentLength: "2"]))
        try await body.write([65, 66])
        body.finish()
      default: writer.send(HTTPResponse(status: .ok), body: [65, 66])
      }
    }
    try await TestServer.run(handler: handler) { server in
      for path in ["/", "/stream", "/parts"] {
        let text = try await server.exchange(
          "HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\nGET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answers = text.split(separator: "HTTP/1.1 200 OK\r\n")
        #expect(answers.count == 2 && answers[0].hasSuffix("\r\n\r\n") && answers[1].contains("AB"), "\(text)")
        #expect(answers[0].contains("Content-Length: 2") == (path != "/stream"), "\(text)")
        #expect(answers[1].contains("Transfer-Encoding: chunked") == (path == "/stream"), "\(text)")
      }
    }
  }

  @Test(arguments: [204, 304]) func `a status without a body has no length`(code: Int) async throws {
    let handler: Server.Handler = { _, _, writer, _ in
      writer.send(HTTPResponse(status: .init(code: code), headerFields: [.contentLength: "2"]), body: [65, 66])
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange(get + last)
      #expect(text.ranges(of: "HTTP/1.1 \(code)").count == 2 && text.hasSuffix("\r\n\r\n"), "\(text)")
      #expect(!text.contains("Content-Length") && !text.contains("AB"))
    }
  }

  @Test func `a body without a length is sent in chunks`() async throws {
    let handler: Server.Handler = { _, _, writer, _ in
      try await writer.send(
        Response(
          status: .ok,
          body: .stream { body in
            for part in ["one", "", "three"] { try await body.write(Array(part.utf8)) }
          }))
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange(get + last)
      #expect(text.ranges(of: "Transfer-Encoding: chunked\r\n").count == 2, "\(text)")
      #expect(text.ranges(of: "\r\n\r\n3\r\none\r\n5\r\nthree\r\n0\r\n\r\n").count == 2, "\(text)")
    }
  }

  @Test func `the name of the server is a field of each response`() async throws {
    try await TestServer.run({ $0.serverName = "test" }, handler: echo) { server in
      for request in [last, "nonsense\r\n\r\n"] {
        let text = try await server.exchange(request)
        #expect(text.contains("Server: test\r\n"), "\(text)")
      }
    }
  }

  @Test func `a reader that takes nothing makes the writer wait`() async throws {
    let written = Atomic(0)
    let handler: Server.Handler = { _, _, writer, _ in
      let body = writer.begin(HTTPResponse(status: .ok))
      let part = [UInt8](repeating: 65, count: 1 << 20)
      for _ in 0..<64 {
        try await body.write(part)
        written.add(1, ordering: .relaxed)
      }
      body.finish()
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.channel.setOption(.autoRead, value: false).get()
        try await connection.send(last)
        // What the system and the channel keep is written, and no more.
        var before = -1
        while written.load(ordering: .relaxed) != before {
          before = written.load(ordering: .relaxed)
          try await Task.sleep(for: .milliseconds(200))
        }
        #expect(before < 32)
        try await connection.channel.setOption(.autoRead, value: true).get()
        let text = try await connection.readToEnd()
        #expect(text.utf8.count > 64 << 20 && text.hasSuffix("\r\n0\r\n\r\n"))
      }
    }
  }

  @Test func `a client that reads no responses gets no more of them`() async throws {
    let answered = Atomic(0)
    let part = [UInt8](repeating: 65, count: 1 << 20)
    let handler: Server.Handler = { _, _, writer, _ in
      answered.add(1, ordering: .relaxed)
      writer.send(HTTPResponse(status: .ok), body: part)
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.channel.setOption(.autoRead, value: false).get()
        try await connection.send(String(repeating: get, count: 63) + last)
        var before = -1
        while answered.load(ordering: .relaxed) != before {
          before = answered.load(ordering: .relaxed)
          try await Task.sleep(for: .milliseconds(200))
        }
        #expect(before < 32)
        try await connection.channel.setOption(.autoRead, value: true).get()
        #expect(try await connection.readToEnd().ranges(of: "HTTP/1.1 200").count == 64)
      }
    }
  }

  @Test func `a stream that fails ends the connection without the last chunk`() async throws {
    struct Failure: Error {}
    let handler: Server.Handler = { _, _, writer, _ in
      try await writer.send(
        Response(
          status: .ok,
          body: .stream { body in
            try await body.write([65])
            throw Failure()
          }))
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange(get)
      #expect(text.hasSuffix("1\r\nA\r\n"), "\(text)")
    }
  }

  @Test func `a handler without a response ends the connection`() async throws {
    try await TestServer.run(handler: { _, _, _, _ in }) { server in
      let text = try await server.exchange(get)
      #expect(text == "")
    }
  }

  // MARK: Requests

  @Test(arguments: [
    "Content-Length: 9\r\n\r\none three", "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n6\r\n three\r\n0\r\n\r\n",
  ])
  func `a body is read with a length and in chunks`(body: String) async throws {
    try await TestServer.run(handler: echo) { server in
      let request = "POST /x HTTP/1.1\r\nHost: a\r\n" + body
      #expect(try await server.exchange(request + request + last).ranges(of: "POST /x one three").count == 2)
      // Byte by byte.
      try await server.connect { connection in
        for character in request { try await connection.send(String(character)) }
        _ = try await connection.read(upTo: "POST /x one three")
      }
    }
  }

  @Test func `a body that is larger than the handler takes is refused, and the next request is answered`() async throws
  {
    let handler: Server.Handler = { request, body, writer, _ in
      do {
        let bytes = try await body.collect(upTo: 10)
        writer.send(HTTPResponse(status: .ok), body: bytes)
      } catch RequestBodyError.tooLarge(let limit) {
        writer.send(HTTPResponse(status: .contentTooLarge), body: Array("\(limit)".utf8))
      }
    }
    try await TestServer.run(handler: handler) { server in
      for (count, status) in [(10, "200"), (11, "413"), (1 << 20, "413")] {
        let body = String(repeating: "x", count: count)
        let chunks = "\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        for rest in ["Content-Length: \(count)\r\n\r\n\(body)", "Transfer-Encoding: chunked\r\n\r\n\(chunks)"] {
          let text = try await server.exchange("POST / HTTP/1.1\r\nHost: a\r\n\(rest)\(last)")
          #expect(text.matches(of: /HTTP\/1.1 (\d+)/).map { String($0.1) } == [status, "200"], "\(text)")
        }
      }
    }
  }

  @Test func `a body that nobody reads is skipped up to a limit, and above it the connection ends`() async throws {
    let handler: Server.Handler = { _, _, writer, _ in writer.send(HTTPResponse(status: .ok)) }
    try await TestServer.run({ $0.maximumSkippedByteCount = 1000 }, handler: handler) { server in
      for (count, answers) in [(0, 2), (1000, 2), (1001, 1)] {
        let body = String(repeating: "x", count: count)
        let text = try await server.exchange(
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n\(body)\(last)")
        #expect(text.ranges(of: "HTTP/1.1 200").count == answers, "\(count): \(text)")
      }
    }
  }

  @Test func `a sender waits while the handler does not read`() async throws {
    let gate = Gate()
    let handler: Server.Handler = { _, body, writer, _ in
      await gate.wait()
      var count = 0
      while let part = try await body.next() { count += part.readableBytes }
      writer.send(HTTPResponse(status: .ok), body: Array("\(count)".utf8))
    }
    let count = 64 << 20
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n")
        let channel = connection.channel
        let sent = channel.eventLoop.makePromise(of: Void.self)
        channel.writeAndFlush(ByteBuffer(repeating: 65, count: count), promise: sent)
        let isSent = Atomic(false)
        sent.futureResult.whenComplete { _ in isSent.store(true, ordering: .relaxed) }
        try await Task.sleep(for: .milliseconds(200))
        let isEarly = isSent.load(ordering: .relaxed)
        #expect(!isEarly)
        gate.open()
        try await sent.futureResult.get()
        #expect(try await connection.readToEnd().hasSuffix("\r\n\r\n\(count)"))
      }
    }
  }

  @Test func `a client that waits is told to send its body when the handler reads it`() async throws {
    let handler: Server.Handler = { request, body, writer, _ in
      if request.path == "/no" { return writer.send(HTTPResponse(status: .forbidden)) }
      writer.send(HTTPResponse(status: .ok), body: try await body.collect(upTo: 100))
    }
    func request(_ path: String, _ version: String = "1.1") -> String {
      "POST \(path) HTTP/\(version)\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        for _ in 0..<2 {
          try await connection.send(request("/"))
          #expect(try await connection.read(upTo: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
          try await connection.send("abc")
          #expect(try await connection.read(upTo: "abc").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
        // A body that is there needs no permission. It comes all the same if the handler is faster than the parser.
        try await connection.send(request("/") + "abc")
        let answer = try await connection.read(upTo: "abc").replacing("HTTP/1.1 100 Continue\r\n\r\n", with: "")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        // It is not known whether a client sends a body that was refused.
        try await connection.send(request("/no"))
        let refusal = try await connection.readToEnd()
        #expect(refusal.hasPrefix("HTTP/1.1 403") && refusal.contains("Connection: close\r\n"), "\(refusal)")
      }
      let old = try await server.exchange(request("/", "1.0") + "abc")
      #expect(old.hasPrefix("HTTP/1.1 200") && old.hasSuffix("abc"), "\(old)")
    }
  }

  @Test(arguments: ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", "GET / HTTP/3.0\r\n\r\n"])
  func `what is no request is answered with 400 in its turn, and the connection ends`(bytes: String) async throws {
    try await TestServer.run(handler: echo) { server in
      let text = try await server.exchange(get + get + bytes)
      #expect(text.matches(of: /HTTP\/1.1 (\d+)/).map { String($0.1) } == ["200", "200", "400"], "\(text)")
      #expect(text.hasSuffix("\r\n\r\n") && text.contains("Connection: close\r\n"), "\(text)")
    }
  }

  @Test func `a body that is invalid is answered with 400 if its handler gives up`() async throws {
    try await TestServer.run(handler: echo) { server in
      let text = try await server.exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
      #expect(text.hasPrefix("HTTP/1.1 400"), "\(text)")
    }
  }

  @Test func `a handler may answer a request whose body is invalid`() async throws {
    let handler: Server.Handler = { _, body, writer, _ in
      do { _ = try await body.collect(upTo: 100) } catch {
        writer.send(HTTPResponse(status: .unprocessableContent))
      }
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
      #expect(text.hasPrefix("HTTP/1.1 422") && text.contains("Connection: close\r\n"), "\(text)")
      #expect(text.ranges(of: "HTTP/1.1").count == 1, "\(text)")
    }
  }

  @Test func `a body that is found to be invalid after the response gets no second one`() async throws {
    let handler: Server.Handler = { _, _, writer, _ in writer.send(HTTPResponse(status: .ok)) }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        _ = try await connection.read(upTo: "HTTP/1.1 200 OK\r\n")
        _ = try await connection.read(upTo: "\r\n\r\n")
        try await connection.send("xyz\r\n")
        let rest = try await connection.readToEnd()
        #expect(rest == "")
      }
    }
  }

  @Test(arguments: [
    ("/a?b", "/a?b"), ("http://a/b?c#d", "/b?c"), ("HTTP://a:1", "/"), ("http://a?b", "/?b"), ("*", "*"),
    ("a:b", "a:b"),
    ("1://a/b", "1://a/b"), ("://a/b", "://a/b"),
  ])
  func `the path of a request is that of its target`(target: String, path: String) {
    #expect(HTTPRequest.path(of: target) == path)
  }

  // MARK: The end

  @Test func `at graceful shutdown responses are completed and idle connections end`() async throws {
    let (begun, proceed) = (Gate(), Gate())
    let handler: Server.Handler = { request, _, writer, _ in
      guard request.path == "/slow" else { return writer.send(HTTPResponse(status: .ok), body: Array("quick".utf8)) }
      begun.open()
      await proceed.wait()
      writer.send(HTTPResponse(status: .ok), body: Array("slow".utf8))
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { idle in
        try await idle.send(get)
        _ = try await idle.read(upTo: "quick")
        try await server.connect { slow in
          try await slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
          await begun.wait()
          await server.group?.triggerGracefulShutdown()
          #expect(try await idle.readToEnd() == "")
          // The listener is closed on its own event loop.
          var isRefused = false
          for _ in 0..<1000 where !isRefused {
            do { try await server.connect { _ in } } catch { isRefused = true }
            if !isRefused { try await Task.sleep(for: .milliseconds(10)) }
          }
          #expect(isRefused)
          proceed.open()
          let text = try await slow.readToEnd()
          #expect(text.hasSuffix("\r\n\r\nslow") && text.contains("Connection: close\r\n"), "\(text)")
        }
      }
    }
  }

  @Test func `a response that is still to be read is completed at graceful shutdown`() async throws {
    let count = 16 << 20
    let handler: Server.Handler = { _, _, writer, _ in
      writer.send(HTTPResponse(status: .ok), body: [UInt8](repeating: 65, count: count))
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.channel.setOption(.autoRead, value: false).get()
        try await connection.send(get)
        try await Task.sleep(for: .milliseconds(100))
        await server.group?.triggerGracefulShutdown()
        try await Task.sleep(for: .milliseconds(100))
        try await connection.channel.setOption(.autoRead, value: true).get()
        let text = try await connection.readToEnd()
        #expect(text.utf8.count > count && text.hasSuffix("AAA"))
      }
    }
  }

  @Test func `cancellation ends connections and handlers`() async throws {
    let begun = Gate()
    var options = Server.Options(address: .host("127.0.0.1", port: 0))
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    options.onListening = { listening.yield($0 ?? 0) }
    let running = Server(options, logger: .init(label: "test")) { _, _, writer, _ in
      begun.open()
      try await Task.sleep(for: .seconds(3600))
      writer.send(HTTPResponse(status: .ok))
    }
    let task = Task { try await running.run() }
    var iterator = ports.makeAsyncIterator()
    let port = try #require(await iterator.next())
    try await TestServer(port: port).connect { connection in
      try await connection.send(get)
      await begun.wait()
      task.cancel()
      let rest = try? await connection.readToEnd()
      #expect(rest == "" || rest == nil)
    }
    try await task.value
  }

  @Test func `a peer that goes away in its request interrupts the handler`() async throws {
    let errors = Mutex<[String]>([])
    let handler: Server.Handler = { _, body, writer, _ in
      do { _ = try await body.collect(upTo: 1000) } catch {
        errors.withLock { $0.append("\(error)") }
        throw error
      }
      writer.send(HTTPResponse(status: .ok))
    }
    try await TestServer.run(handler: handler) { server in
      for isAbrupt in [false, true] {
        try await server.connect { connection in
          try await connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
          try await Task.sleep(for: .milliseconds(20))
          if isAbrupt {
            try await connection.channel.close()
          } else {
            connection.finish()
            _ = try await connection.readToEnd()
          }
        }
      }
      try await eventually { errors.withLock { $0 == ["interrupted", "interrupted"] } }
    }
  }

  @Test func `a peer that goes away in its response makes the writer fail`() async throws {
    let failures = Atomic(0)
    let handler: Server.Handler = { _, _, writer, _ in
      let body = writer.begin(HTTPResponse(status: .ok))
      do {
        while true { try await body.write([UInt8](repeating: 65, count: 1 << 16)) }
      } catch {
        failures.add(1, ordering: .relaxed)
        throw error
      }
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.send(get)
        _ = try await connection.read(upTo: "AAAA")
        try await connection.channel.close()
      }
      try await eventually { failures.load(ordering: .relaxed) == 1 }
    }
  }

  @Test func `an operation that waits is cancelled when its client closes its side`() async throws {
    let ends = Mutex<[Bool]>([])
    let handler: Server.Handler = { _, request, writer, _ in
      let body = writer.begin(HTTPResponse(status: .ok))
      try await body.write(Array("begun".utf8))
      do {
        try await request.cancellingWhenClientCloses { try await Task.sleep(for: .seconds(3600)) }
      } catch {
        ends.withLock { $0.append(error is CancellationError) }
        throw error
      }
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.send(get)
        _ = try await connection.read(upTo: "begun")
        connection.finish()
        _ = try? await connection.readToEnd()
      }
      try await eventually { ends.withLock { $0 } == [true] }
    }
  }

  @Test(arguments: ["HTTP/1.0\r\n", "HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"])
  func `an operation goes on for a client that waits for the end of the connection`(version: String) async throws {
    let handler: Server.Handler = { _, request, writer, _ in
      let body = writer.begin(HTTPResponse(status: .ok))
      try await request.cancellingWhenClientCloses {
        try await Task.sleep(for: .milliseconds(50))
        try await body.write(Array("whole".utf8))
      }
      body.finish()
    }
    try await TestServer.run(handler: handler) { server in
      let text = try await server.exchange("GET / \(version)\r\n")
      #expect(text.contains("whole"), "\(text)")
    }
  }

  @Test func `a client that has closed its side gets its response`() async throws {
    let handler: Server.Handler = { _, _, writer, _ in
      try await Task.sleep(for: .milliseconds(50))
      writer.send(HTTPResponse(status: .ok), body: [UInt8](repeating: 65, count: 4 << 20))
    }
    try await TestServer.run(handler: handler) { server in
      try await server.connect { connection in
        try await connection.send(get)
        connection.finish()
        let text = try await connection.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 200") && text.utf8.count > 4 << 20)
      }
    }
  }

  // MARK: The address

  @Test func `an address that cannot be used is reported in words`() async throws {
    try await TestServer.run(handler: echo) { server in
      for (host, port, reason) in [
        ("127.0.0.1", server.port, "Address already in use"), ("192.0.2.1", 0, "Cannot assign requested address"),
        ("no-such-host.invalid", 0, "this is no address of this machine"),
      ] {
        let other = Server(.init(address: .host(host, port: port)), logger: .init(label: "test"), handler: echo)
        let error = await #expect(throws: ListenError.self) { try await other.run() }
        #expect(error?.reason == reason)
      }
    }
  }

  @Test func `an error of onListening ends the server`() async throws {
    struct Failure: Error {}
    var options = Server.Options(address: .host("127.0.0.1", port: 0))
    options.onListening = { _ in throw Failure() }
    await #expect(throws: Failure.self) {
      try await Server(options, logger: .init(label: "test"), handler: echo).run()
    }
  }
}
