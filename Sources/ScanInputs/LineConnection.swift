import NIOCore
import Synchronization

/// A connection over which lines come. It is read on while answers are awaited, up to ``readAheadByteCount``: lines that arrive
/// meanwhile are answered together, and a pause that ends a line is seen.
///
/// Memory: what was read ahead, and the answers to ``LineDialect/maximumBatchCount`` lines; when the client says that it sends no
/// more, or goes away, also what the system had received by then, for it is read at once (``LineServer/receiveByteCount``).
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
  private let progress = Progress()

  /// What the receiver read, and is told.
  private final class Progress: Sendable {
    struct Ahead {
      /// Not taken yet.
      var pieces: [Piece] = []
      /// Bytes that were read, and not answered.
      var byteCount = 0
      /// Whether nothing is read because that is so many.
      var isHeld = false
    }

    let ahead = Mutex(Ahead())
    /// Why the connection was lost; `nil` where it was closed.
    let loss = Mutex<InputError?>(nil)
    /// Says that there are pieces to take.
    let wakes: AsyncStream<Void>
    let continuation: AsyncStream<Void>.Continuation

    init() { (wakes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Adds a piece.
    ///
    /// - Returns: Whether more may be read.
    func add(_ piece: Piece) -> Bool {
      let mayRead = ahead.withLock { ahead in
        ahead.pieces.append(piece)
        if case .bytes(let bytes) = piece { ahead.byteCount += bytes.count }
        ahead.isHeld = ahead.byteCount >= LineConnection.readAheadByteCount
        return !ahead.isHeld
      }
      continuation.yield()
      return mayRead
    }

    func takeAll() -> [Piece] {
      ahead.withLock { ahead in
        defer { ahead.pieces = [] }
        return ahead.pieces
      }
    }

    /// Bytes were answered.
    ///
    /// - Returns: Whether reading goes on with that.
    func answered(_ byteCount: Int) -> Bool {
      ahead.withLock { ahead in
        ahead.byteCount -= byteCount
        guard ahead.isHeld, ahead.byteCount < LineConnection.readAheadByteCount else { return false }
        ahead.isHeld = false
        return true
      }
    }
  }

  /// Called on the channel's event loop, before the channel reads.
  ///
  /// - Parameters:
  ///   - idleTimeout: The pause that ends a line.
  ///   - onPause: Called when there was one.
  init(_ channel: any Channel, idleTimeout: Duration?, onPause: @escaping @Sendable () -> Void) throws {
    self.channel = channel
    let receiver = Receiver(progress, idleTimeout: idleTimeout.map { TimeAmount($0) }, onPause)
    try channel.pipeline.syncOperations.addHandler(receiver)
  }

  /// Why the connection was lost; `nil` where one of the two closed it.
  var loss: InputError? { progress.loss.withLock { $0 } }

  /// Nothing more is read. What was read is answered, if the client takes it within `patience`.
  func stop(patience: Duration) {
    progress.continuation.finish()
    channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { [channel] in channel.close(promise: nil) }
  }

  /// Answers what comes until the client goes away or the input ends, and closes.
  ///
  /// A client that leaves before its answers are written has its readings taken nevertheless: a scanner may hang up after each
  /// code.
  ///
  /// - Parameter hasAnswers: Whether answers are written.
  func serve(_ inputContext: InputContext, _ dialect: LineDialect, hasAnswers: Bool = true, patience: Duration) async {
    await withTaskCancellationHandler {
      var session = dialect.session(inputContext)
      var wakes = progress.wakes.makeAsyncIterator()
      var listens = hasAnswers
      var isOver = false
      while !isOver {
        isOver = await wakes.next() == nil
        var lines: [LineFramer.Line] = []
        var byteCount = 0
        for piece in progress.takeAll() {
          switch piece {
          case .bytes(let bytes):
            session.framer.append(bytes, to: &lines)
            byteCount += bytes.count
          case .idle, .end: session.framer.finish(&lines)
          }
        }
        var rest = lines[...]
        while !rest.isEmpty, !Task.isCancelled {
          let answers = await session.answer(rest.prefix(LineDialect.maximumBatchCount))
          rest = rest.dropFirst(LineDialect.maximumBatchCount)
          if listens { listens = await send(answers, patience: patience, inputContext) }
        }
        if progress.answered(byteCount) { channel.read() }
      }
      try? await channel.close()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// Writes answers, a line each, and waits until the system has them.
  ///
  /// - Returns: Whether more can be written.
  private func send(_ lines: [[UInt8]], patience: Duration, _ inputContext: InputContext) async -> Bool {
    let (channel, wait) = (channel, TimeAmount(patience))
    let sent = channel.eventLoop.flatSubmit {
      var buffer = channel.allocator.buffer(capacity: lines.reduce(0) { $0 + $1.count + 1 })
      for line in lines {
        buffer.writeBytes(line)
        buffer.writeInteger(UInt8(ascii: "\n"))
      }
      let sent = channel.writeAndFlush(buffer)
      let stall = channel.eventLoop.scheduleTask(in: wait) {
        inputContext.note(.fault(.unanswered("a client takes none")))
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

    private let progress: Progress
    private let idleTimeout: TimeAmount?
    private let onPause: @Sendable () -> Void
    private var pause: Scheduled<Void>?

    init(_ progress: Progress, idleTimeout: TimeAmount?, _ onPause: @escaping @Sendable () -> Void) {
      self.onPause = onPause
      self.progress = progress
      self.idleTimeout = idleTimeout
    }

    /// The first piece is asked for here: before, a channel that is not active yet would not hear it.
    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      context.read()
    }

    /// The connection reads on after it was held. Bytes that the system had meanwhile ended no line.
    func read(context: ChannelHandlerContext) {
      watchPause(context)
      context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = Array(unwrapInboundIn(data).readableBytesView)
      let mayRead = progress.add(.bytes(bytes))
      pause?.cancel()
      guard mayRead else { return }
      watchPause(context)
      context.read()
    }

    /// Ends the line after a pause, unless more comes. What the system has received by then comes first: an event loop reads
    /// before it looks at its clock.
    private func watchPause(_ context: ChannelHandlerContext) {
      guard let idleTimeout else { return }
      pause = context.eventLoop.scheduleTask(in: idleTimeout) { [progress, onPause] in
        _ = progress.add(.idle)
        onPause()
      }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case ChannelEvent.inputClosed = event {
        pause?.cancel()
        _ = progress.add(.end)
        progress.continuation.finish()
      }
      context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
      pause?.cancel()
      progress.continuation.finish()
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let error = error as? IOError {
        progress.loss.withLock { $0 = InputError("the connection was lost", code: error.errnoCode) }
      }
      context.close(promise: nil)
    }
  }
}
