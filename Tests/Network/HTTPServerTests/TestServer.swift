import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A server on a port of this machine, for as long as a test needs it.
struct TestServer: Sendable {
  let port: Int
  /// The group that runs the server, if it is not run otherwise.
  var group: ServiceGroup?

  /// Runs a server, and shuts it down gracefully when `body` returns.
  static func run(
    _ change: (inout Server.Options) -> Void = { _ in }, handler: @escaping Server.Handler,
    _ body: (TestServer) async throws -> Void
  ) async throws {
    var options = Server.Options(address: .host("127.0.0.1", port: 0))
    change(&options)
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    options.onListening = { listening.yield($0 ?? 0) }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = Server(options, logger: logger, handler: handler)
    let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { listening.finish() }
        try await group.run()
      }
      for await port in ports {
        try await body(TestServer(port: port, group: group))
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  /// Opens a connection for as long as `body` does, and closes it.
  func connect<Value: Sendable>(_ body: (inout TestConnection) async throws -> Value) async throws -> Value {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    let value = Mutex<Value?>(nil)
    do {
      try await channel.executeThenClose { inbound, outbound in
        var connection = TestConnection(channel.channel, inbound.makeAsyncIterator(), outbound)
        let result = try await body(&connection)
        value.withLock { $0 = result }
      }
    } catch {
      // A connection that the server has closed cannot be closed again.
      guard let value = value.withLock({ $0 }) else { throw error }
      return value
    }
    guard let value = value.withLock({ $0 }) else { preconditionFailure("the body has returned") }
    return value
  }

  /// Sends bytes, and reads until the server closes the connection.
  func exchange(_ text: String) async throws -> String {
    try await connect { connection in
      try await connection.send(text)
      return try await connection.readToEnd()
    }
  }
}

/// A client's side of a connection, byte by byte.
struct TestConnection {
  let channel: any Channel
  private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var received = ""

  init(
    _ channel: any Channel, _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
    _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) {
    self.channel = channel
    self.inbound = inbound
    self.outbound = outbound
  }

  func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

  /// Closes this side. The server's side stays open.
  func finish() { outbound.finish() }

  /// Reads up to the first end of `text`, which is part of the result.
  ///
  /// - Throws: ``ConnectionEnded`` if it does not come.
  mutating func read(upTo text: String) async throws -> String {
    while true {
      if let range = received.firstRange(of: text) {
        defer { received.removeSubrange(..<range.upperBound) }
        return String(received[..<range.upperBound])
      }
      guard let buffer = try await inbound.next() else { throw ConnectionEnded(received: received) }
      received += String(buffer: buffer)
    }
  }

  /// Reads until the server closes its side.
  mutating func readToEnd() async throws -> String {
    while let buffer = try await inbound.next() { received += String(buffer: buffer) }
    defer { received = "" }
    return received
  }
}

struct ConnectionEnded: Error { let received: String }

/// A handler that answers each request with its method, its path and the text of its body.
let echo: Server.Handler = { request, body, writer, _ in
  let bytes = try await body.collect(upTo: 1 << 20)
  writer.send(
    HTTPResponse(status: .ok), body: Array("\(request.method.rawValue) \(request.path ?? "") ".utf8) + bytes)
}

/// Tells a test's tasks about each other.
final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self) }

  func open() { continuation.yield() }

  func wait() async { for await _ in stream { return } }
}
