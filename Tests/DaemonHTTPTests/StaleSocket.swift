import NIOCore
import NIOPosix

/// Sockets that nobody listens on any more.
enum StaleSocket {
  static func make(_ path: String) async throws {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(unixDomainSocketPath: path).get()
    try await channel.close().get()
  }
}
