import HTTPServer
import Catalog
import JSONFormat
import NIOPosix
import ScanDaemon

/// The daemon's HTTP API, independent of HTTP itself: each route is a function from a call to an answer.
struct DaemonAPI: Sendable {
  let daemon: Daemon
  let metrics: (@Sendable () -> [UInt8])?
  /// The response to `GET /openapi.json`.
  let document: [UInt8]

  /// - Parameter accessControl: The access control that the document describes.
  init(daemon: Daemon, metrics: (@Sendable () -> [UInt8])?, accessControl: AccessControl) {
    self.daemon = daemon
    self.metrics = metrics
    document = OpenAPIDocument.bytes(OpenAPIDocument.Security(accessControl))
  }

  /// The maximum number of codes in one request.
  static let codeCountLimit = 1000
  /// The maximum length of a code in bytes, the same as for inputs.
  static let codeByteLimit = 4096
  /// The maximum size in bytes of a list of large items; the list ends with the item that reaches it.
  static let listByteLimit = 8 << 20

  var routes: [Route] { stateRoutes + scanRoutes + catalogueRoutes + searchRoutes + queueRoutes + sessionRoutes }

  /// Runs a function that reads many pages, or blocks, on NIO's thread pool.
  func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(body)
  }

  /// A list as JSON, truncated if it has more than ``listByteLimit`` bytes.
  ///
  /// - Parameters:
  ///   - name: The name of the member that contains the list; a second member, `truncated`, is whether the list is
  ///     truncated.
  ///   - each: Passes the list's values to its argument until that returns `false`.
  static func list(_ name: String, _ each: ((JSONText) throws -> Bool) throws -> Void) rethrows -> Response {
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
    return Response(json: bytes)
  }
}
