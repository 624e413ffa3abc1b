import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPServer

/// The time that a connection may be idle, by a clock of the test's own.
@Suite struct ConnectionHandlerTests {
  private let channel = EmbeddedChannel()
  private let handler: ConnectionHandler

  init() throws {
    let queue = RequestQueue(channel)
    handler = ConnectionHandler(queue, idleTimeout: .seconds(60), serverName: nil, date: HTTPDate())
    var encoding = HTTPResponseEncoder.Configuration()
    encoding.automaticallySetFramingHeaders = false
    try channel.pipeline.syncOperations.addHandlers([
      HTTPResponseEncoder(configuration: encoding), ByteToMessageHandler(HTTPRequestDecoder()), handler,
    ])
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
  }

  private func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

  private func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

  private let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test func `a connection on which nothing arrives ends`() {
    pass(59)
    #expect(channel.isActive)
    pass(1)
    #expect(!channel.isActive)
  }

  @Test func `a handler has any time, and the connection is idle from the end of its response`() throws {
    for _ in 0..<2 {
      pass(59)
      try send(request)
      pass(600)
      #expect(channel.isActive)
      handler.send(HTTPResponse(status: .ok), ByteBuffer(), length: 0, closes: false)
    }
    pass(59)
    #expect(channel.isActive)
    pass(1)
    #expect(!channel.isActive)
  }

  @Test func `a body of which nothing arrives ends its connection`() throws {
    try send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
    for _ in 0..<2 {
      pass(59)
      try send("x")
    }
    pass(59)
    #expect(channel.isActive)
    pass(1)
    #expect(!channel.isActive)
  }

  @Test func `an idle connection ends at once when the server shuts down, and one that is answered afterwards`() throws
  {
    try send(request)
    handler.quiesce()
    #expect(channel.isActive)
    handler.send(HTTPResponse(status: .ok), ByteBuffer(string: "abc"), length: 3, closes: false)
    var text = ""
    while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
    #expect(text.contains("Connection: close\r\n") && text.hasSuffix("\r\n\r\nabc"), "\(text)")
    channel.embeddedEventLoop.advanceTime(by: .zero)
    #expect(!channel.isActive, "whose request is complete has nothing more to send")
    let idle = try ConnectionHandlerTests()
    idle.handler.quiesce()
    #expect(!idle.channel.isActive)
  }
}
