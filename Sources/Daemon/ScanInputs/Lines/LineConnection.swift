import NIOCore
import Synchronization

/// A connection that delivers lines. It reads ahead while answers are pending, up to ``readAheadByteCount``: lines that
/// arrive meanwhile are answered together, and pauses that end a line are detected.
///
/// Memory: the bytes read ahead, and the answers to ``LineDialect/maximumBatchCount`` lines. When the client ends its
/// side or disconnects, also the bytes that the system has received by then, which are read at once
/// (``LineServer/receiveByteCount``).
struct LineConnection: Sendable {
  static let readAheadByteCount = 64 << 10

  enum Piece: Sendable {
    case bytes([UInt8])
    /// No byte arrived for the length of a pause that ends a line.
    case idle
    /// The client sends no more, but may still read.
    case end
  }

  let channel: any Channel
  private let progress = Progress()

  /// The state that the channel handler shares with the connection.
  private final class Progress: Sendable {
    struct Ahead {
      /// The pieces that were not taken yet.
      var pieces: [Piece] = []
      /// The number of bytes that were read and not answered.
      var byteCount = 0
      /// Whether reading is suspended because of that number.
      var isHeld = false
    }

    let ahead = Mutex(Ahead())
    /// The error that ended the connection; `nil` if it was closed normally.
    let loss = Mutex<InputError?>(nil)
    /// Signals that there are pieces to take.
    let signals: AsyncStream<Void>
    let continuation: AsyncStream<Void>.Continuation

    init() { (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

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

    /// Records that bytes were answered.
    ///
    /// - Returns: Whether reading must be resumed.
    func answered(_ byteCount: Int) -> Bool {
      ahead.withLock { ahead in
        ahead.byteCount -= byteCount
        guard ahead.isHeld, ahead.byteCount < LineConnection.readAheadByteCount else { return false }
        ahead.isHeld = false
        return true
      }
    }
  }

  /// Adds a handler to the channel. Call it on the channel's event loop, before the channel reads.
  ///
  /// - Parameters:
  ///   - idleTimeout: The pause that ends a line.
  ///   - onPause: A callback for each such pause.
  init(_ channel: any Channel, idleTimeout: Duration?, onPause: @escaping @Sendable () -> Void) throws {
    self.channel = channel
    let receiver = Receiver(progress, idleTimeout: idleTimeout.map { TimeAmount($0) }, onPause)
    try channel.pipeline.syncOperations.addHandler(receiver)
  }

  /// The error that ended the connection; `nil` if either side closed it.
  var loss: InputError? { progress.loss.withLock { $0 } }

  /// Stops reading. The lines that were read are answered, if the client reads the answers within `timeout`.
  func stop(timeout: Duration) {
    progress.continuation.finish()
    channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [channel] in channel.close(promise: nil) }
  }

  /// Answers lines until the client disconnects or the input ends, then closes the connection.
  ///
  /// Readings of a client that disconnects before its answers are written are still processed, because some scanners
  /// disconnect after each code.
  ///
  /// - Parameter hasAnswers: Whether answers are written.
  func serve(_ inputContext: InputContext, _ dialect: LineDialect, hasAnswers: Bool = true, timeout: Duration) async {
    await withTaskCancellationHandler {
      var session = dialect.session(inputContext)
      var signals = progress.signals.makeAsyncIterator()
      var canSend = hasAnswers
      var isOver = false
      while !isOver {
        isOver = await signals.next() == nil
        var lines: [LineFramer.Line] = []
        var byteCount = 0
        for piece in progress.takeAll() {
          switch piece {
          case .bytes(let bytes):
            session.framer.append(bytes, to: &lines)
            byteCount += bytes.count
          case .idle: session.framer.finish(&lines)
          case .end: session.framer.finish(&lines, isCut: true)
          }
        }
        var rest = lines[...]
        while !rest.isEmpty, !Task.isCancelled {
          let answers = await session.answer(rest.prefix(LineDialect.maximumBatchCount))
          rest = rest.dropFirst(LineDialect.maximumBatchCount)
          if canSend { canSend = await send(answers, timeout: timeout, inputContext) }
        }
        if progress.answered(byteCount) { channel.read() }
      }
      try? await channel.close()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// Writes answers, one line each, and waits until the system has accepted them.
  ///
  /// - Returns: Whether more can be written.
  private func send(_ lines: [[UInt8]], timeout: Duration, _ inputContext: InputContext) async -> Bool {
    let (channel, wait) = (channel, TimeAmount(timeout))
    let sent = channel.eventLoop.flatSubmit {
      var buffer = channel.allocator.buffer(capacity: lines.reduce(0) { $0 + $1.count + 1 })
      for line in lines {
        buffer.writeBytes(line)
        buffer.writeInteger(UInt8(ascii: "\n"))
      }
      let sent = channel.writeAndFlush(buffer)
      let stall = channel.eventLoop.scheduleTask(in: wait) {
        inputContext.report(.fault(.unanswered("a client takes none")))
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

  /// A channel handler that passes on bytes and pauses.
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

    /// Requests the first read. Earlier, an inactive channel would ignore the request.
    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      context.read()
    }

    /// Resumes reading after it was suspended. Bytes that arrived in the system meanwhile have not ended a line.
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

    /// Schedules the end of the line after a pause. Bytes that the system has received by then come first, because an
    /// event loop reads before it runs scheduled tasks.
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
