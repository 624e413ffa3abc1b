package import HTTPTypes
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A server of HTTP/1.1, without encryption.
///
/// Each connection has one task, which answers its requests in turn. A request costs no task and no timer of its own,
/// and a whole response is written with one system call if the socket takes it.
///
/// Memory: for each connection, at most eight parts of requests, each as large as one read, and the part of a response
/// that the client has not read yet.
package struct Server: Service {
  /// A function that answers a request by the response writer. It runs on the connection's task, and is cancelled when
  /// the server is cancelled.
  ///
  /// If it throws, or returns without a complete response, the connection is closed.
  package typealias Handler =
    @Sendable (HTTPRequest, RequestBody, consuming ResponseWriter, any Channel) async throws -> Void

  /// The address that a server listens on.
  package enum Address: Sendable {
    /// A name or numeric address of this machine. Port 0 selects a free port.
    case host(String, port: Int)
    /// A Unix domain socket, with a path of at most 103 bytes. A socket file that exists is replaced.
    case socket(path: String)
  }

  /// The limits of a request's head. A larger one is refused with status 400, unless a channel handler answers it
  /// otherwise.
  package struct HeadLimits: Sendable {
    /// The maximum size in bytes of a request's target, and of one of its fields.
    package var fieldByteCount = 80 << 10
    /// The maximum size in bytes of all fields together.
    package var byteCount = 80 << 10
    /// The maximum number of fields.
    package var fieldCount = 1000

    /// Creates the limits of 80 KiB and 1000 fields.
    package init() {}
  }

  /// The configuration of a server.
  package struct Options: Sendable {
    /// The address to listen on.
    package var address: Address
    /// The number of connections that the system keeps until they are accepted.
    package var backlog = 256
    /// The maximum number of connections; `nil` for no limit. Further ones are accepted when others have ended.
    package var maximumConnections: Int?
    /// The timeout for an idle connection, and for a request of which nothing arrives; `nil` for none.
    package var idleTimeout: Duration? = .seconds(60)
    /// The limits of a request's head.
    package var headLimits = HeadLimits()
    /// The maximum number of bytes that are received and discarded of a body that the handler does not read. Above it,
    /// the connection ends after the response.
    package var maximumSkippedByteCount = 16 << 20
    /// The value of the field `Server` of each response; `nil` for none.
    package var serverName: String?
    /// What protects the server from clients that are slow, too many, or send what is no request; `nil` for nothing but
    /// the other limits. It has limits of a request's head of its own.
    package var protection: Protection?
    /// Adds channel handlers to a new connection, on its event loop. They come after the parser and the encoder of
    /// messages, and before the handler that answers requests: parts of requests pass them first, as
    /// `HTTPServerRequestPart`, and parts of responses pass them last, as `HTTPServerResponsePart`.
    package var configure: (@Sendable (any Channel) throws -> Void)?
    /// Called once clients can connect, with the port; `nil` for a Unix domain socket. If it throws, the server ends
    /// with this error.
    package var onListening: (@Sendable (_ port: Int?) async throws -> Void)?

    /// Creates options without a limit of connections.
    package init(address: Address) { self.address = address }
  }

  private let options: Options
  private let date: HTTPDate
  private let logger: Logger
  private let handler: Handler

  /// Creates a server, which listens once ``run()`` is called.
  ///
  /// - Parameters:
  ///   - options: The configuration.
  ///   - date: The clock of the field `Date`, which responses get if they have none.
  ///   - logger: The logger of connections that end early (debug), and of a listener that fails (error).
  ///   - handler: The function that answers requests.
  package init(_ options: Options, date: HTTPDate = HTTPDate(), logger: Logger, handler: @escaping Handler) {
    self.options = options
    self.date = date
    self.logger = logger
    self.handler = handler
  }

  /// Serves until graceful shutdown or cancellation.
  ///
  /// At graceful shutdown the listener and idle connections are closed, and responses to requests that have arrived are
  /// completed, with `Connection: close`; the function returns when they are. Cancellation closes all connections.
  ///
  /// - Throws: ``ListenError`` if the address cannot be used; the error of ``Options/onListening``.
  package func run() async throws {
    let connections = OpenConnections()
    let listener: NIOAsyncChannel<Connection, Never>
    do { listener = try await listen(connections) } catch let error as CancellationError { throw error } catch {
      throw ListenError(error)
    }
    try await withGracefulShutdownHandler {
      do { try await options.onListening?(listener.channel.localAddress?.port) } catch {
        try? await listener.executeThenClose { _ in }
        connections.closeAll()
        throw error
      }
      await withDiscardingTaskGroup { group in
        do {
          try await listener.executeThenClose { accepted in
            for try await connection in accepted {
              group.addTask { [options, logger, handler] in
                await connection.serve(skipLimit: options.maximumSkippedByteCount, logger: logger, handler)
              }
            }
          }
        } catch {
          if !Task.isCancelled {
            logger.error("connections are not accepted any more", metadata: ["error": "\(error)"])
          }
        }
      }
      // A connection may have been accepted whose task was never begun.
      connections.closeAll()
    } onGracefulShutdown: {
      listener.channel.close(promise: nil)
      connections.quiesce()
    }
  }

  private func listen(_ connections: OpenConnections) async throws -> NIOAsyncChannel<Connection, Never> {
    let (options, logger) = (options, logger)
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: Int32(clamping: options.backlog))
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let limit = ConnectionLimit(options.maximumConnections ?? .max, logger: logger)
          try channel.pipeline.syncOperations.addHandler(limit)
        }
      }
    let initialize = { @Sendable (channel: any Channel) in
      channel.eventLoop.makeCompletedFuture { try connection(channel, connections) }
    }
    switch options.address {
    case .host(let host, let port):
      return try await bootstrap.bind(host: host, port: port, childChannelInitializer: initialize)
    case .socket(let path):
      return try await bootstrap.bind(
        unixDomainSocketPath: path, cleanupExistingSocketFile: true, childChannelInitializer: initialize)
    }
  }

  /// Sets up a new connection.
  private func connection(_ channel: any Channel, _ connections: OpenConnections) throws -> Connection {
    var limits = NIOHTTPDecoderLimitConfiguration()
    let headLimits = options.protection == nil ? options.headLimits : Protection.headLimits
    limits.maxHeaderFieldSize = headLimits.fieldByteCount
    limits.maxHeaderListSize = headLimits.byteCount
    limits.maxHeaderFieldCount = headLimits.fieldCount
    // The fields of responses were checked by HTTPTypes, and `ConnectionHandler` frames bodies.
    var encoding = HTTPResponseEncoder.Configuration()
    encoding.automaticallySetFramingHeaders = false
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
      withEncoderConfiguration: encoding, withDecoderLimitConfiguration: limits)
    try options.protection?.add(to: channel, date: date, skipLimit: options.maximumSkippedByteCount)
    try options.configure?(channel)
    let queue = RequestQueue(channel)
    let handler = ConnectionHandler(
      queue, idleTimeout: options.idleTimeout.map { TimeAmount($0) }, serverName: options.serverName, date: date)
    try pipeline.addHandler(handler)
    let connection = Connection(channel, queue, handler)
    connections.add(connection)
    return connection
  }
}

/// The open connections of a server.
private final class OpenConnections: Sendable {
  private let state = Mutex((connections: [ObjectIdentifier: Connection](), isQuiescing: false))

  /// Adds a connection until it is closed. It ends at once if the server is shutting down.
  func add(_ connection: Connection) {
    let id = ObjectIdentifier(connection.channel)
    let isQuiescing = state.withLock { state in
      state.connections[id] = connection
      return state.isQuiescing
    }
    connection.channel.closeFuture.whenComplete { _ in
      self.state.withLock { _ = $0.connections.removeValue(forKey: id) }
    }
    if isQuiescing { connection.quiesce() }
  }

  /// Ends all connections after the responses to requests that have arrived.
  func quiesce() {
    let connections = state.withLock { state in
      state.isQuiescing = true
      return Array(state.connections.values)
    }
    for connection in connections { connection.quiesce() }
  }

  /// Closes all connections.
  func closeAll() {
    let connections = state.withLock { Array($0.connections.values) }
    for connection in connections { connection.channel.close(promise: nil) }
  }
}
