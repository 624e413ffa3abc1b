import DaemonHTTP
import Logging
import Platform
import ScanDaemon
import ScanInputs
import ServiceLifecycle

/// One run of the daemon with one configuration; its stores are open.
struct DaemonRun: Sendable {
  let configuration: DaemonConfiguration
  let daemon: Daemon
  let group: ServiceGroup

  /// The time, in addition to that for its uploads, that a daemon may take to shut down.
  static let margin: Duration = .seconds(5)

  /// Opens the stores.
  ///
  /// - Parameters:
  ///   - inputs: The inputs, which outlive a run.
  ///   - recent: The recent scans of the previous run.
  ///   - continues: Returns whether another run will follow this one.
  ///   - onStarted: Called with the listening address once scans can arrive.
  ///   - onEnd: Called when standard input ends, if the daemon should exit then.
  ///   - onUnanswered: Called with the reason why an answer to standard input was not written, in the same case.
  static func open(
    _ configuration: DaemonConfiguration, _ setup: ProcessSetup, _ inputs: InputSupervisor, after recent: RecentScans,
    continues: @escaping @Sendable () -> Bool, onStarted: @escaping @Sendable (String) async -> Void,
    onEnd: @escaping @Sendable () -> Void, onUnanswered: @escaping @Sendable (String) -> Void
  ) async throws -> DaemonRun {
    let logger = Logger(label: "catalogd")
    var options = configuration.daemon
    (options.maximumUploadWorkers, options.maximumOpenDocuments) = DescriptorLimit.users(
      configuration, limit: setup.descriptorLimit)
    let daemon = try await BlockingThread.run { [options] in try Daemon(options, after: recent, logger: logger) }
    var services: [any Service] = daemon.services
    var handler: any ReadingHandler = daemon
    if configuration.exitsAtEnd, let input = configuration.inputs.first(where: { $0.source == .standardInput }) {
      handler = EndOfInput(daemon: daemon, input: input.name, onEnd: onEnd, onUnanswered: onUnanswered)
    }
    let connections = DescriptorLimit.connections(configuration, limit: setup.descriptorLimit)
    services.append(
      Inputs(
        inputs: inputs, options: configuration.inputs, connections: connections.input, handler: handler,
        continues: continues))
    if var options = configuration.server {
      let address = options.address
      let hasStudio = if case .host = address { options.hasStudio } else { false }
      options.metrics = setup.registry.text
      options.maximumConnections = connections.server
      options.onListening = { place in
        let name = address.name(at: place)
        var metadata: Logger.Metadata = ["address": "\(name)"]
        if hasStudio { metadata["studio"] = "\(name)/studio/" }
        logger.notice("listening", metadata: metadata)
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

  /// A logger for the service group's own messages, which are needed only for debugging.
  private static func quiet(_ logger: Logger) -> Logger {
    var logger = logger
    if logger.logLevel > .debug { logger.logLevel = max(logger.logLevel, .error) }
    return logger
  }

  /// Runs until shutdown, or until a service fails.
  func run() async throws {
    try await group.run()
  }

  func end() async { await group.triggerGracefulShutdown() }
}

/// A service that connects the inputs to this daemon while it runs.
private struct Inputs: Service {
  let inputs: InputSupervisor
  let options: [InputOptions]
  let connections: Int
  let handler: any ReadingHandler
  let continues: @Sendable () -> Bool

  func run() async throws {
    try await inputs.run(options, for: handler, maximumConnections: connections, continues: continues)
  }
}

/// A service that reports once that all services before it have started.
private struct Announcement: Service {
  let body: @Sendable () async -> Void

  func run() async throws {
    await body()
    try await gracefulShutdown()
  }
}

extension DaemonServer.Address {
  /// The address as people write it, with its actual port.
  func name(at place: String) -> String {
    switch self {
    case .host(let host, _): host.contains(":") ? "http://[\(host)]:\(place)" : "http://\(host):\(place)"
    case .socket(let path): "unix:\(path)"
    }
  }
}
