import Logging
import NIOCore

/// A channel handler of a listener that accepts connections only while there are fewer than a maximum. Others wait in
/// the system's backlog.
final class ConnectionLimit: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  /// The number of connections that NIO accepts at a time by default.
  private static let batchCount = 16

  /// The pause after a connection that could not be accepted.
  private static let pause: TimeAmount = .milliseconds(100)

  private let maximum: Int
  private let logger: Logger
  private var count = 0
  private var batch = ConnectionLimit.batchCount
  /// Whether the listener waits until a connection ends.
  private var isWaiting = false

  init(_ maximum: Int, logger: Logger) {
    self.maximum = maximum
    self.logger = logger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += 1
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop).whenComplete { _ in
      let (limit, context) = bound.value
      limit.connectionEnded(context)
    }
    context.fireChannelRead(data)
  }

  private func connectionEnded(_ context: ChannelHandlerContext) {
    count -= 1
    if isWaiting { read(context: context) }
  }

  func read(context: ChannelHandlerContext) {
    isWaiting = count >= maximum
    if isWaiting { return }
    let batch = min(maximum - count, Self.batchCount)
    if batch != self.batch {
      self.batch = batch
      try? context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: UInt(batch))
    }
    context.read()
  }

  /// A connection that cannot be accepted, for example because the process has no more descriptors, does not end the
  /// listener. It stays in the backlog, so accepting pauses for a moment.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    logger.debug("a connection was not accepted", metadata: ["error": "\(error)"])
    let channel = context.channel
    channel.setOption(.autoRead, value: false).whenComplete { _ in
      channel.eventLoop.scheduleTask(in: Self.pause) { channel.setOption(.autoRead, value: true) }
    }
  }
}
