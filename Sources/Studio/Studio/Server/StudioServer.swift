import HTTPServer
import HTTPSupport
package import Logging
import ServiceLifecycle

/// A studio on an address of this machine, for a program that does nothing else.
package struct StudioServer: Sendable {
  private let stores: StudioStores
  private let port: Int
  private let names: HostNames
  private let logger: Logger
  private let onListening: @Sendable (_ url: String) -> Void

  /// - Parameters:
  ///   - stores: Where the stores are.
  ///   - port: The port of 127.0.0.1; 0 selects a free one.
  ///   - names: The names that it answers to besides those of this machine; see ``isHostName(_:)``.
  ///   - logger: The logger of the server's events.
  ///   - onListening: Called with the address of the first page, which contains the token, once browsers can connect.
  package init(
    _ stores: StudioStores, port: Int, names: [String] = [], logger: Logger,
    onListening: @escaping @Sendable (_ url: String) -> Void
  ) {
    precondition((0...65_535).contains(port), "port: 0 to 65535")
    self.stores = stores
    self.port = port
    self.names = HostNames(Set(names.compactMap(HostNames.normalized)))
    self.logger = logger
    self.onListening = onListening
  }

  /// Whether a text is the name of a host as browsers send it, without a scheme and a port.
  package static func isHostName(_ text: String) -> Bool { HostNames.normalized(text) != nil }

  /// A token of 32 characters, from 24 bytes of the system's random number generator.
  package static func makeToken() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var generator = SystemRandomNumberGenerator()
    return String(decoding: (0..<32).map { _ in alphabet[Int(generator.next() & 63)] }, as: UTF8.self)
  }

  /// Serves until SIGINT or SIGTERM.
  ///
  /// - Throws: ``StudioServerError`` if the port cannot be used.
  package func runUntilSignal() async throws {
    let token = Self.makeToken()
    let studio = Studio(stores, access: StudioAccess(token: BearerToken(token), names: names))
    let responder = studio.responder()
    var options = Server.Options(address: .host("127.0.0.1", port: port))
    options.serverName = "shelfmark"
    var protection = Protection(ConnectionLimiter(ConnectionLimiter.Limits(maximum: 256, perAddress: nil)))
    protection.serverName = "studio"
    options.protection = protection
    options.onListening = { [port, onListening] bound in
      onListening("http://127.0.0.1:\(bound ?? port)/studio/#t=\(token)")
    }
    let server = Server(options, logger: logger) { request, body, writer, _ in
      try await writer.send(responder.respond(to: request, body))
    }
    // The group's own events are logged only if something is wrong.
    var groupLogger = logger
    groupLogger.logLevel = max(logger.logLevel, .warning)
    var configuration = ServiceGroupConfiguration(
      services: [.init(service: server)], gracefulShutdownSignals: [.sigint, .sigterm],
      logger: groupLogger)
    configuration.maximumGracefulShutdownDuration = .seconds(2)
    do { try await ServiceGroup(configuration: configuration).run() } catch let error as ListenError {
      throw StudioServerError.cannotListen(port: port, reason: error.reason)
    }
  }
}

/// Why a studio cannot be served.
package enum StudioServerError: Error, CustomStringConvertible {
  /// The port cannot be used.
  case cannotListen(port: Int, reason: String)

  package var description: String {
    switch self {
    case .cannotListen(let port, let reason):
      "cannot listen on 127.0.0.1:\(port): \(reason); --port 0 takes a free port"
    }
  }
}
