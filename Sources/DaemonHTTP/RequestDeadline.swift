import NIOCore
import NIOHTTP1

/// Closes a connection whose request does not arrive whole in time, however much of it comes meanwhile, and whether somebody
/// reads its body or not.
///
/// The time of a request begins with the end of its head, or of the answer before it: until then nobody reads it.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let timeout: TimeAmount
  private var closing: Scheduled<Void>?
  /// Whether the last request that began has not arrived whole.
  private var isArriving = false
  /// Requests whose answers have not ended.
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

  /// Most requests come in one piece: these cost no timer.
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
