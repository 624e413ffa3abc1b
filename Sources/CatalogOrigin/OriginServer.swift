import CatalogRows
import CatalogWire
import Foundation
import HTTPTypes
import Hummingbird
import JSONFormat
package import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

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
    let responder = CallbackResponder<BasicRequestContext> { [store, options, logger] request, _ in
      Self.respond(to: request, store: store, token: options.token, logger: logger)
    }
    // Distinguishes a failed start from a later error.
    let isListening = Atomic(false)
    // Hummingbird's own start and stop events are logged only if something is wrong.
    var frameworkLogger = logger
    frameworkLogger.logLevel = max(logger.logLevel, .warning)
    let application = Application(
      responder: responder,
      server: .http1(configuration: .init(idleTimeout: .seconds(60))),
      configuration: .init(
        address: .hostname(options.host, port: options.port), serverName: "shelfmark"),
      services: [Watcher(store: store, options: options)],
      onServerRunning: { [options, logger] channel in
        isListening.store(true, ordering: .releasing)
        let port = channel.localAddress?.port ?? options.port
        logger.info("listening", metadata: ["host": "\(options.host)", "port": "\(port)"])
        await options.onListening?(port)
      },
      logger: frameworkLogger
    )
    do {
      try await application.run()
    } catch let error where !isListening.load(ordering: .acquiring) && !(error is CancellationError) {
      throw OriginError.cannotListen(host: options.host, port: options.port, reason: Self.reason(error))
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    // The text of a system call's error number is a C string that is copied at once.
    case let error as IOError: unsafe String(cString: strerror(error.errnoCode))
    case is SocketAddressError: "this is no address of this machine"
    default: "\(error)"
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
    to request: Request, store: OriginStore, token: String?, logger: Logger
  ) -> Response {
    let isHead = request.method == .head
    let asked = OriginRequest(
      method: request.method.rawValue, path: request.uri.path, query: request.uri.query,
      authorization: request.headers[.authorization], token: token)
    switch asked {
    case .health:
      return response(status: .ok, code: 1000, message: "ok", isHead: isHead)
    case .refused(let status, let message):
      logger.debug(
        "request refused", metadata: ["path": "\(request.uri.path)", "status": "\(status)"])
      return response(status: .init(code: status), code: status, message: message, isHead: isHead)
    case .catalogue(let cursor):
      let answer = store.answer(cursor: cursor)
      logger.debug(
        "catalogue asked for",
        metadata: ["cursor": "\(cursor)", "full": "\(answer.isFull)", "places": "\(answer.placeCount)"])
      return isHead ? head(of: answer) : response(answer)
    }
  }

  private static func headers() -> HTTPFields {
    [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
  }

  private static func response(
    status: HTTPResponse.Status, code: Int, message: String, isHead: Bool
  ) -> Response {
    var json = Array(#"{"message":"#.utf8)
    JSONWriter.append(text: message, to: &json)
    json += #","code":\#(code),"data":null}"#.utf8
    var headers = headers()
    if status == .methodNotAllowed { headers[.allow] = "GET, HEAD" }
    if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
    headers[.contentLength] = String(json.count)
    return Response(
      status: status, headers: headers, body: isHead ? .init() : .init(byteBuffer: .init(bytes: json)))
  }

  /// An answer with at most this number of products is encoded at once and sent with its length, which avoids chunks
  /// for typical increments.
  private static let smallPlaceCount = 256

  private static func response(_ answer: OriginAnswer) -> Response {
    if answer.placeCount <= smallPlaceCount {
      var encoding = AnswerEncoding(answer)
      var body = ByteBuffer()
      while let bytes = encoding.next() { body.writeBytes(bytes) }
      return Response(status: .ok, headers: headers(), body: .init(byteBuffer: body))
    }
    return Response(
      status: .ok, headers: headers(),
      body: .init { writer in
        var encoding = AnswerEncoding(answer)
        while let bytes = encoding.next() { try await writer.write(.init(bytes: bytes)) }
        try await writer.finish(nil)
      })
  }

  /// The head of the response to `GET`, with its length, for which the body must be encoded.
  private static func head(of answer: OriginAnswer) -> Response {
    var encoding = AnswerEncoding(answer)
    var byteCount = 0
    while let bytes = encoding.next() { byteCount += bytes.count }
    var headers = headers()
    headers[.contentLength] = String(byteCount)
    return Response(status: .ok, headers: headers)
  }
}
