import HTTPServer
import HTTPSupport
import HTTPTypes
public import Logging
public import ScanDaemon
import ScanInputs
public import ServiceLifecycle
import Synchronization

/// An HTTP server for a daemon, with the interface that `openapi.json` describes.
///
/// It serves until graceful shutdown, which lets responses in progress end and ends event streams.
///
/// Memory and descriptors: ``Options/maximumConnections`` connections, each with one request at a time, whose body has
/// at most ``Options/maximumBodyByteCount`` bytes; ``Options/maximumEventStreams`` listeners with one event each; 4096
/// clients in the rate limiter.
public struct DaemonServer: Service {
  /// The configuration of a server: its address, access control, and limits.
  public struct Options: Sendable {
    /// The address to listen on.
    public var address = Address.host("127.0.0.1", port: 8765)
    /// The permissions of a Unix domain socket: 0600 for the user of the process, 0660 also for its group, 0666 for
    /// everybody on this machine.
    package var socketMode: UInt16 = 0o600
    /// The token that clients must send as `Authorization: Bearer …`. Required for every address except loopback and a
    /// Unix domain socket.
    public var token: String?
    /// The maximum size of a request's body in bytes; a larger one is refused with status 413.
    public var maximumBodyByteCount = 1 << 20
    /// The sustained rate of requests per second of one client; `nil` for no limit. A client is an IPv4 address or a
    /// 64-bit IPv6 network; all clients of a Unix domain socket count as one.
    public var requestsPerSecond: Double?
    /// The number of requests that a client may make at once after a pause.
    public var requestBurst = 200
    /// The maximum number of connections. One eighth of them is reserved: for `/healthz` and `/readyz`, and for
    /// connections that are about to end. Above the rest, a new connection replaces one that has waited for its peer
    /// for a second, or is answered with 503.
    public var maximumConnections = 256
    /// The maximum number of connections per IPv4 address or 64-bit IPv6 network; `nil` for three quarters of all
    /// connections. Does not apply to a Unix domain socket.
    public var maximumConnectionsPerAddress: Int?
    /// The origins whose pages may read responses (CORS), for example `https://till.example.org`.
    public var allowedOrigins: [String] = []
    /// The names, without a port, that the server answers to besides those of this machine, for example
    /// `shop.example.org`: those of a proxy in front of it. Pages of these names are the server's own.
    public var names: [String] = []
    /// The maximum number of event streams. Never more than three quarters of the connections, so that other requests
    /// are answered.
    public var maximumEventStreams = 64
    /// The timeout for the request line and the fields of a request. It starts at the first byte, and on a new
    /// connection when it is opened; never longer than ``idleTimeout``.
    public var headTimeout: Duration = .seconds(10)
    /// The timeout for an idle connection, for the arrival of a request, and for a peer that does not read its
    /// response.
    public var idleTimeout: Duration = .seconds(60)
    /// The interval without an event after which an event stream sends a heartbeat.
    public var eventHeartbeat: Duration = .seconds(15)
    /// Whether the pages of the studio are served below `/studio/`; `nil` for loopback and Unix domain sockets only.
    public var servesStudio: Bool?
    /// Whether these pages may change documents and settings, and undo a commit. Without it they may retry and drop
    /// uploads only if there is a token.
    public var studioEdits = false
    /// Returns the response to `GET /metrics`; `nil` if there are no metrics.
    public var metrics: (@Sendable () -> [UInt8])?
    /// Called with the port, or the socket's path, once clients can connect.
    public var onListening: (@Sendable (_ where: String) async -> Void)?

    /// Creates options for port 8765 of this machine, without a token.
    public init() {}

    /// Whether the pages of the studio are served.
    package var hasStudio: Bool {
      if let servesStudio { return servesStudio }
      guard case .host(let host, _) = address else { return true }
      return Loopback.contains(host)
    }
  }

  /// The address that a server listens on.
  public enum Address: Sendable, Equatable {
    /// A name or numeric address of this machine. Port 0 selects a free port.
    case host(String, port: Int)
    /// A Unix domain socket, to which only the user of the process can connect unless configured otherwise. Its path may have up to 93 bytes:
    /// SwiftNIO's limit is 103, and up to ten are needed to publish it.
    case socket(path: String)
  }

  /// The backlog of connections that the system keeps until they are accepted. With a smaller one, a client that
  /// connects together with hundreds of others waits for a second, until its system retries.
  private static let backlog = 1024

  private let options: Options
  private let front: RequestHandler
  private let limiter: ConnectionLimiter
  private let metrics: ServerMetrics
  private let logger: Logger

  /// Creates a server. Does not open a socket yet.
  ///
  /// - Throws: ``DaemonServerError`` for options that would allow access without authentication from other machines, a
  ///   token that cannot be sent in a header, or an invalid port, origin or name.
  public init(_ daemon: Daemon, options: Options = Options(), logger: Logger) throws(DaemonServerError) {
    let accessControl = try Self.accessControl(options)
    self.options = options
    self.logger = logger
    let api = DaemonAPI(daemon: daemon, metrics: options.metrics, accessControl: accessControl)
    let limits = ConnectionLimiter.Limits(
      maximum: options.maximumConnections, perAddress: options.maximumConnectionsPerAddress)
    let message =
      "connections were closed or refused, as there may be \(limits.ordinary) (http.maximumConnections), and of one address"
      + " \(limits.perAddress) (http.maximumConnectionsPerAddress)"
    limiter = ConnectionLimiter(limits) { [problems = daemon.problems] in
      problems.report(.connectionsRefused, message, about: "http", endsAfter: .seconds(60))
    }
    let metrics = ServerMetrics(daemon.metricsFactory)
    self.metrics = metrics
    var studio: StudioFront?
    if options.hasStudio {
      studio = StudioFront(
        daemon, accessControl, edits: options.studioEdits, bodyLimit: options.maximumBodyByteCount)
    }
    front = RequestHandler(
      routes: api.routes, accessControl: accessControl, studio: studio,
      publication: daemon.publicationMirror.map(PublicationFront.init),
      events: EventStreams(
        daemon.events, limit: min(options.maximumEventStreams, limits.ordinary * 3 / 4),
        heartbeat: options.eventHeartbeat),
      maximumBodyByteCount: options.maximumBodyByteCount, metrics: metrics, problems: daemon.problems)
  }

  /// The access control for these options.
  static func accessControl(_ options: Options) throws(DaemonServerError) -> AccessControl {
    var isLocal = true
    var isOverNetwork = false
    if case .host(let host, let port) = options.address {
      isLocal = Loopback.contains(host)
      isOverNetwork = true
      guard (0...65_535).contains(port) else {
        throw .cannotListen("\(host):\(port)", reason: "a port is a number from 0 to 65535")
      }
      if !isLocal, options.token == nil { throw .tokenMissing(host: host) }
    }
    var token: BearerToken?
    if let text = options.token {
      token = BearerToken(text)
      if token == nil { throw .tokenUnusable }
    }
    let rate = options.requestsPerSecond.map { RateLimiter(perSecond: $0, burst: options.requestBurst) }
    var origins: Set<String> = []
    for text in options.allowedOrigins {
      guard let origin = WebOrigin.normalized(text) else { throw .originUnusable(text) }
      origins.insert(origin)
    }
    var names: Set<String> = []
    for text in options.names {
      guard let name = HostNames.normalized(text) else { throw .nameUnusable(text) }
      names.insert(name)
    }
    return AccessControl(
      token: token, isLocal: isLocal, isOverNetwork: isOverNetwork, rate: rate,
      crossOrigin: CrossOrigin(origins: origins), names: HostNames(names))
  }

  /// Serves until graceful shutdown, which lets responses in progress end, or cancellation, which does not.
  ///
  /// - Throws: ``DaemonServerError/cannotListen(_:reason:)``.
  public func run() async throws {
    switch options.address {
    case .host(let host, let port):
      let name = "\(host):\(port)"
      try await serve(.host(host, port: port), name: name) { "\($0 ?? port)" }
    case .socket(let path):
      let file: SocketFile
      do { file = try await SocketFile(path: path) } catch {
        throw DaemonServerError.cannotListen(path, reason: "\(error)")
      }
      defer { file.removeTemporary() }
      let identity = Mutex<SocketFile.Identity?>(nil)
      defer { if let identity = identity.withLock({ $0 }) { file.remove(identity) } }
      try await serve(.socket(path: file.temporaryPath), name: path) { [options] _ in
        do {
          let published = try file.publish(mode: options.socketMode)
          identity.withLock { $0 = published }
        } catch { throw DaemonServerError.cannotListen(path, reason: "\(error)") }
        return path
      }
    }
  }

  /// - Parameters:
  ///   - name: The name of the address, for people.
  ///   - publish: Makes the address known once it is bound, and returns the text for clients.
  private func serve(
    _ address: Server.Address, name: String, publish: @escaping @Sendable (_ port: Int?) throws -> String
  ) async throws {
    var protection = Protection(limiter)
    protection.serverName = "daemon"
    protection.advice = ", or raise http.maximumConnections"
    protection.healthPaths = ["/healthz", "/readyz"]
    protection.headTimeout = min(options.headTimeout, options.idleTimeout)
    protection.bodyTimeout = options.idleTimeout
    protection.maximumBodyByteCount = front.maximumBodyByteCount
    protection.onRefusal = { [metrics] method, status in
      metrics.count(method, route: ServerMetrics.noRoute, status: status)
    }
    var serverOptions = Server.Options(address: address)
    serverOptions.protection = protection
    serverOptions.backlog = Self.backlog
    // If all connections are in use, including the ones about to end, further ones wait a moment.
    serverOptions.maximumConnections = options.maximumConnections
    // A moment later than the limits of a request, whose answers say what was wrong.
    serverOptions.idleTimeout = options.idleTimeout + .milliseconds(250)
    serverOptions.maximumSkippedByteCount = RequestHandler.skipByteLimit
    serverOptions.configure = { [metrics] channel in
      try channel.pipeline.syncOperations.addHandler(ServerMetrics.ConnectionCounter(metrics))
    }
    serverOptions.onListening = { [options, logger] port in
      let place = try publish(port)
      logger.info("listening for HTTP", metadata: ["address": "\(name)", "at": "\(place)"])
      await options.onListening?(place)
    }
    let server = Server(serverOptions, logger: logger) { [front] request, body, writer, channel in
      try await front.respond(to: request, body, writer, channel)
    }
    do { try await server.run() } catch let error as ListenError {
      throw DaemonServerError.cannotListen(name, reason: error.reason)
    }
  }
}
