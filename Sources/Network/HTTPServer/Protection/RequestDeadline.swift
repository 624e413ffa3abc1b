import NIOCore
import NIOHTTP1

/// A channel handler that closes a connection whose request does not arrive completely in time, even if parts of it
/// keep arriving, and whether or not its body is being read.
///
/// The time starts at the end of the request's head, or of the previous response: the request is not read before that.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let timeout: TimeAmount
  private var closing: Scheduled<Void>?
  /// Whether the last request is still incomplete.
  private var isArriving = false
  /// The number of requests whose responses have not ended.
  private var unanswered = 0

  init(timeout: TimeAmount) { self.timeout = timeout }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      isArriving = true
      unanswered += 1
    case .body: break
    case .end:
      isArriving = false
      cancel()
    }
    context.fireChannelRead(data)
  }

  /// Most requests arrive in one piece and need no timer.
  func channelReadComplete(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelReadComplete()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      unanswered = max(0, unanswered - 1)
      begin(context)
    }
    context.write(data, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { cancel() }

  private func begin(_ context: ChannelHandlerContext) {
    guard isArriving, unanswered <= 1, closing == nil else { return }
    let channel = context.channel
    closing = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
  }

  private func cancel() {
    closing?.cancel()
    closing = nil
  }
}
