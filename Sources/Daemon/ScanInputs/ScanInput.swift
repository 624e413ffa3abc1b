public import Logging
public import ServiceLifecycle

/// A service that reads codes from one source and answers each of them.
///
/// It runs until graceful shutdown, whatever happens to its source: a source that disappears is reopened, and a line
/// that is not valid text is reported. Lines that were read before the shutdown are answered.
public struct ScanInput: Service {
  /// The maximum number of concurrent connections of an input. Further connections are closed at once.
  public static let maximumConnections = 256

  /// The source and the line format.
  public let options: InputOptions
  let handler: any ReadingHandler
  let logger: Logger
  var environment = InputEnvironment()

  /// Creates an input without opening its source.
  ///
  /// - Parameters:
  ///   - options: The configuration. Use a unique name, because metrics, double scans and the order of readings depend
  ///     on it.
  ///   - handler: The handler of the readings.
  ///   - logger: The logger for diagnostic messages.
  public init(_ options: InputOptions, handler: any ReadingHandler, logger: Logger) {
    self.options = options
    self.handler = handler
    self.logger = logger
  }

  /// Reads and answers codes.
  ///
  /// - Throws: `CancellationError` only. Cancellation ends the input at once, without pending answers.
  public func run() async throws {
    let inputContext = InputContext(name: options.name, handler: handler, logger: logger)
    guard let ending = try await makeEnding(inputContext) else { return }
    try await withTaskCancellationHandler {
      try await withGracefulShutdownHandler {
        try await read(inputContext, ending)
      } onGracefulShutdown: {
        ending.stop.trip()
      }
    } onCancel: {
      ending.cancel.trip()
      ending.stop.trip()
    }
    try Task.checkCancellation()
  }

  /// Creates the latches that end the input. If no descriptors are available, retries like for any source.
  private func makeEnding(_ inputContext: InputContext) async throws -> Ending? {
    var reopening = Reopening(
      inputContext: inputContext, environment: environment, first: LineServer.firstPause,
      longest: LineServer.longestPause)
    while !Task.isShuttingDownGracefully {
      do throws(InputError) {
        return try Ending()
      } catch {
        try await reopening.closed(error.description)
      }
    }
    return nil
  }

  private func read(_ inputContext: InputContext, _ ending: Ending) async throws {
    let format = options.line
    func server(
      _ dialect: LineDialect, idleTimeout: Duration? = nil, allow: [PeerNetwork] = []
    ) -> LineServer {
      LineServer(
        inputContext: inputContext, dialect: dialect, idleTimeout: idleTimeout, allow: allow, environment: environment,
        ending: ending)
    }
    switch options.source {
    case .standardInput:
      try await StandardInput(inputContext: inputContext, format: format, environment: environment, ending: ending)
        .run()
    case .serial(let options):
      let input = SerialInput(
        options: options, format: format, inputContext: inputContext, environment: environment, ending: ending)
      try await input.run()
    case .keyboard(let options):
      let input = KeyboardInput(
        options: options, format: format, inputContext: inputContext, environment: environment, ending: ending)
      try await input.run()
    case .tcp(let host, let port, let allow):
      let server = server(.codes(format), idleTimeout: format.idleTimeout, allow: allow)
      try await TCPInput(host: host, port: port, server: server).run()
    case .tcpClient(let options):
      let input = TCPClientInput(
        options: options, format: format, inputContext: inputContext, environment: environment, ending: ending)
      try await input.run()
    case .socket(let path): try await SocketInput(path: path, server: server(.requests(format))).run()
    }
  }
}
