import Catalog
import JSONFormat
import NIOPosix
import ScanDaemon

/// What a daemon answers over HTTP, without a word of HTTP's own: each route is a function from a call to an answer.
struct DaemonAPI: Sendable {
  let daemon: Daemon
  let metrics: (@Sendable () -> [UInt8])?
  /// `GET /openapi.json`.
  let document: [UInt8]

  /// - Parameter gate: who gets in, which the document says.
  init(daemon: Daemon, metrics: (@Sendable () -> [UInt8])?, gate: Gate) {
    self.daemon = daemon
    self.metrics = metrics
    document = OpenAPIDocument.bytes(OpenAPIDocument.Security(gate))
  }

  /// The most codes of one request.
  static let codeCountLimit = 1000
  /// The most bytes of a code, as inputs take them.
  static let codeByteLimit = 4096
  /// The most bytes of a list of things that may be large; it is cut behind the thing that reaches it.
  static let listByteLimit = 8 << 20

  var routes: [Route] { stateRoutes + scanRoutes + catalogueRoutes + queueRoutes + sessionRoutes }

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
