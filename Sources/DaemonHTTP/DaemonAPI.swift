import Catalog
import Hummingbird
import JSONFormat
import NIOPosix
import ScanDaemon

/// The routes of a daemon, as `openapi.json` describes them: each is a function from a request to an answer.
struct DaemonAPI: Sendable {
  let daemon: Daemon
  let metrics: (@Sendable () -> [UInt8])?
  let events: EventStreams
  let gate: Gate
  /// The most bytes of a request's body.
  let maximumBodyByteCount: Int
  /// The answer of `GET /openapi.json`.
  let document: [UInt8]

  /// - Parameter gate: The gate of the server; the document says where it asks for a token.
  init(
    daemon: Daemon, metrics: (@Sendable () -> [UInt8])?, events: EventStreams, gate: Gate, maximumBodyByteCount: Int
  ) {
    self.daemon = daemon
    self.metrics = metrics
    self.events = events
    self.gate = gate
    self.maximumBodyByteCount = maximumBodyByteCount
    document = OpenAPIDocument.bytes(OpenAPIDocument.Security(gate))
  }

  /// The most codes of one request.
  static let codeCountLimit = 1000
  /// The most bytes of a code, as inputs take them.
  static let codeByteLimit = 4096
  /// The most bytes of a list of things that may be large; it is cut behind the thing that reaches it.
  static let listByteLimit = 8 << 20

  /// The responder of a server: all routes, each after the middleware.
  func responder(metrics: ServerMetrics) -> NormalizingResponder {
    let plain = Router(context: DaemonContext.self)
    addRoutes(to: plain)
    let router = Router(context: DaemonContext.self, options: .autoGenerateHeadEndpoints)
    router.addMiddleware {
      MetricsMiddleware(metrics: metrics)
      CrossOriginMiddleware(crossOrigin: gate.crossOrigin)
      RefusalMiddleware(problems: daemon.problems)
      TargetMiddleware(gate: gate, routes: plain.routes)
    }
    addRoutes(to: router)
    return NormalizingResponder(router: router.buildResponder())
  }

  /// Adds all routes, in a group for each kind of caller.
  func addRoutes(to router: Router<DaemonContext>) {
    func group(_ access: Gate.Access) -> RouterGroup<DaemonContext> {
      router.group().add(middleware: GateMiddleware(gate: gate, access: access))
    }
    let callers = group(.caller)
    // The hot path first: the router compares a segment with those of the routes in their order.
    addScanRoutes(to: callers)
    addHealthRoutes(to: group(.anybody))
    addMetricsRoute(to: group(.machine))
    addStateRoutes(to: callers)
    addCatalogueRoutes(to: callers)
    addQueueRoutes(to: callers)
    addSessionRoutes(to: callers)
  }

  /// For routes that take a body.
  var requiredBody: BodyMiddleware { BodyMiddleware(maximumByteCount: maximumBodyByteCount, isRequired: true) }
  var optionalBody: BodyMiddleware { BodyMiddleware(maximumByteCount: maximumBodyByteCount, isRequired: false) }

  /// Runs what reads much, or blocks, on a thread of its own.
  func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(body)
  }

  /// A list as JSON, cut where it has more than ``listByteLimit`` bytes.
  ///
  /// - Parameters:
  ///   - name: of the member that holds the list; the other, `truncated`, says whether the list is cut.
  ///   - each: gives the list's values to its argument until that returns false.
  static func list(_ name: String, _ each: ((JSONText) throws -> Bool) throws -> Void) rethrows -> Answer {
    var bytes = Array("{\"\(name)\":[".utf8)
    var isCut = false
    var isFirst = true
    try each { value in
      if bytes.count > listByteLimit {
        isCut = true
        return false
      }
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      value.append(to: &bytes)
      return true
    }
    bytes += "],\"truncated\":\(isCut)}".utf8
    return Answer(json: bytes)
  }
}
