public import Logging
public import ServiceLifecycle

/// Reads codes from one source, and answers each of them.
///
/// It runs until graceful shutdown, whatever becomes of its source: one that goes away is opened again, a line that is no
/// text is noted. What was read when the shutdown comes is answered.
public struct ScanInput: Service {
  /// Connections that an input has at once, where it has any; more are closed at once.
  public static let maximumConnections = 256

  /// What it reads, and how.
  public let options: InputOptions
  let handler: any ReadingHandler
  let logger: Logger
  var environment = InputEnvironment()

  /// Opens nothing yet.
  ///
  /// - Parameters:
  ///   - options: best with a name that no other input has: metrics, double scans and orders go by names.
  ///   - handler: answers the readings.
  ///   - logger: gets what people who look for a fault may want to know.
  public init(_ options: InputOptions, handler: any ReadingHandler, logger: Logger) {
    self.options = options
    self.handler = handler
    self.logger = logger
  }

  /// Reads and answers.
  ///
  /// - Throws: `CancellationError` only. Cancellation ends at once, without the answers.
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

  /// What wakes the input at its end. Without descriptors for that it waits for some, as for any source.
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
