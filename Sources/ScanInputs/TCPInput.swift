import NIOCore
import NIOPosix

/// Lines over TCP. Each connection has its answers in the order of its lines.
struct TCPInput {
  let host: String
  let port: Int
  let server: LineServer

  func run() async throws {
    try await server.run { bootstrap in
      guard (0...65_535).contains(port) else { throw Obstacle("\(port) is no port") }
      // Names are looked up by a call that blocks.
      let address = try await LineServer.blocking { try SocketAddress.makeAddressResolvingHost(host, port: port) }
      let channel =
        try await bootstrap
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelOption(.socketOption(.so_rcvbuf), value: LineServer.receiveByteCount)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        // A client that lost its power says nothing: the system finds out.
        .childChannelOption(.socketOption(.so_keepalive), value: 1)
        .bind(to: address).get()
      return LineServer.Listener(channel: channel, address: Self.shown(channel.localAddress) ?? "\(host):\(port)")
    }
  }

  /// An address with its port, IPv6 in brackets.
  private static func shown(_ address: SocketAddress?) -> String? {
    guard let address, let host = address.ipAddress, let port = address.port else { return nil }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
