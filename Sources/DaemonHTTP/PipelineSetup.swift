import NIOCore
import NIOHTTP1

/// Adds the handlers that work with bytes and with the parser's words to the pipeline of a new connection, and removes itself.
///
/// Hummingbird adds handlers after its own codec only.
final class PipelineSetup: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  /// What is the same for all connections of a server.
  struct Options: Sendable {
    let limiter: ConnectionLimiter
    /// Of the head of a request.
    let headTimeout: TimeAmount
    /// Of the rest of it.
    let bodyTimeout: TimeAmount
    /// The most bytes of a body that a route takes.
    let maximumBodyByteCount: Int
    let date: HTTPDate
    let metrics: ServerMetrics
  }

  private let options: Options

  init(_ options: Options) { self.options = options }

  func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    // Peers of a Unix domain socket are all the same user, and not told apart.
    let caller = context.channel.remoteAddress?.ipAddress == nil ? nil : RequestHandler.caller(context.channel)
    let requestGuard = RequestGuard(
      limiter: options.limiter, caller: caller, headTimeout: options.headTimeout,
      maximumBodyByteCount: max(options.maximumBodyByteCount, RequestHandler.skipByteLimit), date: options.date,
      metrics: options.metrics)
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
