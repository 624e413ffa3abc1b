import CatalogRows
import HTTPServer
import HTTPSupport
import HTTPTypes
import JSONFormat
package import Logging
import ServiceLifecycle

/// An HTTP server for an origin: `GET /?updateTime=…` gives the protocol's answer, and `GET /healthz` is a health
/// check. All other requests are refused with an envelope whose `code` is the HTTP status.
///
/// An answer is encoded as the client reads it, from a snapshot of the catalogue that reloads do not change. Memory per
/// request: the encoder's buffers, and the parts of an old snapshot that a reload has replaced in the meantime.
package struct OriginServer: Service {
  /// The address and the access control of a server, and how it watches its files.
  package struct Options: Sendable {
    /// The name or numeric address to listen on; by default only this machine can connect.
    package var host = "127.0.0.1"
    /// The port; 0 selects a free one, which ``onListening`` reports.
    package var port = 8080
    /// The bearer token that clients must send, if any.
    package var token: String?
    /// The interval at which the files are checked. A change is served after one to two intervals.
    package var watchInterval: Duration = .seconds(1)
    /// The sleep function of the file watcher.
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Called with the port once clients can connect.
    package var onListening: (@Sendable (_ port: Int) async -> Void)?

    /// Creates options for port 8080 of this machine, without a token.
    package init() {}
  }

  /// Fewer than the files that a process may usually have open. Clients may share the address of a proxy, so the limit of
  /// one address is the same.
  private static let maximumConnections = 512

  private let store: OriginStore
  private let options: Options
  private let logger: Logger

  /// Creates a server, which listens once ``run()`` is called.
  ///
  /// - Parameters:
  ///   - store: The catalogue to serve.
  ///   - options: The address, the access control and the interval at which files are checked. The port is 0 to 65,535.
  ///   - logger: The logger of the server's events.
  package init(store: OriginStore, options: Options = Options(), logger: Logger) {
    precondition((0...65_535).contains(options.port), "port: 0 to 65535")
    self.store = store
    self.options = options
    self.logger = logger
  }

  /// Serves and watches the files until graceful shutdown, which lets responses in progress end, or cancellation, which
  /// does not.
  ///
  /// - Throws: ``OriginError/cannotListen(host:port:reason:)``.
  package func run() async throws {
    var serverOptions = Server.Options(address: .host(options.host, port: options.port))
    serverOptions.serverName = "shelfmark"
    serverOptions.onListening = { [options, logger] port in
      let port = port ?? options.port
      logger.info("listening", metadata: ["host": "\(options.host)", "port": "\(port)"])
      await options.onListening?(port)
    }
    var protection = Protection(
      ConnectionLimiter(
        ConnectionLimiter.Limits(maximum: Self.maximumConnections, perAddress: Self.maximumConnections)))
    protection.serverName = "origin"
    serverOptions.protection = protection
    serverOptions.maximumConnections = Self.maximumConnections
    let rules = AccessRules(
      AccessRules.Words(server: "origin", tokenSource: "the token that 'serve' was started with"),
      token: options.token.map { BearerToken(secret: $0) })
    let server = Server(serverOptions, logger: logger) { [store, logger] request, _, writer, _ in
      try await writer.send(Self.respond(to: request, store: store, rules, logger: logger))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await Watcher(store: store, options: options).run() }
      defer { group.cancelAll() }
      do { try await server.run() } catch let error as ListenError {
        throw OriginError.cannotListen(host: options.host, port: options.port, reason: error.reason)
      }
    }
  }

  /// ``run()`` for a program that does nothing else: serves until SIGINT or SIGTERM; after that, responses in progress
  /// have ten seconds to end.
  package func runUntilSignal() async throws {
    var frameworkLogger = logger
    frameworkLogger.logLevel = max(logger.logLevel, .warning)
    var configuration = ServiceGroupConfiguration(
      services: [.init(service: self)], gracefulShutdownSignals: [.sigint, .sigterm], logger: frameworkLogger)
    configuration.maximumGracefulShutdownDuration = .seconds(10)
    try await ServiceGroup(configuration: configuration).run()
  }

  /// A service that checks the files until the server shuts down.
  private struct Watcher: Service {
    let store: OriginStore
    let options: Options

    func run() async throws {
      do {
        try await cancelWhenGracefulShutdown {
          try await store.watch(every: options.watchInterval, sleep: options.sleep)
        }
      } catch is CancellationError {}
    }
  }

  // MARK: Answers

  private static func respond(
    to request: HTTPRequest, store: OriginStore, _ rules: AccessRules, logger: Logger
  ) -> Response {
    switch OriginRequest(request, rules) {
    case .health: return response(status: .ok, code: 1000, message: "ok")
    case .refused(let error):
      logger.debug(
        "request refused", metadata: ["path": "\(request.pathWithoutQuery)", "status": "\(error.status.code)"])
      return response(error)
    case .catalogue(let cursor):
      do {
        let answer = try store.answer(cursor: cursor)
        logger.debug(
          "catalogue requested",
          metadata: ["cursor": "\(cursor)", "full": "\(answer.isFull)", "places": "\(answer.productPlaceCount)"])
        return try request.method == .head ? head(of: answer) : response(answer)
      } catch {
        logger.error("the catalogue cannot be read", metadata: ["reason": "\(error)"])
        return response(ErrorResponse(.internalServerError, "internal", "the catalogue cannot be read"))
      }
    }
  }

  private static func headers() -> HTTPFields {
    [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
  }

  /// The envelope of a refusal, whose `code` is the HTTP status.
  private static func response(_ error: ErrorResponse) -> Response {
    var response = response(status: error.status, code: error.status.code, message: error.message)
    for field in error.headers { response.headers.append(field) }
    return response
  }

  private static func response(status: HTTPResponse.Status, code: Int, message: String) -> Response {
    let envelope = JSONText.object([("message", .text(message)), ("code", .int(code)), ("data", .null)])
    return Response(status: status, headers: headers(), body: .bytes(envelope.bytes))
  }

  /// An answer with at most this number of rows is encoded at once and sent with its length, which avoids chunks
  /// for typical increments.
  private static let smallPlaceCount = 512

  private static func response(_ answer: OriginAnswer) throws -> Response {
    if answer.productPlaceCount + answer.relationPlaceCount <= smallPlaceCount {
      var encoding = AnswerEncoding(answer)
      var body: [UInt8] = []
      while let bytes = try encoding.next() { body += bytes }
      return Response(status: .ok, headers: headers(), body: .bytes(body))
    }
    return Response(
      status: .ok, headers: headers(),
      body: .stream { writer in
        var encoding = AnswerEncoding(answer)
        while let bytes = try encoding.next() { try await writer.write(bytes) }
      })
  }

  /// The head of the response to `GET`, with its length, for which the body must be encoded.
  private static func head(of answer: OriginAnswer) throws -> Response {
    var encoding = AnswerEncoding(answer)
    var byteCount = 0
    while let bytes = try encoding.next() { byteCount += bytes.count }
    var headers = headers()
    headers[.contentLength] = String(byteCount)
    return Response(status: .ok, headers: headers)
  }
}
