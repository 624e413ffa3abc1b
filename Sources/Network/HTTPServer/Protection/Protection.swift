package import HTTPTypes
import NIOCore
import NIOHTTP1

/// What protects a server from clients that are slow, too many, or send what is no request.
///
/// Requests that never reach the handler are answered with an ``ErrorResponse``; see ``RequestGuard``.
package struct Protection: Sendable {
  /// What the server is called in messages: `daemon`.
  package var serverName = "server"
  /// The limit of connections, in total and per address.
  package var limiter: ConnectionLimiter
  /// What a client is told to do, in addition to waiting, if there are too many connections: `, or raise the limit`.
  package var advice = ""
  /// The paths that are answered even if there are too many connections.
  package var healthPaths: Set<Substring> = ["/healthz"]
  /// The timeout for the request line and the fields of a request. It starts at the first byte, and on a new connection
  /// when it is opened.
  package var headTimeout: Duration = .seconds(10)
  /// The timeout for the rest of a request, and for a peer that reads almost nothing.
  package var bodyTimeout: Duration = .seconds(60)
  /// The maximum size in bytes of a body that the handler accepts.
  package var maximumBodyByteCount = 1 << 20
  /// Called for each request that is answered without the handler. The method is `nil` if the parser does not understand
  /// it.
  package var onRefusal: @Sendable (_ method: HTTPRequest.Method?, _ status: HTTPResponse.Status) -> Void = { _, _ in }

  /// The limits of a request's head.
  static let headLimits: Server.HeadLimits = {
    var limits = Server.HeadLimits()
    limits.fieldByteCount = 16 << 10
    limits.byteCount = 32 << 10
    limits.fieldCount = 100
    return limits
  }()

  /// Creates the protection of a server with this limit of connections.
  package init(_ limiter: ConnectionLimiter) { self.limiter = limiter }

  /// Adds the channel handlers to a new connection, on its event loop: for bytes, in front of the parser, and for parsed
  /// messages.
  func add(to channel: any Channel, date: HTTPDate, skipLimit: Int) throws {
    // All peers of a Unix domain socket are the same user, and are not distinguished.
    let caller = channel.remoteAddress?.ipAddress == nil ? nil : Caller.name(channel)
    let requestGuard = RequestGuard(self, caller: caller, date: date, skipLimit: skipLimit)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HeadWatch(requestGuard), position: .first)
    let timeout = TimeAmount(bodyTimeout)
    try pipeline.addHandlers([requestGuard, RequestDeadline(timeout: timeout), StallGuard(timeout: timeout)])
  }
}
