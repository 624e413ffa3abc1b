import NIOCore
import Synchronization

/// A connection over which lines come: its bytes as a sequence of pieces, read one at a time and only when asked for.
///
/// Where a pause ends a line, it is read on while answers are awaited, up to ``readAheadByteCount``: a pause that nobody watched
/// would join two codes.
///
/// Memory: the piece that is worked on, or what was read ahead, and one answer; when the client says that it sends no more, or goes
/// away, also what the system had received by then, for it is read at once (``LineServer/receiveByteCount``).
struct LineConnection: Sendable {
  static let readAheadByteCount = 64 << 10

  enum Piece: Sendable {
    case bytes([UInt8])
    /// No byte came for as long as ends a line.
    case idle
    /// The client sends no more; it may still read.
    case end
  }

  let channel: any Channel
  private let pieces: AsyncStream<Piece>
  private let continuation: AsyncStream<Piece>.Continuation

  private let progress = Progress()

  /// What the receiver tells of the connection, and is told.
  private final class Progress: Sendable {
    /// Bytes that were read, and not worked on.
    let aheadCount = Mutex(0)
    /// Why the connection was lost; `nil` where it was closed.
    let loss = Mutex<Obstacle?>(nil)
  }

  /// Called on the channel's event loop, before the channel reads.
  ///
  /// - Parameters:
  ///   - idleTimeout: The pause that ends a line.
  ///   - onPause: Called when there was one.
  init(_ channel: any Channel, idleTimeout: Duration?, onPause: @escaping @Sendable () -> Void) throws {
    self.channel = channel
    (pieces, continuation) = AsyncStream.makeStream(of: Piece.self)
    let receiver = Receiver(continuation, progress, idleTimeout: idleTimeout.map { TimeAmount($0) }, onPause)
    try channel.pipeline.syncOperations.addHandler(receiver)
  }

  /// Why the connection was lost; `nil` where one of the two closed it.
  var loss: Obstacle? { progress.loss.withLock { $0 } }

  /// Nothing more is read. What was read is answered, if the client takes it within `patience`.
  func stop(patience: Duration) {
    continuation.finish()
    channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { [channel] in channel.close(promise: nil) }
  }

  /// Answers what comes until the client goes away or the input ends, and closes.
  ///
  /// A client that leaves before its answers are written has its readings taken nevertheless: a scanner may hang up after each
  /// code.
  ///
  /// - Parameter hasAnswers: Whether answers are written.
  func serve(_ desk: Desk, _ dialect: LineDialect, hasAnswers: Bool = true, patience: Duration) async {
    await withTaskCancellationHandler {
      var session = dialect.session(desk)
      var pieces = self.pieces.makeAsyncIterator()
      var listens = hasAnswers
      while let piece = await pieces.next() {
        var lines: [LineFramer.Line] = []
        switch piece {
        case .bytes(let bytes): session.framer.append(bytes, to: &lines)
        case .idle, .end: session.framer.finish(&lines)
        }
        for line in lines where !Task.isCancelled {
          let answer = await session.answer(line)
          guard listens else { continue }
          listens = await send(answer, patience: patience, desk)
        }
        if case .bytes(let bytes) = piece { progress.aheadCount.withLock { $0 -= bytes.count } }
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

  /// Hands bytes on, and the pauses between them.
  private final class Receiver: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let continuation: AsyncStream<Piece>.Continuation
    private let progress: Progress
    private let idleTimeout: TimeAmount?
    private let onPause: @Sendable () -> Void
    private var pause: Scheduled<Void>?
    /// Whether it does not read on, because so much was read ahead. Bytes that the system has may end no line meanwhile.
    private var isHeld = false

    init(
      _ continuation: AsyncStream<Piece>.Continuation, _ progress: Progress, idleTimeout: TimeAmount?,
      _ onPause: @escaping @Sendable () -> Void
    ) {
      self.onPause = onPause
      self.continuation = continuation
      self.progress = progress
      self.idleTimeout = idleTimeout
    }

    /// The first piece is asked for here: before, a channel that is not active yet would not hear it.
    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      context.read()
    }

    /// The connection has worked on a piece.
    func read(context: ChannelHandlerContext) {
      if isHeld { watchPause(context) }
      isHeld = false
      context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = Array(unwrapInboundIn(data).readableBytesView)
      let aheadCount = progress.aheadCount.withLock { count in
        count += bytes.count
        return count
      }
      continuation.yield(.bytes(bytes))
      guard idleTimeout != nil else { return }
      isHeld = aheadCount >= LineConnection.readAheadByteCount
      pause?.cancel()
      if isHeld { return }
      watchPause(context)
      context.read()
    }

    /// Ends the line after a pause, unless more comes. What the system has received by then comes first: an event loop reads
    /// before it looks at its clock.
    private func watchPause(_ context: ChannelHandlerContext) {
      guard let idleTimeout else { return }
      pause = context.eventLoop.scheduleTask(in: idleTimeout) { [continuation, onPause] in
        continuation.yield(.idle)
        onPause()
      }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case ChannelEvent.inputClosed = event {
        pause?.cancel()
        continuation.yield(.end)
        continuation.finish()
      }
      context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
      pause?.cancel()
      continuation.finish()
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let error = error as? IOError {
        progress.loss.withLock { $0 = Obstacle("the connection was lost", code: error.errnoCode) }
      }
      context.close(promise: nil)
    }
  }
}
