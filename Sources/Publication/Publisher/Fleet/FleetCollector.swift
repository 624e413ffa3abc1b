package import Essentials
import HTTPServer
import HTTPTypes
import JSONFormat
package import Logging
import Platform
import ServiceLifecycle
import Synchronization

/// A server that receives the reports of devices: `POST /reports`, `GET /metrics` for Prometheus, `GET /healthz`.
///
/// A report is durable before it is answered with 2xx. One that is none is answered with 400 or 422, so that its sender
/// does not send it again.
package struct FleetCollector: Service {
  /// The address and the access control of a collector.
  package struct Options: Sendable {
    /// The name or numeric address to listen on; by default only this machine can connect.
    package var host = "127.0.0.1"
    /// The port; 0 selects a free one, which ``onListening`` reports.
    package var port = 0
    /// The value of the `Authorization` header that requests must have, if any.
    package var authorization: String?
    /// Called with the port once clients can connect.
    package var onListening: (@Sendable (_ port: Int) async -> Void)?

    package init() {}
  }

  /// Fewer than the files that a process may usually have open. Devices may share the address of a proxy, so the limit
  /// of one address is the same.
  private static let maximumConnections = 512
  /// How long a device should wait if its report cannot be kept now, in seconds.
  private static let pause = "60"

  private let store: FleetStore
  private let options: Options
  private let logger: Logger
  private let counters = Counters()
  private let reader = BlockingThread("reports")
  private let surveyor = BlockingThread("survey")
  private let now: @Sendable () -> Date

  /// Creates a collector, which listens once ``run()`` is called.
  package init(
    _ store: FleetStore, _ options: Options, logger: Logger, now: @escaping @Sendable () -> Date = Self.now
  ) {
    self.store = store
    self.options = options
    self.logger = logger
    self.now = now
  }

  /// The time, to the millisecond.
  package static func now() -> Date {
    Date(timeIntervalSince1970: (Date().timeIntervalSince1970 * 1000).rounded() / 1000)
  }

  /// What became of the reports since the start, and the last metrics.
  private final class Counters: Sendable {
    private let counts = Mutex((kept: 0, older: 0, refused: 0))

    func add(_ outcomes: [FleetStore.Outcome], refused: Int) {
      counts.withLock { counts in
        counts.kept += outcomes.count { $0 == .kept }
        counts.older += outcomes.count { $0 == .older }
        counts.refused += refused + outcomes.count { $0 == .noRoom }
      }
    }

    /// The share of the time that may be spent on metrics, however often somebody asks.
    private static let share = 20

    private struct Metrics {
      var text: [UInt8]
      var expires: ContinuousClock.Instant
    }

    private let last = Mutex<Metrics?>(nil)

    /// Returns the text that `body` makes of the counts, or the last one if that is still fresh. Called by one thread.
    func metrics(at now: ContinuousClock.Instant, _ body: ([(String, Int)]) throws -> [UInt8]) throws -> [UInt8] {
      if let last = last.withLock({ $0 }), now < last.expires { return last.text }
      let start = ContinuousClock.now
      let text = try body(
        counts.withLock { [("kept", $0.kept), ("older", $0.older), ("refused", $0.refused)] })
      let end = ContinuousClock.now
      last.withLock { $0 = Metrics(text: text, expires: end + (end - start) * (Self.share - 1)) }
      return text
    }
  }

  /// Serves until graceful shutdown, which lets responses in progress end, or cancellation, which does not.
  ///
  /// - Throws: ``FleetError/cannotListen(_:)``.
  package func run() async throws {
    var serverOptions = Server.Options(address: .host(options.host, port: options.port))
    serverOptions.serverName = "shelfmark"
    serverOptions.onListening = { [options] port in await options.onListening?(port ?? options.port) }
    var protection = Protection(
      ConnectionLimiter(
        ConnectionLimiter.Limits(maximum: Self.maximumConnections, perAddress: Self.maximumConnections)))
    protection.serverName = "collector"
    protection.maximumBodyByteCount = FleetReportBody.byteLimit
    serverOptions.protection = protection
    serverOptions.maximumConnections = Self.maximumConnections
    serverOptions.maximumSkippedByteCount = FleetReportBody.byteLimit
    let server = Server(serverOptions, logger: logger) { request, body, writer, _ in
      try await writer.send(respond(to: request, body))
    }
    do { try await server.run() } catch let error as ListenError {
      throw FleetError.cannotListen(
        "cannot listen on \(options.host), port \(options.port): \(error.reason); choose another port or address")
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

  // MARK: Answers

  func respond(to request: HTTPRequest, _ body: RequestBody) async throws -> Response {
    do {
      switch try route(request) {
      case .health: return Response(.object([("status", .text("ok"))]))
      case .metrics: return try await metrics(isHead: request.method == .head)
      case .reports: return try await collect(request, body)
      }
    } catch let error as CancellationError {
      throw error
    } catch RequestBodyError.interrupted {
      throw RequestBodyError.interrupted
    } catch RequestBodyError.tooLarge(let limit) {
      counters.add([], refused: 1)
      return Response(ErrorResponse.bodyTooLarge(limit: limit))
    } catch let error as ErrorResponse {
      if error.status != .serviceUnavailable { counters.add([], refused: 1) }
      logger.debug("refused", metadata: ["status": "\(error.status.code)", "reason": "\(error.message.prefix(300))"])
      return Response(error)
    } catch {
      logger.error("the reports cannot be used", metadata: ["reason": "\(error)"])
      // The reason may name files, which are nobody else's business.
      return Response(
        ErrorResponse(
          .serviceUnavailable, "notKept", "the collector cannot read or write its reports now; send this again later",
          headers: [.retryAfter: Self.pause]))
    }
  }

  private enum Route { case reports, metrics, health }

  private func route(_ request: HTTPRequest) throws(ErrorResponse) -> Route {
    let route: Route
    switch request.pathWithoutQuery {
    case "/reports", "/": route = .reports
    case "/metrics": route = .metrics
    case "/healthz": route = .health
    default: throw .notFound("there is only POST /reports, GET /metrics and GET /healthz here")
    }
    // A health check needs no credentials, and reveals nothing else.
    if case .health = route {} else { try checkAuthorization(request) }
    if case .reports = route {
      guard request.method == .post else { throw Self.notAllowed("POST") }
      // A page in a browser on this machine could report too.
      guard request.headerFields[.origin] == nil else {
        throw ErrorResponse(.forbidden, "foreignOrigin", "pages in browsers may not report")
      }
    } else if request.method != .get, request.method != .head {
      throw Self.notAllowed("GET, HEAD")
    }
    return route
  }

  private static func notAllowed(_ methods: String) -> ErrorResponse {
    ErrorResponse(
      .methodNotAllowed, "methodNotAllowed", "only \(methods) \(methods == "POST" ? "is" : "are") possible here",
      headers: [.allow: methods])
  }

  /// The comparison's time depends on the header's length, and not on how much of it is correct.
  private func checkAuthorization(_ request: HTTPRequest) throws(ErrorResponse) {
    guard let expected = options.authorization.map({ Array($0.utf8) }) else { return }
    let shown = Array((request.headerFields[.authorization] ?? "").utf8)
    var difference = shown.count ^ expected.count
    for (index, byte) in shown.enumerated() { difference |= Int(byte ^ expected[index % max(1, expected.count)]) }
    guard difference == 0, !expected.isEmpty else {
      throw ErrorResponse(
        .unauthorized, "unauthorized",
        "send the Authorization that the collector was started with: sync.reportsAuthorizationFile of catalogd",
        headers: [.wwwAuthenticate: "Bearer"])
    }
  }

  private func metrics(isHead: Bool) async throws -> Response {
    let (store, counters, time, now) = (store, counters, now(), ContinuousClock.now)
    let text = try await surveyor.run {
      try counters.metrics(at: now) { try FleetMetrics.text(store.snapshot(), now: time, counters: $0) }
    }
    var headers: HTTPFields = [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"]
    if isHead { headers[.contentLength] = String(text.count) }
    return Response(status: .ok, headers: headers, body: .bytes(isHead ? [] : text))
  }

  private func collect(_ request: HTTPRequest, _ body: RequestBody) async throws -> Response {
    let bytes = try await body.collect(upTo: FleetReportBody.byteLimit)
    let fields = request.headerFields
    let (encoding, type, time) = (fields[.contentEncoding], fields[.contentType], now())
    // One at a time, so that many large bodies do not need much memory at once.
    let parsed = try await reader.run {
      try FleetReportBody(bytes, encoding: encoding, type: type, received: time)
    }
    let reports = parsed.reports.compactMap { try? $0.get() }
    let outcomes = reports.isEmpty ? [] : try await store.add(reports)
    var next = outcomes.makeIterator()
    let results = parsed.reports.map { result in result.map { _ in next.next() ?? .noRoom } }
    counters.add(outcomes, refused: results.count { $0.isRefused })
    return response(results, isBatch: parsed.isBatch)
  }

  private static let noRoom = FleetReportRefusal(
    status: 503, message: "the collector has as many devices as it takes (--max-devices); this one is not among them")

  private func response(
    _ results: [Result<FleetStore.Outcome, FleetReportRefusal>], isBatch: Bool
  ) -> Response {
    var failed: [(index: Int, refusal: FleetReportRefusal)] = []
    var (kept, older) = (0, 0)
    for (index, result) in results.enumerated() {
      switch result {
      case .success(.kept): kept += 1
      case .success(.older): older += 1
      case .success(.noRoom): failed.append((index, Self.noRoom))
      case .failure(let refusal): failed.append((index, refusal))
      }
    }
    if let first = failed.first {
      logger.debug(
        "reports are not kept",
        metadata: ["count": "\(failed.count)", "reason": "\(first.refusal.message.prefix(300))"])
    }
    // A batch of which something was kept is answered with what was not.
    if let first = failed.first, !isBatch || failed.count == results.count {
      let (status, message) = (first.refusal.status, first.refusal.message)
      if status == 503 {
        return Response(ErrorResponse(.serviceUnavailable, "full", message, headers: [.retryAfter: "3600"]))
      }
      return Response(ErrorResponse(status == 400 ? .badRequest : .unprocessableContent, "noReport", message))
    }
    var fields: [(String, JSONText)] = [("kept", .int(kept)), ("older", .int(older))]
    if isBatch {
      let list = failed.map { index, refusal in
        JSONText.object([
          ("index", .int(index)), ("status", .int(refusal.status)), ("message", .text(refusal.message)),
        ])
      }
      fields.append(("failed", .array(list)))
    }
    return Response(.object(fields))
  }
}

extension Result {
  fileprivate var isRefused: Bool { if case .failure = self { true } else { false } }
}
