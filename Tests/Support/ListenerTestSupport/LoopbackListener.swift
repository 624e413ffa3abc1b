package import NIOCore
import NIOPosix
import Synchronization

/// A listener on loopback that gives each connection to a function.
///
/// NIO stops the process when an asynchronous channel is let go of while it is open and nothing was done with it, and a
/// listener that is closed lets go of the connections that it accepted last. So this one keeps each of them until it
/// is served, and closes those that never are.
package final class LoopbackListener: Sendable {
  package typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// The port, chosen by the system.
  package let port: Int
  private let listener: NIOAsyncChannel<Connection, Never>
  private let accepted: AcceptedConnections

  /// Begins to listen.
  package init() async throws {
    let accepted = AcceptedConnections()
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture { try accepted.add(channel) }
      }
    self.port = listener.channel.localAddress?.port ?? 0
    self.listener = listener
    self.accepted = accepted
  }

  /// Calls `serve` for each connection, for many at a time, until the task is cancelled. To be called once.
  package func run(_ serve: @escaping @Sendable (Connection) async throws -> Void) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      do {
        try await listener.executeThenClose { connections in
          for try await connection in connections {
            accepted.remove(connection)
            group.addTask { try? await serve(connection) }
          }
        }
      } catch { if !Task.isCancelled { throw error } }
      for connection in accepted.close() { try? await connection.executeThenClose { _, _ in } }
    }
  }
}

/// The connections that nothing was done with.
private final class AcceptedConnections: Sendable {
  private struct ClosedError: Error {}

  /// `nil` once the listener is closed.
  private let connections = Mutex<[ObjectIdentifier: LoopbackListener.Connection]?>([:])

  func add(_ channel: any Channel) throws -> LoopbackListener.Connection {
    try connections.withLock { connections in
      if connections == nil { throw ClosedError() }
      let connection = try LoopbackListener.Connection(wrappingChannelSynchronously: channel)
      connections?[ObjectIdentifier(channel)] = connection
      return connection
    }
  }

  func remove(_ connection: LoopbackListener.Connection) {
    connections.withLock { _ = $0?.removeValue(forKey: ObjectIdentifier(connection.channel)) }
  }

  func close() -> [LoopbackListener.Connection] {
    connections.withLock { connections in
      defer { connections = nil }
      return connections.map { Array($0.values) } ?? []
    }
  }
}
