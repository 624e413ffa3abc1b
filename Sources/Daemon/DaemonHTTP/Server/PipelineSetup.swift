import HTTPServer
import NIOCore
import NIOHTTP1

/// The channel handlers of the daemon's connections, in addition to those of the server: for bytes, in front of the
/// parser, and for parsed messages.
struct PipelineSetup: Sendable {
  let limiter: ConnectionLimiter
  /// The timeout for the head of a request.
  let headTimeout: TimeAmount
  /// The timeout for the rest of a request, and for a peer that reads almost nothing.
  let bodyTimeout: TimeAmount
  /// The maximum size in bytes of a body that a route accepts.
  let maximumBodyByteCount: Int
  let date: HTTPDate
  let metrics: ServerMetrics

  /// Adds the handlers to a new connection, on its event loop.
  func add(to channel: any Channel) throws {
    // All peers of a Unix domain socket are the same user, and are not distinguished.
    let caller = channel.remoteAddress?.ipAddress == nil ? nil : RequestHandler.caller(channel)
    let requestGuard = RequestGuard(
      limiter: limiter, caller: caller, headTimeout: headTimeout, maximumBodyByteCount: maximumBodyByteCount,
      date: date,
      metrics: metrics)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HeadWatch(requestGuard), position: .first)
    try pipeline.addHandlers([
      requestGuard, RequestDeadline(timeout: bodyTimeout), StallGuard(timeout: bodyTimeout),
      ServerMetrics.ConnectionCounter(metrics),
    ])
  }
}
