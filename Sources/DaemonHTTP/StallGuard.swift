import NIOCore

/// Closes a connection whose peer takes nothing for some time although there is something to take.
final class StallGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any
  typealias InboundOut = Any

  private let timeout: TimeAmount
  private var closing: Scheduled<Void>?

  init(timeout: TimeAmount) { self.timeout = timeout }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    if !context.channel.isWritable {
      let channel = context.channel
      closing = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
  }
}
