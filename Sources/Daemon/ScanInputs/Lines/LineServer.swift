import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A server that accepts connections and answers their lines.
struct LineServer {
  /// The size of the system's receive buffer for unread data of a client.
  static let receiveByteCount = 64 << 10
  /// The delay before listening is retried. It doubles up to the second value.
  static let firstPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(30)

  /// A listening socket.
  struct Listener: Sendable {
    let channel: any Channel
    /// A description for people.
    let address: String
    /// An action after the socket is closed; may block.
    var cleanUp: @Sendable () -> Void = {}
  }

  let inputContext: InputContext
  let dialect: LineDialect
  /// The pause that ends a line.
  var idleTimeout: Duration?
  /// The networks from which clients may connect; empty for all.
  var allow: [PeerNetwork] = []
  let environment: InputEnvironment
  let ending: Ending

  /// Runs until the input must end.
  ///
  /// - Parameters:
  ///   - address: The address, for messages.
  ///   - listen: Creates the listening socket.
  func run(at address: String, listen: (ServerBootstrap) async throws -> Listener) async throws {
    var reopening = Reopening(
      inputContext: inputContext, environment: environment, first: Self.firstPause, longest: Self.longestPause)
    while !ending.stop.isTripped {
      let (arrivals, continuation) = AsyncStream.makeStream(of: LineConnection.self)
      let limit = environment.maximumConnections
      let registry = ConnectionRegistry(limit: limit) { inputContext.report(.connections($0, limit: limit)) }
      let listener: Listener
      do {
        listener = try await listen(bootstrap(registry, continuation))
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        try await reopening.closed(Self.reason(error, at: address))
        continue
      }
      listener.channel.closeFuture.whenComplete { _ in continuation.finish() }
      registry.report()
      reopening.opened(listener.address)
      await serve(listener, arrivals, registry)
      await Self.cleanUp(listener.cleanUp)
      try Task.checkCancellation()
      if !ending.stop.isTripped { try await reopening.closed("the socket was closed") }
    }
  }

  /// Serves connections until the socket and all connections are closed.
  private func serve(
    _ listener: Listener, _ arrivals: AsyncStream<LineConnection>, _ registry: ConnectionRegistry
  ) async {
    let timeout = environment.answerTimeout
    await withTaskCancellationOrGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        for await connection in arrivals {
          group.addTask(executorPreference: EventLoopExecutor(connection.channel.eventLoop)) {
            await connection.serve(inputContext, dialect, timeout: timeout)
            registry.remove(connection)
          }
        }
      }
    } onCancelOrGracefulShutdown: {
      listener.channel.close(promise: nil)
      for connection in registry.close() { connection.stop(timeout: environment.timeoutAtEnd) }
    }
    try? await listener.channel.close()
    // After a cancellation, close connections that have not been served yet.
    for connection in registry.close() { connection.channel.close(promise: nil) }
  }

  /// Admits a client, or reports why it is refused.
  private func admit(_ connection: LineConnection, _ registry: ConnectionRegistry) throws {
    let address = connection.channel.remoteAddress
    let peer = address.map(LineServer.shown) ?? "an unknown address"
    if !allow.isEmpty, !allow.contains(where: { $0.contains(address?.ipAddress ?? "") }) {
      inputContext.report(.refused(.notAllowed(peer: peer)))
      throw ChannelError.ioOnClosedChannel
    }
    switch registry.admit(connection) {
    case .admitted: break
    case .full:
      inputContext.report(.refused(.limit(registry.limit, peer: peer)))
      throw ChannelError.ioOnClosedChannel
    case .closed: throw ChannelError.ioOnClosedChannel
    }
  }

  private func bootstrap(
    _ registry: ConnectionRegistry, _ arrivals: AsyncStream<LineConnection>.Continuation
  ) -> ServerBootstrap {
    ServerBootstrap(group: EventLoopExecutor.group)
      .serverChannelOption(.backlog, value: 128)
      // If file descriptors run out, accepting resumes after a delay, without spinning.
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      // Reads are explicit; and the bytes that the system has when the client ends its side are limited.
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Descriptor.readByteCount))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try LineConnection(channel, idleTimeout: idleTimeout, onPause: environment.onPause)
          try admit(connection, registry)
          arrivals.yield(connection)
        }
      }
  }

  /// Runs a blocking call on a thread pool for such calls.
  static func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await NIOThreadPool.singleton.runIfActive(body)
  }

  /// Runs a blocking call even if the task is cancelled.
  static func cleanUp(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      NIOThreadPool.singleton.submit { _ in
        body()
        continuation.resume()
      }
    }
  }

  /// The text of an address with its port, with IPv6 in brackets; or the path of a Unix domain socket. An IPv4-mapped
  /// IPv6 address is shown as IPv4.
  static func shown(_ address: SocketAddress) -> String {
    guard let host = address.ipAddress, let port = address.port else { return address.pathname ?? "" }
    let isMapped = host.hasPrefix("::ffff:") && host.contains(".")
    return shown(isMapped ? String(host.dropFirst(7)) : host, port)
  }

  static func shown(_ host: String, _ port: Int) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private static func reason(_ error: any Error, at address: String) -> String {
    switch error {
    case let error as IOError: InputError("cannot listen on \(address)", code: error.errnoCode).description
    case SocketAddressError.unknown(let host, _): "the host \(host) is not known"
    case is SocketAddressError: "this is no address"
    default: "\(error)"
    }
  }
}

/// The connections of a server, up to a limit.
private final class ConnectionRegistry: Sendable {
  enum Admission { case admitted, full, closed }

  let limit: Int
  /// Called with each new number of connections, under the lock: connections of several event loops begin and end at
  /// once, and the last number told must be the true one.
  private let onChange: @Sendable (Int) -> Void
  /// `nil` once the server ends: no more clients are admitted.
  private let connections = Mutex<[ObjectIdentifier: LineConnection]?>([:])

  init(limit: Int, onChange: @escaping @Sendable (Int) -> Void) {
    self.limit = limit
    self.onChange = onChange
  }

  /// Reports the number of connections, also without a change.
  func report() { connections.withLock { onChange($0?.count ?? 0) } }

  func admit(_ connection: LineConnection) -> Admission {
    connections.withLock { connections in
      guard let count = connections?.count else { return .closed }
      guard count < limit else { return .full }
      connections?[ObjectIdentifier(connection.channel)] = connection
      onChange(count + 1)
      return .admitted
    }
  }

  func remove(_ connection: LineConnection) {
    connections.withLock { connections in
      _ = connections?.removeValue(forKey: ObjectIdentifier(connection.channel))
      onChange(connections?.count ?? 0)
    }
  }

  /// Admits no more clients. The first call returns the current connections.
  func close() -> [LineConnection] {
    connections.withLock { connections in
      defer { connections = nil }
      return connections.map { Array($0.values) } ?? []
    }
  }
}
