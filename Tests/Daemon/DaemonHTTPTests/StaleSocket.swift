import NIOCore
import NIOPosix
import ScanInputs

/// Sockets that nobody listens on any more: what a daemon leaves that was killed.
enum StaleSocket {
  static func make(_ path: String) async throws {
    let file = try await SocketFile(path: path)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(unixDomainSocketPath: file.temporaryPath).get()
    _ = try file.publish()
    try await channel.close().get()
  }
}
