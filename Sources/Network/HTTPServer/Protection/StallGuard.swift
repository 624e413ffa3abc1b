import NIOCore

/// A channel handler that closes a connection whose peer reads almost nothing for some time although data is waiting to
/// be written.
///
/// It checks the amount of waiting data each time the timeout has passed. A peer that reads a large response slowly
/// stays connected; one that reads an occasional byte cannot keep the response in memory indefinitely.
final class StallGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any
  typealias InboundOut = Any

  /// The minimum number of bytes that a peer must read within each timeout: about a kilobyte a second with the default
  /// one.
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
      // Writers wait while data waits, so the amount only decreases.
      let taken = waiting - Self.waitingByteCount(context.channel)
      if taken < Self.leastByteCount { context.channel.close(promise: nil) } else { watch(context) }
    }
  }

  private func cancel() {
    closing?.cancel()
    closing = nil
  }

  /// The number of bytes that the peer has not read; 0 for a channel that does not report it.
  private static func waitingByteCount(_ channel: any Channel) -> Int {
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
