import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPServer

/// The time that a head has, by a clock of the test's own.
@Suite struct HeadTimeTests {
  private let channel: EmbeddedChannel
  private let limiter = ConnectionLimiter(.init(maximum: 4, perAddress: nil))

  init() throws {
    channel = try Self.connection(limiter)
  }

  private static func connection(_ limiter: ConnectionLimiter) throws -> EmbeddedChannel {
    var protection = Protection(limiter)
    protection.maximumBodyByteCount = 1000
    protection.healthPaths = ["/healthz", "/readyz"]
    let requestGuard = RequestGuard(protection, caller: "a", date: HTTPDate(), skipLimit: 1000)
    let channel = EmbeddedChannel()
    let parser = ByteToMessageHandler(HTTPRequestDecoder())
    try channel.pipeline.syncOperations.addHandlers([
      HeadWatch(requestGuard), HTTPResponseEncoder(), parser, requestGuard,
    ])
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
    return channel
  }

  private func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

  private func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

  /// What was written since the last look.
  private func written(_ channel: EmbeddedChannel) throws -> String {
    var text = ""
    while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
    return text
  }

  /// Answers the request that is there.
  private func answer() throws {
    try channel.writeOutbound(
      HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .noContent)))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    _ = try written(channel)
  }

  private let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test func `a head that trickles in does not win time`() throws {
    for character in "GET / HTT" {
      try send(String(character))
      pass(1)
    }
    #expect(try written(channel) == "")
    pass(1)
    let answer = try Refusal(written(channel))
    #expect(answer?.status == 408 && answer?.errorCode == "requestTimeout")
    pass(1)
    #expect(!channel.isActive)
  }

  @Test func `a connection on which nothing is asked ends without a word`() throws {
    pass(9)
    #expect(channel.isActive)
    pass(1)
    #expect(try !channel.isActive && written(channel) == "")
  }

  @Test func `between two requests a connection idles, and the next head has its own time`() throws {
    for _ in 0..<2 {
      try send(request)
      pass(60)
      try answer()
      pass(60)
      #expect(channel.isActive)
    }
    try send("GET /")
    pass(9)
    try send(" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pass(60)
    try answer()
    try send("GET /")
    pass(10)
    #expect(try written(channel).hasPrefix("HTTP/1.1 408"))
  }

  @Test func `what waits for its turn does not wait for its peer`() throws {
    try send(request)
    try send("GET /")
    pass(60)
    #expect(try channel.isActive && written(channel) == "")
    try answer()
    pass(9)
    #expect(channel.isActive)
    pass(1)
    #expect(try written(channel).hasPrefix("HTTP/1.1 408"))
  }

  @Test func `a connection of the reserve has two seconds for its head`() throws {
    // Two that are being answered, this one among them.
    try send(request)
    let second = try Self.connection(limiter)
    try second.writeInbound(ByteBuffer(string: request))
    let third = try Self.connection(limiter)
    #expect(third.isActive)
    try third.writeInbound(ByteBuffer(string: "GET /healthz"))
    third.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(try third.isActive && written(third) == "")
    third.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(try written(third).hasPrefix("HTTP/1.1 408"))
    let fourth = try Self.connection(limiter)
    try fourth.writeInbound(ByteBuffer(string: "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    #expect(try Refusal(written(fourth))?.errorCode == "tooManyConnections")
    for channel in [second, third, fourth] {
      channel.close(promise: nil)
      channel.embeddedEventLoop.run()
    }
    #expect(limiter.count == 1)
  }

  /// A connection of the reserve, as all others are being answered.
  private func reserved() throws -> EmbeddedChannel {
    try send(request)
    let second = try Self.connection(limiter)
    try second.writeInbound(ByteBuffer(string: request))
    return try Self.connection(limiter)
  }

  @Test(arguments: ["/healthz", "/readyz?x=1"])
  func `a connection that is replaced before its request is read is answered if it asks for the health`(
    target: String
  ) throws {
    let third = try reserved()
    let fourth = try Self.connection(limiter)
    third.embeddedEventLoop.advanceTime(by: .milliseconds(199))
    #expect(try third.isActive && written(third) == "")
    try third.writeInbound(ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    third.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(try written(third) == "")
    guard case .head(let head)? = try third.readInbound(as: HTTPServerRequestPart.self) else {
      Issue.record("the request was not handed on")
      return
    }
    #expect(head.uri == target && head.headers["Connection"] == ["close"])
    #expect(try fourth.isActive && written(fourth) == "")
  }

  @Test(arguments: ["", "GET /heal", "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"])
  func `a connection that is replaced in the reserve is refused soon if it asks for nothing, or for something else`(
    sent: String
  ) throws {
    let third = try reserved()
    _ = try Self.connection(limiter)
    third.embeddedEventLoop.run()
    if !sent.isEmpty { try third.writeInbound(ByteBuffer(string: sent)) }
    third.embeddedEventLoop.advanceTime(by: .milliseconds(200))
    #expect(try Refusal(written(third))?.errorCode == "tooManyConnections")
    third.embeddedEventLoop.advanceTime(by: .milliseconds(200))
    #expect(!third.isActive)
  }

  /// Leaves a channel open whose output is closed, as a socket does and an embedded channel does not.
  private final class HalfClosure: ChannelOutboundHandler {
    typealias OutboundIn = Any

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }
  }

  @Test func `a refused connection leaves the reserve, though its body has not arrived`() throws {
    let third = try reserved()
    try third.pipeline.syncOperations.addHandler(HalfClosure(), position: .first)
    #expect(limiter.count == 3)
    try third.writeInbound(
      ByteBuffer(string: "POST /v1/scans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"))
    #expect(try Refusal(written(third))?.errorCode == "tooManyConnections")
    #expect(third.isActive && limiter.count == 2)
    third.embeddedEventLoop.advanceTime(by: .milliseconds(200))
    #expect(!third.isActive && limiter.count == 2)
  }
}

/// The status and the code of a refusal that was written.
private struct Refusal {
  var status: Int
  var errorCode: Substring

  init?(_ text: String) {
    guard let head = text.firstMatch(of: /HTTP\/1\.1 (\d+)/), let body = text.firstMatch(of: /"code":"(\w+)"/),
      let status = Int(head.1)
    else { return nil }
    self.status = status
    errorCode = body.1
  }
}
