import DaemonConfiguration
import DaemonHTTP
import Logging
import ScanDaemon
import ScanInputs
import ServiceLifecycle

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
  ///   - onStarted: told what listens, once scans can come.
  ///   - onEnd: told when the standard input ends, if the daemon is to end then.
  static func open(
    _ configuration: DaemonConfiguration, _ setup: ProcessSetup, onStarted: @escaping @Sendable (String) async -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) async throws -> DaemonRun {
    let logger = Logger(label: "catalogd")
    let daemon = try await offPool { try Daemon(configuration.daemon, logger: logger) }
    var services: [any Service] = daemon.services
    for input in configuration.inputs {
      var handler: any ReadingHandler = daemon
      if configuration.exitsAtEnd, input.source == .standardInput { handler = EndOfInput(daemon: daemon, onEnd: onEnd) }
      services.append(ScanInput(input, handler: handler, logger: logger))
    }
    if var options = configuration.server {
      let address = options.address
      options.metrics = setup.registry.text
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
