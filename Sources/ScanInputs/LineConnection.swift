import NIOCore

/// A connection of a ``LineServer``: its bytes as a sequence of pieces, read one at a time and only when asked for.
///
/// Memory: the piece that is worked on and one answer; when the client says that it sends no more, or goes away, also what the
/// system had received by then, for it is read at once (``LineServer/receiveByteCount``).
struct LineConnection: Sendable {
  enum Piece: Sendable {
    case bytes([UInt8])
    /// The client sends no more; it may still read.
    case end
  }

  let channel: any Channel
  private let pieces: AsyncStream<Piece>
  private let continuation: AsyncStream<Piece>.Continuation

  /// Called on the channel's event loop, before the channel reads.
  init(_ channel: any Channel) throws {
    self.channel = channel
    (pieces, continuation) = AsyncStream.makeStream(of: Piece.self)
    try channel.pipeline.syncOperations.addHandler(Receiver(continuation: continuation))
  }

  /// Nothing more is read. What was read is answered, if the client takes it within `patience`.
  func stop(patience: Duration) {
    continuation.finish()
    channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { [channel] in channel.close(promise: nil) }
  }

  /// Answers what comes until the client goes away or the input ends, and closes.
  ///
  /// A client that leaves before its answers are written has its readings taken nevertheless: a scanner may hang up behind each
  /// code.
  func serve(_ desk: Desk, _ dialect: LineDialect, patience: Duration) async {
    await withTaskCancellationHandler {
      var session = dialect.session(desk)
      var pieces = self.pieces.makeAsyncIterator()
      var listens = true
      while let piece = await pieces.next() {
        var lines: [LineFramer.Line] = []
        switch piece {
        case .bytes(let bytes): session.framer.append(bytes, to: &lines)
        case .end: session.framer.finish(&lines)
        }
        for line in lines where !Task.isCancelled {
          let answer = await session.answer(line)
          guard listens else { continue }
          listens = await send(answer, patience: patience, desk)
        }
        channel.read()
      }
      try? await channel.close()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// Writes an answer, and waits until the system has it.
  ///
  /// - Returns: Whether more can be written.
  private func send(_ line: [UInt8], patience: Duration, _ desk: Desk) async -> Bool {
    let (channel, wait) = (channel, TimeAmount(patience))
    let sent = channel.eventLoop.flatSubmit {
      var buffer = channel.allocator.buffer(capacity: line.count + 1)
      buffer.writeBytes(line)
      buffer.writeInteger(UInt8(ascii: "\n"))
      let sent = channel.writeAndFlush(buffer)
      let stall = channel.eventLoop.scheduleTask(in: wait) {
        desk.note(.fault(.unanswered("a client takes none")))
        channel.close(promise: nil)
      }
      sent.whenComplete { _ in stall.cancel() }
      return sent
    }
    do {
      try await sent.get()
      return true
    } catch {
      return false
    }
  }

  /// Hands bytes on.
  private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let continuation: AsyncStream<Piece>.Continuation

    init(continuation: AsyncStream<Piece>.Continuation) { self.continuation = continuation }

    /// The first piece is asked for here: before, a channel that is not active yet would not hear it.
    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      continuation.yield(.bytes(Array(unwrapInboundIn(data).readableBytesView)))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case ChannelEvent.inputClosed = event {
        continuation.yield(.end)
        continuation.finish()
      }
      context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
      continuation.finish()
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
