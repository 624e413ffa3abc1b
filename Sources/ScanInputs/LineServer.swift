import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Accepts connections, and answers the lines of each.
struct LineServer {
  /// What the system keeps of what a client sends and nobody has read.
  static let receiveByteCount = 64 << 10
  /// How long to wait before listening is tried again; it doubles up to the second one.
  static let firstPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(30)

  /// A socket that listens.
  struct Listener: Sendable {
    let channel: any Channel
    /// For people.
    let address: String
    /// What is to be done once it is closed; may block.
    var cleanUp: @Sendable () -> Void = {}
  }

  let inputContext: InputContext
  let dialect: LineDialect
  /// The pause that ends a line.
  var idleTimeout: Duration?
  /// The networks whose clients may connect; all clients may if it is empty.
  var allow: [PeerNetwork] = []
  let environment: InputEnvironment
  let ending: Ending

  /// - Parameters:
  ///   - place: Where it listens, for messages.
  ///   - listen: Makes the socket.
  func run(at place: String, listen: (ServerBootstrap) async throws -> Listener) async throws {
    var reopening = Reopening(
      inputContext: inputContext, environment: environment, first: Self.firstPause, longest: Self.longestPause)
    while !ending.stop.isTripped {
      let (arrivals, continuation) = AsyncStream.makeStream(of: LineConnection.self)
      let roster = Roster(limit: environment.maximumConnections)
      let listener: Listener
      do {
        listener = try await listen(bootstrap(roster, continuation))
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        try await reopening.closed(Self.reason(error, at: place))
        continue
      }
      listener.channel.closeFuture.whenComplete { _ in continuation.finish() }
      reopening.opened(listener.address)
      noteCount(roster)
      await serve(listener, arrivals, roster)
      await Self.cleanUp(listener.cleanUp)
      try Task.checkCancellation()
      if !ending.stop.isTripped { try await reopening.closed("the socket was closed") }
    }
  }

  /// Until the socket is closed and all connections are.
  private func serve(_ listener: Listener, _ arrivals: AsyncStream<LineConnection>, _ roster: Roster) async {
    let patience = environment.patience
    await withTaskCancellationOrGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        for await connection in arrivals {
          group.addTask(executorPreference: EventLoopExecutor(connection.channel.eventLoop)) {
            await connection.serve(inputContext, dialect, patience: patience)
            roster.remove(connection)
            noteCount(roster)
          }
        }
      }
    } onCancelOrGracefulShutdown: {
      listener.channel.close(promise: nil)
      for connection in roster.close() { connection.stop(patience: environment.patienceAtEnd) }
    }
    try? await listener.channel.close()
    // After a cancellation, those that nobody has begun to serve.
    for connection in roster.close() { connection.channel.close(promise: nil) }
  }

  private func noteCount(_ roster: Roster) { inputContext.note(.connections(roster.count, limit: roster.limit)) }

  /// Lets a client in, or says why not.
  private func admit(_ connection: LineConnection, _ roster: Roster) throws {
    let address = connection.channel.remoteAddress
    let peer = address.map(LineServer.shown) ?? "an unknown address"
    if !allow.isEmpty, !allow.contains(where: { $0.contains(address?.ipAddress ?? "") }) {
      inputContext.note(.refused(.notAllowed(peer: peer)))
      throw ChannelError.ioOnClosedChannel
    }
    switch roster.admit(connection) {
    case .admitted: noteCount(roster)
    case .full:
      inputContext.note(.refused(.limit(roster.limit, peer: peer)))
      throw ChannelError.ioOnClosedChannel
    case .closed: throw ChannelError.ioOnClosedChannel
    }
  }

  private func bootstrap(
    _ roster: Roster, _ arrivals: AsyncStream<LineConnection>.Continuation
  ) -> ServerBootstrap {
    ServerBootstrap(group: EventLoopExecutor.group)
      .serverChannelOption(.backlog, value: 128)
      // Without descriptors it accepts again after a moment, and does not spin.
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      // What is read is asked for; and what the system has when the client is through is not much.
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Descriptor.readByteCount))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try LineConnection(channel, idleTimeout: idleTimeout, onPause: environment.onPause)
          try admit(connection, roster)
          arrivals.yield(connection)
        }
      }
  }

  /// Runs a call that blocks on a thread for such calls.
  static func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await NIOThreadPool.singleton.runIfActive(body)
  }

  /// The same, whatever becomes of the task.
  static func cleanUp(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      NIOThreadPool.singleton.submit { _ in
        body()
        continuation.resume()
      }
    }
  }

  /// An address with its port, IPv6 in brackets; of a Unix domain socket its path. An address of IPv4 is shown as such, also where
  /// the system writes it as one of IPv6.
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

/// The connections of a server, at most as many as its limit.
private final class Roster: Sendable {
  enum Admission { case admitted, full, closed }

  let limit: Int
  /// `nil` once the server ends: no client is let in any more.
  private let connections = Mutex<[ObjectIdentifier: LineConnection]?>([:])

  init(limit: Int) { self.limit = limit }

  var count: Int { connections.withLock { $0?.count ?? 0 } }

  func admit(_ connection: LineConnection) -> Admission {
    connections.withLock { connections in
      guard let count = connections?.count else { return .closed }
      guard count < limit else { return .full }
      connections?[ObjectIdentifier(connection.channel)] = connection
      return .admitted
    }
  }

  func remove(_ connection: LineConnection) {
    connections.withLock { _ = $0?.removeValue(forKey: ObjectIdentifier(connection.channel)) }
  }

  /// Lets nobody in any more; those that are in, the first time it is called.
  func close() -> [LineConnection] {
    connections.withLock { connections in
      defer { connections = nil }
      return connections.map { Array($0.values) } ?? []
    }
  }
}
