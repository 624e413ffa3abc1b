import NIOCore
import ScanDaemon
import Testing
import WaitingTestSupport

@testable import DaemonHTTP

/// A listener, which takes events off the wire when it is asked for them.
struct TestListener {
  let head: String
  private var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private var rest: [UInt8]

  struct Event: Equatable {
    var id = ""
    var kind = ""
    var data: [String] = []
    var isComment = false
  }

  init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws {
    iterator = inbound.makeAsyncIterator()
    rest = []
    head = String(decoding: try await Self.take(&iterator, &rest, upTo: "\r\n\r\n") ?? [], as: UTF8.self)
  }

  /// The next event or comment; `nil` at the stream's end. Fields other than these are passed over.
  mutating func next() async throws -> Event? {
    while let chunk = try await Self.take(&iterator, &rest, upTo: "\n\n") {
      var event = Event()
      // Chunks of the transfer coding begin with a line of their length, and end with an empty one.
      for line in String(decoding: chunk, as: UTF8.self).split(whereSeparator: \.isNewline) {
        if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
        if line.hasPrefix("event: ") { event.kind = String(line.dropFirst(7)) }
        if line.hasPrefix("data: ") { event.data.append(String(line.dropFirst(6))) }
        if line.hasPrefix(":") { event.isComment = true }
      }
      if event != Event() { return event }
    }
    return nil
  }

  /// The next event that is no comment.
  mutating func nextEvent() async throws -> Event? {
    while let event = try await next() { if !event.isComment { return event } }
    return nil
  }

  private static func take(
    _ iterator: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator, _ rest: inout [UInt8], upTo end: String
  ) async throws -> [UInt8]? {
    while true {
      if let found = rest.firstRange(of: Array(end.utf8)) {
        defer { rest.removeSubrange(..<found.upperBound) }
        return Array(rest[..<found.upperBound])
      }
      guard let buffer = try await iterator.next() else { return nil }
      rest += buffer.readableBytesView
    }
  }
}

extension TestClient {
  /// Listens for as long as `body` does.
  func listen<Value: Sendable>(
    _ target: String = "/v1/events", lastEventID: String? = nil,
    _ body: (inout TestListener) async throws -> Value
  ) async throws -> Value {
    try await connect().executeThenClose { inbound, outbound in
      let headers = lastEventID.map { [("Last-Event-ID", $0)] } ?? []
      try await outbound.write(ByteBuffer(bytes: request("GET", target, headers: headers)))
      var listener = try await TestListener(inbound)
      return try await body(&listener)
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct EventStreamsTests {
  func publish(_ test: TestDaemon, _ numbers: ClosedRange<Int>, _ kind: EventKind = .scan) {
    for number in numbers { test.daemon.events.publish(kind, Array("{\"n\":\(number)}".utf8)) }
  }

  @Test func `a listener hears of scans`() async throws {
    try await TestDaemon.run { test in
      try await test.client.listen { listener in
        #expect(listener.head.hasPrefix("HTTP/1.1 200 OK"))
        #expect(listener.head.lowercased().contains("content-type: text/event-stream"))
        let answer = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892"}"#)
        let event = try #require(try await listener.nextEvent())
        #expect(event.kind == "scan")
        #expect(event.data == [answer.text])
      }
    }
  }

  @Test func `a listener of HTTP-1.0 gets the stream as it is, up to the connection's end`() async throws {
    try await TestDaemon.run { test in
      let (text, id) = try await test.client.connect().executeThenClose { inbound, outbound in
        // Behind an answer with a length, which keeps its version.
        try await outbound.write(
          ByteBuffer(string: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/events HTTP/1.0\r\n\r\n"))
        var received = ""
        var id: EventID?
        for try await buffer in inbound {
          received += String(buffer: buffer)
          if received.contains("retry:"), id == nil { id = test.daemon.events.publish(.scan, Array("{\"n\":1}".utf8)) }
          if received.contains("{\"n\":1}\n\n") { await test.group.triggerGracefulShutdown() }
        }
        return (received, id)
      }
      let parts = text.split(separator: "HTTP/1.")
      #expect(parts.count == 2 && parts[0].hasPrefix("1 200 OK") && parts[1].hasPrefix("0 200 OK"), "\(text)")
      let stream = text.split(separator: "\r\n\r\n").last ?? ""
      #expect(stream == "retry: 2000\n\nid: \(try #require(id))\nevent: scan\ndata: {\"n\":1}\n\n")
      #expect(!text.lowercased().contains("transfer-encoding") && text.lowercased().contains("connection: close"))
    }
  }

  @Test func `who comes back gets what was missed`() async throws {
    try await TestDaemon.run { test in
      let last = try await test.client.listen { listener in
        publish(test, 1...3)
        for number in 1...3 {
          let found1 = try await listener.nextEvent()?.data
          #expect(found1 == ["{\"n\":\(number)}"])
        }
        publish(test, 4...4)
        return try await listener.nextEvent()?.id
      }
      publish(test, 5...6)
      try await test.client.listen(lastEventID: last) { listener in
        for number in 5...6 {
          let found2 = try await listener.nextEvent()?.data
          #expect(found2 == ["{\"n\":\(number)}"])
        }
      }
      try await test.client.listen("/v1/events?lastEventId=\(last ?? "")") { listener in
        let found3 = try await listener.nextEvent()?.data
        #expect(found3 == ["{\"n\":5}"])
      }
      // One of another run is told so.
      try await test.client.listen(lastEventID: "0-1") { listener in
        let found4 = try await listener.nextEvent()?.kind
        #expect(found4 == "gap")
        let found5 = try await listener.nextEvent()?.kind
        #expect(found5 == "scan")
      }
      let found6 = try await test.exchange("GET", "/v1/events?lastEventId=x", expecting: 400).errorCode
      #expect(found6 == "badRequest")
    }
  }

  @Test func `kinds that nobody asked for do not come, and do not make a gap`() async throws {
    try await TestDaemon.run { _, server in
      server.eventHeartbeat = .milliseconds(1)
    } _: { test in
      let last = try await test.client.listen("/v1/events?kinds=sync,user") { listener in
        publish(test, 1...1, .sync)
        let found7 = try await listener.nextEvent()?.kind
        #expect(found7 == "sync")
        try await Task.sleep(for: .milliseconds(50))
        publish(test, 2...30, .scan)
        var last = ""
        // Ids without an event say how far the stream is.
        for _ in 0..<1000 {
          guard let event = try await listener.next() else { break }
          if event.id.isEmpty { continue }
          #expect(event.data == [])
          last = event.id
          break
        }
        return last
      }
      #expect(last != "")
      let found8 = try await test.exchange("GET", "/v1/events?kinds=scan,nothing", expecting: 400).errorCode
      #expect(found8 == "badRequest")
    }
  }

  @Test func `a stream without events says that it lives`() async throws {
    try await TestDaemon.run { _, server in
      server.eventHeartbeat = .milliseconds(20)
    } _: { test in
      try await test.client.listen { listener in
        for _ in 0..<3 {
          let found9 = try await listener.next()?.isComment
          #expect(found9 == true)
        }
      }
    }
  }

  @Test func `one listener too many is refused, and an ended one makes room`() async throws {
    try await TestDaemon.run { _, server in
      server.maximumEventStreams = 2
    } _: { test in
      try await test.client.listen { _ in
        try await test.client.listen { _ in
          let refused = try await test.exchange("GET", "/v1/events", expecting: 503)
          #expect(refused.errorCode == "tooManyListeners")
          #expect(refused.headers["retry-after"] == "5")
          try await test.exchange("HEAD", "/v1/events")
        }
        // The end of a connection is noticed without an event.
        var isThere = false
        for _ in 0..<500 where !isThere {
          isThere = try await test.client.listen { $0.head.hasPrefix("HTTP/1.1 200") }
          if !isThere { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(isThere)
      }
    }
  }

  @Test func `a listener that takes nothing finds a gap, and holds up nobody`() async throws {
    try await TestDaemon.run { options, _ in
      options.eventCapacity = 100
    } _: { test in
      let long = Array(("\"" + String(repeating: "x", count: 60_000) + "\"").utf8)
      try await test.client.listen { listener in
        // More than sockets and channels hold.
        for _ in 0..<1000 {
          test.daemon.events.publish(.scan, long)
          await Task.yield()
        }
        publish(test, 1...1)
        var kinds: [String: Int] = [:]
        while let event = try await listener.nextEvent() {
          kinds[event.kind, default: 0] += 1
          if event.data == ["{\"n\":1}"] { break }
        }
        #expect(kinds["gap", default: 0] >= 1)
        #expect(kinds["scan", default: 0] < 1000)
      }
    }
  }

  @Test func `a peer that takes nothing is cut off, and its place is free for another one`() async throws {
    try await TestDaemon.run { _, server in
      server.idleTimeout = .seconds(1)
      server.maximumEventStreams = 1
    } _: { test in
      // More than sockets and channels hold.
      let long = Array(repeating: UInt8(ascii: "x"), count: 16 << 20)
      try await eventually {
        var isFree = false
        // Who is cut off may find an error where the connection is closed.
        try? await test.client.listen { listener in
          guard listener.head.hasPrefix("HTTP/1.1 200") else { return }
          test.daemon.events.publish(.scan, long)
          // It takes no more, and the place is free for another one all the same.
          try await eventually { (try? await test.client.listen { $0.head.hasPrefix("HTTP/1.1 200") }) ?? false }
          isFree = true
        }
        return isFree
      }
    }
  }

  @Test func `streams end at graceful shutdown`() async throws {
    try await TestDaemon.run { test in
      try await test.client.listen { listener in
        await test.group.triggerGracefulShutdown()
        let start = ContinuousClock.now
        while try await listener.next() != nil {}
        #expect(ContinuousClock.now - start < .seconds(60))
      }
    }
  }
}
