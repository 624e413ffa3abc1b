import NIOCore

/// Closes a connection whose peer takes next to nothing for some time although there is something to take.
///
/// It looks at what waits to be written each time that is over. One that takes a little of a large answer goes on; one that takes
/// a byte now and then does not keep the answer in memory for ever.
final class StallGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any
  typealias InboundOut = Any

  /// What a peer takes at least in each time: a kilobyte a second with the usual one.
  static let leastByteCount = 64 << 10

  private let timeout: TimeAmount
  private var closing: Scheduled<Void>?

  init(timeout: TimeAmount) { self.timeout = timeout }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    cancel()
    if !context.channel.isWritable { watch(context) }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { cancel() }

  private func watch(_ context: ChannelHandlerContext) {
    let waiting = Self.waitingByteCount(context.channel)
    closing = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
      // Writers wait while this does, so it only becomes less.
      let taken = waiting - Self.waitingByteCount(context.channel)
      if taken < Self.leastByteCount { context.channel.close(promise: nil) } else { watch(context) }
    }
  }

  private func cancel() {
    closing?.cancel()
    closing = nil
  }

  /// Bytes that the peer has not taken; 0 for a channel that does not say.
  private static func waitingByteCount(_ channel: any Channel) -> Int {
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
