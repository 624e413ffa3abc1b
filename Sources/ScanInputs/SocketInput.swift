import NIOCore
import NIOPosix

/// Requests over a Unix domain socket, lines of JSON both ways.
struct SocketInput {
  let path: String
  let server: LineServer

  func run() async throws {
    try await server.run { bootstrap in
      let file = try await LineServer.blocking { try SocketFile(path) }
      do {
        let channel = try await bootstrap.withBoundSocket(file.descriptor).get()
        return LineServer.Listener(channel: channel, address: path, cleanUp: { file.remove() })
      } catch {
        await LineServer.cleanUp { file.remove() }
        throw error
      }
    }
  }
}
