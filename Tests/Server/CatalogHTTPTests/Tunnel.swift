import ListenerTestSupport
import NIOCore
import NIOPosix
import Synchronization

/// An HTTP proxy on loopback that opens a tunnel for each `CONNECT`, whatever host is named, to one port of this
/// machine.
final class Tunnel: Sendable {
  let port: Int
  private let log = Mutex<[String]>([])

  /// The heads of all requests so far.
  var requests: [String] { log.withLock { $0 } }

  private init(port: Int) { self.port = port }

  /// Runs a proxy for as long as `body` does.
  ///
  /// - Parameter answer: What it answers to `CONNECT`; a tunnel follows a 200.
  static func run<Result: Sendable>(
    to target: Int, answer: String = "HTTP/1.1 200 OK\r\n\r\n", _ body: (Tunnel) async throws -> Result
  ) async throws -> Result {
    let listener = try await LoopbackListener()
    let tunnel = Tunnel(port: listener.port)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await listener.run { try await tunnel.serve($0, target, answer) } }
      let result = try await body(tunnel)
      group.cancelAll()
      return result
    }
  }

  private func serve(
    _ connection: LoopbackListener.Connection, _ target: Int, _ answer: String
  ) async throws {
    try await connection.executeThenClose { inbound, _ in
      var input = inbound.makeAsyncIterator()
      var head = ""
      while !head.hasSuffix("\r\n\r\n") {
        guard let bytes = try await input.next() else { return }
        head += String(buffer: bytes)
      }
      let request = head
      log.withLock { $0.append(request) }
      try await connection.channel.writeAndFlush(ByteBuffer(string: answer))
      guard answer.hasPrefix("HTTP/1.1 200") else { return }
      let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: target) { channel in
          channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
          }
        }
      let client = connection.channel
      try await server.executeThenClose { answers, _ in
        async let back: Void = {
          for try await bytes in answers { try await client.writeAndFlush(bytes) }
          try await client.close()
        }()
        while let bytes = try await input.next() { try await server.channel.writeAndFlush(bytes) }
        try? await server.channel.close()
        try? await back
      }
    }
  }
}
