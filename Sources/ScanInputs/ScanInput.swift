public import Logging
public import ServiceLifecycle

/// Reads codes from one source, and answers each of them.
///
/// It runs until graceful shutdown, whatever becomes of its source: one that goes away is opened again, a line that is no
/// text is noted. What was read when the shutdown comes is answered.
public struct ScanInput: Service {
  public let options: InputOptions
  let handler: any ReadingHandler
  let logger: Logger

  public init(_ options: InputOptions, handler: any ReadingHandler, logger: Logger) {
    self.options = options
    self.handler = handler
    self.logger = logger
  }

  public func run() async throws { fatalError("being built") }
}
