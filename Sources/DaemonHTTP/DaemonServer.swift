public import Logging
public import ScanDaemon
public import ServiceLifecycle

/// A daemon's HTTP interface, as `openapi.json` describes it.
public struct DaemonServer: Service {
  public struct Options: Sendable {
    public var address = Address.host("127.0.0.1", port: 8765)
    /// What callers must show as `Authorization: Bearer …`. Needed for every address but loopback and a Unix domain socket.
    public var token: String?
    /// The most bytes of a request's body.
    public var maximumBodyByteCount = 1 << 20
    /// Requests a second that one caller may make in the long run, and at once; `nil` for any number.
    public var requestsPerSecond: Double?
    public var requestBurst = 200
    /// Listeners of events at once.
    public var maximumEventStreams = 64
    /// What `GET /metrics` answers; `nil` where there are no metrics.
    public var metrics: (@Sendable () -> [UInt8])?
    /// Told the port, or the socket's path, once clients can connect.
    public var onListening: (@Sendable (_ where: String) async -> Void)?

    public init() {}
  }

  public enum Address: Sendable, Equatable {
    /// Port 0 takes a free one.
    case host(String, port: Int)
    case socket(path: String)
  }

  /// - Throws: ``DaemonServerError`` for options that would let anybody in.
  public init(_ daemon: Daemon, options: Options = Options(), logger: Logger) throws(DaemonServerError) {
    fatalError("being built")
  }

  public func run() async throws { fatalError("being built") }
}

/// Why a server does not start.
public enum DaemonServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The address can be reached by others, and no token is set.
  case tokenMissing(host: String)
  case cannotListen(String, reason: String)

  public var description: String { fatalError("being built") }
}
