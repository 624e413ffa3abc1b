import HTTPTypes
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ScanDaemon
import ScanInputs
public import ServiceLifecycle
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A daemon's HTTP interface, as `openapi.json` describes it.
///
/// It serves until graceful shutdown, which lets running answers end and ends the streams of events.
///
/// Memory and descriptors: ``Options/maximumConnections`` connections, each with one request at a time, of which a body takes
/// at most ``Options/maximumBodyByteCount`` bytes; ``Options/maximumEventStreams`` listeners with one event each; 4096 callers
/// that the rate bound tells apart.
public struct DaemonServer: Service {
  /// Where a server listens, who gets in, and how much it takes.
  public struct Options: Sendable {
    /// Where it listens.
    public var address = Address.host("127.0.0.1", port: 8765)
    /// What callers must show as `Authorization: Bearer …`. Needed for every address but loopback and a Unix domain socket.
    public var token: String?
    /// The most bytes of a request's body; beyond it 413.
    public var maximumBodyByteCount = 1 << 20
    /// Requests a second that one caller may make in the long run; `nil` for any number. A caller is an address, of IPv6 a network
    /// of 64 bits; all callers of a Unix domain socket are one.
    public var requestsPerSecond: Double?
    /// How many of these may come at once after a silence.
    public var requestBurst = 200
    /// Connections at once. An eighth of them is kept back: for `/healthz` and `/readyz`, and for connections that are about to
    /// end. Beyond the rest a new connection replaces one that has waited for its peer for a second, or is answered with 503.
    public var maximumConnections = 256
    /// Connections of one address at once, of IPv6 of a network of 64 bits; `nil` for three quarters of all. It does not apply to a
    /// Unix domain socket.
    public var maximumConnectionsPerAddress: Int?
    /// Pages of these origins may ask, such as `https://till.example.org`: their browsers are told so (CORS).
    public var allowedOrigins: [String] = []
    /// Listeners of events at once; never more than three of four connections, so that others are answered.
    public var maximumEventStreams = 64
    /// How long the request line and the fields of a request may take to arrive: from the first byte on, and on a new connection from
    /// its beginning on; never longer than ``idleTimeout``.
    public var headTimeout: Duration = .seconds(10)
    /// How long a connection may idle, a request arrive, and a peer not take what is there for it.
    public var idleTimeout: Duration = .seconds(60)
    /// After how long without an event a stream of events says that it lives.
    public var eventHeartbeat: Duration = .seconds(15)
    /// What `GET /metrics` answers; `nil` where there are no metrics.
    public var metrics: (@Sendable () -> [UInt8])?
    /// Told the port, or the socket's path, once clients can connect.
    public var onListening: (@Sendable (_ where: String) async -> Void)?

    /// Creates options for port 8765 of this machine, without a token.
    public init() {}
  }

  /// Where a server listens.
  public enum Address: Sendable, Equatable {
    /// A name or numeric address of this machine. Port 0 takes a free one.
    case host(String, port: Int)
    /// A Unix domain socket, for the owner of the process alone. Its path has up to 93 bytes: SwiftNIO's bound is 103, and up to
    /// ten are needed to publish it.
    case socket(path: String)
  }

  /// Connections that the system keeps until they are accepted. With fewer, a caller who comes with hundreds of others waits for a
  /// second, until its system tries again.
  private static let backlog = 1024

  private let options: Options
  private let front: RequestHandler
  private let limiter: ConnectionLimiter
  private let metrics: ServerMetrics
  private let logger: Logger

  /// Opens nothing yet.
  ///
  /// - Throws: ``DaemonServerError`` for options that would let anybody in, a token that no header can carry, an invalid port.
  public init(_ daemon: Daemon, options: Options = Options(), logger: Logger) throws(DaemonServerError) {
    let gate = try Self.gate(options)
    self.options = options
    self.logger = logger
    let api = DaemonAPI(daemon: daemon, metrics: options.metrics, gate: gate)
    let limits = ConnectionLimiter.Limits(
      maximum: options.maximumConnections, perAddress: options.maximumConnectionsPerAddress)
    let message =
      "connections were closed or refused, as there may be \(limits.ordinary) (http.maximumConnections), and of one address"
      + " \(limits.perAddress) (http.maximumConnectionsPerAddress)"
    limiter = ConnectionLimiter(limits) { [problems = daemon.problems] in
      problems.note(.connectionsRefused, message, about: "http", endsAfter: .seconds(60))
    }
    let metrics = ServerMetrics(daemon.metricsFactory)
    self.metrics = metrics
    front = RequestHandler(
      table: RouteTable(api.routes), gate: gate,
      events: EventStreams(
        daemon.events, limit: min(options.maximumEventStreams, limits.ordinary * 3 / 4),
        heartbeat: options.eventHeartbeat),
      maximumBodyByteCount: options.maximumBodyByteCount, metrics: metrics, problems: daemon.problems, date: HTTPDate())
  }

  /// Who gets in under these options.
  static func gate(_ options: Options) throws(DaemonServerError) -> Gate {
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
    return Gate(
      token: token, isLocal: isLocal, isOverNetwork: isOverNetwork, rate: rate,
      crossOrigin: CrossOrigin(origins: origins))
  }

  /// Serves until graceful shutdown, which lets running answers end, or cancellation, which does not.
  ///
  /// - Throws: ``DaemonServerError/cannotListen(_:reason:)``.
  public func run() async throws {
    switch options.address {
    case .host(let host, let port):
      try await serve(.hostname(host, port: port), name: "\(host):\(port)") { channel in
        "\(channel.localAddress?.port ?? port)"
      }
    case .socket(let path):
      let file: SocketFile
      do { file = try await SocketFile(path: path) } catch {
        throw DaemonServerError.cannotListen(path, reason: "\(error)")
      }
      defer { file.removeTemporary() }
      let identity = Mutex<SocketFile.Identity?>(nil)
      defer { if let identity = identity.withLock({ $0 }) { file.remove(identity) } }
      try await serve(.unixDomainSocket(path: file.temporaryPath), name: path) { _ in
        do {
          let published = try file.publish()
          identity.withLock { $0 = published }
        } catch { throw DaemonServerError.cannotListen(path, reason: "\(error)") }
        return path
      }
    }
  }

  /// - Parameters:
  ///   - name: of the address, for people.
  ///   - publish: makes the address known once it is bound, and says what callers are told.
  private func serve(
    _ address: BindAddress, name: String, publish: @escaping @Sendable (any Channel) throws -> String
  ) async throws {
    let isListening = Atomic(false)
    let failure = Mutex<(any Error)?>(nil)
    // Hummingbird's own start and stop events stay out of the log unless something is wrong.
    var frameworkLogger = logger
    frameworkLogger.logLevel = max(logger.logLevel, .warning)
    let metrics = metrics
    let idleTimeout = TimeAmount(options.idleTimeout)
    let setup = PipelineSetup.Options(
      limiter: limiter, headTimeout: min(TimeAmount(options.headTimeout), idleTimeout), bodyTimeout: idleTimeout,
      maximumBodyByteCount: front.maximumBodyByteCount, date: front.date, metrics: metrics)
    let builder = HTTPServerBuilder.http1(
      configuration: .init(
        additionalChannelHandlers: [
          PipelineSetup(setup), StallGuard(timeout: idleTimeout), ServerMetrics.ConnectionCounter(metrics),
        ],
        idleTimeout: idleTimeout,
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: RequestGuard.maximumFieldByteCount, maxHeaderListSize: RequestGuard.maximumHeadByteCount,
          maxHeaderFieldCount: RequestGuard.maximumFieldCount)))
    let server = try builder.buildServer(
      configuration: ServerConfiguration(
        // Where all are used up, those that are about to end among them, others wait a moment.
        address: address, backlog: Self.backlog,
        availableConnectionsDelegate: MaximumAvailableConnections(options.maximumConnections)),
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: frameworkLogger
    ) { [front] request, writer, channel in
      try await front.respond(to: request, writer, channel)
    } onServerRunning: { [options, logger] channel in
      do {
        let place = try publish(channel)
        isListening.store(true, ordering: .releasing)
        logger.info("listening for HTTP", metadata: ["address": "\(name)", "at": "\(place)"])
        await options.onListening?(place)
      } catch {
        failure.withLock { $0 = error }
        channel.close(promise: nil)
      }
    }
    do {
      try await server.run()
    } catch let error where !isListening.load(ordering: .acquiring) && !(error is CancellationError) {
      throw DaemonServerError.cannotListen(name, reason: Self.reason(error))
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    // The text of an error number is a C string that is copied at once.
    case let error as IOError: unsafe String(cString: strerror(error.errnoCode))
    case is SocketAddressError: "this is no address of this machine"
    default: "\(error)"
    }
  }
}
