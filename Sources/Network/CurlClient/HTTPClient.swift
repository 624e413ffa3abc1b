import Dispatch
import Synchronization

/// An HTTP client: libcurl of the system, which is loaded when the first request begins.
///
/// Each request that is under way has a thread and connections of its own; the next one reuses them. An idle connection
/// is closed after a minute.
package final class HTTPClient: Sendable {
  private let pool: ConnectionPool

  /// - Parameter keepsConnections: Whether later requests may use the connections of earlier ones.
  package init(keepsConnections: Bool = true) { pool = ConnectionPool(keepsConnections: keepsConnections) }

  deinit { pool.close() }

  /// The version of libcurl and of the libraries that it uses, for example `libcurl/7.88.1 OpenSSL/3.0.19`.
  ///
  /// - Throws: `ClientError.noLibrary`.
  package static func version() throws(ClientError) -> String { try CurlTransfer.version() }

  /// Begins a request.
  ///
  /// - Throws: `ClientError.noLibrary`, also if libcurl is too old to sign a request; `ClientError.other` if there is
  ///   no memory.
  package func begin(_ request: ClientRequest) throws(ClientError) -> HTTPExchange {
    if request.signature != nil { try Self.checkSigning() }
    let exchange = HTTPExchange(request)
    try pool.connection().run(exchange) { [pool] connection in pool.keep(connection) }
    return exchange
  }

  private static func checkSigning() throws(ClientError) {
    let version = try version()
    if ClientSignature.isSupported(byVersion: version) { return }
    let own = version.split(separator: " ").first ?? "libcurl"
    throw .noLibrary(
      "the system's HTTP client library, \(own), is too old to sign requests to S3; install libcurl 7.88 or later")
  }

  /// Closes idle connections, and those under way once their requests end.
  package func shutdown() { pool.close() }
}

/// The idle connections of a client.
private final class ConnectionPool: Sendable {
  private let keepsConnections: Bool
  /// The connections without a request; `nil` after ``close()``.
  private let idle = Mutex<[RequestThread]?>([])

  init(keepsConnections: Bool) { self.keepsConnections = keepsConnections }

  /// A connection for the next request: the one that was used last, which the server is least likely to have closed.
  func connection() throws(ClientError) -> RequestThread {
    if let kept = idle.withLock({ $0?.popLast() }) { return kept }
    return try RequestThread(closesConnections: !keepsConnections)
  }

  func keep(_ connection: RequestThread) {
    guard keepsConnections else { return }
    idle.withLock { $0?.append(connection) }
    connection.expire { [weak self] connection in
      self?.idle.withLock { idle in
        guard let index = idle?.firstIndex(where: { $0 === connection }) else { return false }
        idle?.remove(at: index)
        return true
      } ?? true
    }
  }

  func close() { idle.withLock { $0 = nil } }
}

/// A thread for the requests of one libcurl handle, which come one after another.
final class RequestThread: Sendable {
  private static let idleTimeout: Duration = .seconds(60)

  private let queue = DispatchQueue(label: "shelfmark.http")
  private let transfer: CurlTransfer
  private let closesConnections: Bool
  /// Guards when the last request ended, and whether a check of it is scheduled.
  private let idle = Mutex<(since: ContinuousClock.Instant, isWatched: Bool)>((.now, false))

  init(closesConnections: Bool) throws(ClientError) {
    transfer = try CurlTransfer()
    self.closesConnections = closesConnections
  }

  /// Does a request.
  ///
  /// - Parameter whenFree: Called when the next request may be given.
  func run(_ exchange: HTTPExchange, whenFree: @escaping @Sendable (RequestThread) -> Void) {
    queue.async { [self] in
      exchange.perform(with: transfer, closesConnection: closesConnections) { whenFree(self) }
    }
  }

  /// Calls `drop` after a minute without a request. It removes the connection from those that can be used, or returns
  /// `false` if one is under way.
  func expire(_ drop: @escaping @Sendable (RequestThread) -> Bool) {
    let isWatched = idle.withLock { idle in
      defer { idle = (.now, true) }
      return idle.isWatched
    }
    if !isWatched { watch(after: Self.idleTimeout, drop) }
  }

  private func watch(after pause: Duration, _ drop: @escaping @Sendable (RequestThread) -> Bool) {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(pause / .milliseconds(1)))) { [weak self] in
      guard let self else { return }
      let rest = idle.withLock { $0.since } + Self.idleTimeout - .now
      if rest > .zero { return watch(after: rest, drop) }
      if !drop(self) { idle.withLock { $0.isWatched = false } }
    }
  }
}
