import NIOCore
import NIOPosix

/// Reads lines over TCP from clients that connect. The answers of a connection have the order of its lines.
struct TCPInput {
  let host: String
  let port: Int
  let server: LineServer

  func run() async throws {
    try await server.run(at: LineServer.shown(host, port)) { bootstrap in
      guard (0...65_535).contains(port) else { throw InputError("\(port) is no port") }
      // Names are resolved by a blocking call.
      let address = try await LineServer.blocking { try SocketAddress.makeAddressResolvingHost(host, port: port) }
      var bootstrap = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelOption(.socketOption(.so_rcvbuf), value: LineServer.receiveByteCount)
      for (option, value) in TCPKeepAlive.options { bootstrap = bootstrap.childChannelOption(option, value: value) }
      let channel = try await bootstrap.bind(to: address).get()
      let name = channel.localAddress.map(LineServer.shown) ?? LineServer.shown(host, port)
      return LineServer.Listener(channel: channel, address: name)
    }
  }
}
