import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPServer

@Suite struct RequestDeadlineTests {
  private func connection() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handler: RequestDeadline(timeout: .seconds(30)))
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
    return channel
  }

  private let head = HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))
  private let piece = HTTPServerRequestPart.body(ByteBuffer(string: "x"))
  private let answer = HTTPServerResponsePart.end(nil)

  @Test func `a body that trickles in does not win time`() throws {
    let channel = try connection()
    try channel.writeInbound(head)
    for _ in 0..<29 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(1))
      try channel.writeInbound(piece)
      #expect(channel.isActive)
    }
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test func `an answer that comes before the body is whole changes nothing`() throws {
    let channel = try connection()
    try channel.writeInbound(head)
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    try channel.writeOutbound(answer)
    channel.embeddedEventLoop.advanceTime(by: .seconds(19))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test func `a request that is there has all the time that its answer takes`() throws {
    let channel = try connection()
    try channel.writeInbound(head)
    try channel.writeInbound(piece)
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    try channel.writeOutbound(answer)
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
  }

  @Test func `the time of a request begins with the end of the answer before it`() throws {
    let channel = try connection()
    try channel.writeInbound(head)
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    try channel.writeInbound(head)
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive, "nobody reads it yet")
    try channel.writeOutbound(answer)
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }
}
