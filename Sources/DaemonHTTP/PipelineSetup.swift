import NIOCore
import NIOHTTP1

/// A channel handler that adds the handlers for bytes and for parsed messages to the pipeline of a new connection, and
/// then removes itself.
///
/// Hummingbird adds handlers only after its own codec.
final class PipelineSetup: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  /// Values that all connections of a server share.
  struct Options: Sendable {
    let limiter: ConnectionLimiter
    /// The timeout for the head of a request.
    let headTimeout: TimeAmount
    /// The timeout for the rest of a request.
    let bodyTimeout: TimeAmount
    /// The maximum size in bytes of a body that a route accepts.
    let maximumBodyByteCount: Int
    let date: HTTPDate
    let metrics: ServerMetrics
  }

  private let options: Options

  init(_ options: Options) { self.options = options }

  func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    // All peers of a Unix domain socket are the same user, and are not distinguished.
    let caller = context.channel.remoteAddress?.ipAddress == nil ? nil : RequestHandler.caller(context.channel)
    let requestGuard = RequestGuard(
      limiter: options.limiter, caller: caller, headTimeout: options.headTimeout,
      maximumBodyByteCount: options.maximumBodyByteCount, date: options.date, metrics: options.metrics)
    do {
      let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandlers(
        [AnswerFraming(), requestGuard, RequestDeadline(timeout: options.bodyTimeout)], position: .after(parser))
      try pipeline.addHandler(HeadWatch(requestGuard), position: .first)
    } catch {
      preconditionFailure("a pipeline without a parser serves no HTTP/1: \(error)")
    }
    pipeline.removeHandler(context: context, promise: nil)
  }
}
