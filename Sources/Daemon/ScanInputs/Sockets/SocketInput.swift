import NIOCore
import NIOPosix

/// Answers JSON requests on a Unix domain socket.
struct SocketInput {
  let path: String
  let server: LineServer

  func run() async throws {
    try await server.run(at: path) { bootstrap in
      let file: SocketFile
      do { file = try await SocketFile(path: path) } catch { throw InputError("cannot listen at \(path): \(error)") }
      do {
        let channel = try await bootstrap.bind(unixDomainSocketPath: file.temporaryPath).get()
        do {
          let identity = try file.publish()
          return LineServer.Listener(channel: channel, address: path, cleanUp: { file.remove(identity) })
        } catch {
          try? await channel.close()
          throw InputError("cannot listen at \(path): \(error)")
        }
      } catch {
        file.removeTemporary()
        throw error
      }
    }
  }
}
