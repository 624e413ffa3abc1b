import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Reads lines over TCP from a scanner that listens. Connects to it, and reconnects when the connection ends.
struct TCPClientInput {
  let options: TCPClientOptions
  let format: LineFormat
  let inputContext: InputContext
  let environment: InputEnvironment
  let ending: Ending

  private var address: String { LineServer.shown(options.host, options.port) }

  func run() async throws {
    var reopening = Reopening(
      inputContext: inputContext, environment: environment, first: options.reopenInterval,
      longest: LineServer.longestPause)
    while !ending.stop.isTripped {
      let connection: LineConnection
      do {
        guard let made = try await connect() else { return try Task.checkCancellation() }
        connection = made
      } catch {
        try await reopening.closed("cannot reach \(address): \(reason(error))")
        continue
      }
      reopening.opened(address)
      await withTaskCancellationOrGracefulShutdownHandler {
        await connection.serve(
          inputContext, .codes(format), hasAnswers: options.answers, timeout: environment.answerTimeout)
      } onCancelOrGracefulShutdown: {
        connection.stop(timeout: environment.timeoutAtEnd)
      }
      try Task.checkCancellation()
      if ending.stop.isTripped { return }
      try await reopening.closed(connection.loss?.description ?? "\(address) closed the connection")
    }
  }

  /// Connects to the scanner.
  ///
  /// - Returns: The connection; `nil` if the input must end.
  private func connect() async throws -> LineConnection? {
    guard (1...65_535).contains(options.port) else { throw InputError("\(options.port) is no port") }
    // A name may have several addresses, which are tried concurrently.
    let made = Mutex<[ObjectIdentifier: LineConnection]>([:])
    var bootstrap = ClientBootstrap(group: EventLoopExecutor.group)
      .connectTimeout(TimeAmount(environment.connectTimeout))
      .channelOption(.autoRead, value: false)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Descriptor.readByteCount))
      .channelOption(.socketOption(.so_rcvbuf), value: LineServer.receiveByteCount)
      .channelInitializer { [idleTimeout = format.idleTimeout, onPause = environment.onPause] channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try LineConnection(channel, idleTimeout: idleTimeout, onPause: onPause)
          made.withLock { $0[ObjectIdentifier(channel)] = connection }
        }
      }
    for (option, value) in TCPKeepAlive.options { bootstrap = bootstrap.channelOption(option, value: value) }
    // The input may end before the connection is established.
    let first = EventLoopExecutor.group.any().makePromise(of: (any Channel)?.self)
    let connecting = bootstrap.connect(host: options.host, port: options.port)
    let isOver = Mutex(false)
    @Sendable func end(_ result: Result<(any Channel)?, any Error>) {
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      if isFirst {
        first.completeWith(result)
      } else if case .success(let channel?) = result {
        channel.close(promise: nil)
      }
    }
    connecting.whenComplete { end($0.map { $0 }) }
    let channel = try await withTaskCancellationOrGracefulShutdownHandler {
      try await first.futureResult.get()
    } onCancelOrGracefulShutdown: {
      end(.success(nil))
    }
    return channel.flatMap { channel in made.withLock { $0[ObjectIdentifier(channel)] } }
  }

  private func reason(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let failure = error.connectionErrors.first { return reason(failure.error) }
      return error.dnsAError == nil && error.dnsAAAAError == nil ? "no address answered" : "the name is not known"
    case let error as IOError: return InputError.text(error.errnoCode)
    case ChannelError.connectTimeout: return "no answer within \(environment.connectTimeout.components.seconds) seconds"
    default: return "\(error)"
    }
  }
}
