import Logging

/// The context of an input: its name, handler and logger.
struct InputContext: Sendable {
  /// The name of the input.
  let name: String
  let handler: any ReadingHandler
  let logger: Logger

  func report(_ event: InputEvent) { handler.note(event, input: name) }

  func answer(_ code: String, tag: String? = nil) async -> ReadingAnswer {
    await handler.answer(Reading(input: name, code: code, tag: tag))
  }

  /// Answers a line that is a code.
  ///
  /// - Parameter encoding: The input's encoding, for the message about a line that cannot be decoded.
  /// - Returns: The answer; `nil` for a line that was refused, which has been reported.
  func answer(_ line: LineFramer.Line, _ encoding: TextEncoding) async -> ReadingAnswer? {
    switch line {
    case .text(let code): return await answer(code)
    case .bytes(let bytes):
      report(.fault(.notText(encoding, shown: Printable.text(bytes))))
      return await handler.answer(Reading(input: name, undecoded: bytes))
    case .fault(let fault):
      report(.fault(fault))
      return nil
    }
  }
}
