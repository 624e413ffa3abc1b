import DaemonHTTP
import DaemonProcess
import Logging
import ScanDaemon
import ScanInputs
import ServiceLifecycle
import Storage

/// A daemon under one configuration, from the moment on at which its stores are open.
struct DaemonRun: Sendable {
  let configuration: DaemonConfiguration
  let daemon: Daemon
  let group: ServiceGroup

  /// How much longer than its uploads the rest of a daemon may take to end in order.
  static let margin: Duration = .seconds(5)

  /// Opens the stores.
  ///
  /// - Parameters:
  ///   - rack: has the inputs, which outlive a run.
  ///   - recent: what was read before.
  ///   - goesOn: whether another run will follow, once this one ends.
  ///   - onStarted: told what listens, once scans can come.
  ///   - onEnd: told when the standard input ends, if the daemon is to end then.
  static func open(
    _ configuration: DaemonConfiguration, _ setup: ProcessSetup, _ rack: InputSupervisor, after recent: RecentScans,
    goesOn: @escaping @Sendable () -> Bool, onStarted: @escaping @Sendable (String) async -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) async throws -> DaemonRun {
    let logger = Logger(label: "catalogd")
    let daemon = try await BlockingThread.run { try Daemon(configuration.daemon, after: recent, logger: logger) }
    var services: [any Service] = daemon.services
    var handler: any ReadingHandler = daemon
    if configuration.exitsAtEnd, let input = configuration.inputs.first(where: { $0.source == .standardInput }) {
      handler = EndOfInput(daemon: daemon, input: input.name, onEnd: onEnd)
    }
    let connections = DescriptorLimit.connections(configuration, limit: setup.descriptorLimit)
    services.append(
      Inputs(
        rack: rack, options: configuration.inputs, connections: connections.input, handler: handler, goesOn: goesOn))
    if var options = configuration.server {
      let address = options.address
      options.metrics = setup.registry.text
      options.maximumConnections = connections.server
      options.onListening = { place in
        let name = address.name(at: place)
        logger.notice("listening", metadata: ["address": "\(name)"])
        await onStarted("listening on \(name)")
      }
      services.append(try DaemonServer(daemon, options: options, logger: logger))
    } else {
      services.append(Announcement { await onStarted("running without HTTP") })
    }
    var group = ServiceGroupConfiguration(services: services, logger: Self.quiet(logger))
    group.maximumGracefulShutdownDuration = configuration.daemon.drainTimeout + margin
    return DaemonRun(configuration: configuration, daemon: daemon, group: ServiceGroup(configuration: group))
  }

  /// What the group itself says is for those who look for faults in it.
  private static func quiet(_ logger: Logger) -> Logger {
    var logger = logger
    if logger.logLevel > .debug { logger.logLevel = max(logger.logLevel, .error) }
    return logger
  }

  /// Runs until it is told to end, or something cannot go on.
  func run() async throws {
    try await group.run()
  }

  func end() async { await group.triggerGracefulShutdown() }
}

/// The inputs, as long as they read for this daemon.
private struct Inputs: Service {
  let rack: InputSupervisor
  let options: [InputOptions]
  let connections: Int
  let handler: any ReadingHandler
  let goesOn: @Sendable () -> Bool

  func run() async throws {
    try await rack.run(options, for: handler, maximumConnections: connections, goesOn: goesOn)
  }
}

/// Says once that everything before it has started.
private struct Announcement: Service {
  let body: @Sendable () async -> Void

  func run() async throws {
    await body()
    try await gracefulShutdown()
  }
}

extension DaemonServer.Address {
  /// As people write it, with the port that it got.
  func name(at place: String) -> String {
    switch self {
    case .host(let host, _): host.contains(":") ? "http://[\(host)]:\(place)" : "http://\(host):\(place)"
    case .socket(let path): "unix:\(path)"
    }
  }
}
