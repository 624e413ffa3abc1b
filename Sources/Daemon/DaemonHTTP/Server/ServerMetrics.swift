import CoreMetrics
import HTTPTypes
import NIOCore
import Synchronization

/// The metrics of a server, for swift-metrics.
///
/// | name | kind | meaning |
/// |---|---|---|
/// | `shelfmark_http_requests_total` | counter | answered requests, by `route`, `method` and `status` |
/// | `shelfmark_http_connections` | gauge | open connections |
///
/// A route is its path in the OpenAPI document, or `none`. Methods that no route has are counted as `other`.
final class ServerMetrics: Sendable {
  private struct Key: Hashable {
    let route: String
    let method: String
    let status: Int
  }

  /// The route label of requests for paths that do not exist.
  static let noRoute = "none"

  private let factory: any MetricsFactory
  private let counters = Mutex<[Key: Counter]>([:])
  private let connections: Gauge
  /// Guards only the count.
  private let connectionCount = Mutex(0)

  init(_ factory: any MetricsFactory) {
    self.factory = factory
    connections = Gauge(label: "shelfmark_http_connections", factory: factory)
    connections.record(0)
  }

  /// - Parameter method: The method; `nil` for a request that the parser does not understand.
  func count(_ method: HTTPRequest.Method?, route: String, status: HTTPResponse.Status) {
    let counted: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .options]
    let key = Key(
      route: route, method: method.flatMap { counted.contains($0) ? $0.rawValue : nil } ?? "other", status: status.code)
    let counter = counters.withLock { counters in
      if let counter = counters[key] { return counter }
      let dimensions = [("route", key.route), ("method", key.method), ("status", String(key.status))]
      let counter = Counter(label: "shelfmark_http_requests_total", dimensions: dimensions, factory: factory)
      counters[key] = counter
      return counter
    }
    counter.increment()
  }

  fileprivate func connectionsChanged(by number: Int) {
    connectionCount.withLock { count in
      count += number
      connections.record(count)
    }
  }

  /// A channel handler that counts its connection.
  final class ConnectionCounter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private let metrics: ServerMetrics

    init(_ metrics: ServerMetrics) { self.metrics = metrics }

    func handlerAdded(context: ChannelHandlerContext) { metrics.connectionsChanged(by: 1) }
    func handlerRemoved(context: ChannelHandlerContext) { metrics.connectionsChanged(by: -1) }
  }
}
