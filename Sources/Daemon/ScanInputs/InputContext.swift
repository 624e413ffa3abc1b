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
    case .unended(let code): return await handler.answer(Reading(input: name, unended: code))
    case .bytes(let bytes): return await handler.answer(reading(bytes, encoding))
    case .keys(let line): return await handler.answer(reading(line))
    case .fault(let fault):
      report(.fault(fault))
      return nil
    }
  }

  /// Reports bytes that are no text.
  ///
  /// - Returns: Their reading.
  func reading(_ bytes: [UInt8], _ encoding: TextEncoding) -> Reading {
    report(.fault(.notText(encoding, bytes)))
    return Reading(
      input: name, undecoded: bytes, reason: "could not be decoded: the bytes are not \(encoding.rawValue)")
  }

  /// Reports a line that lost characters.
  ///
  /// - Returns: Its reading.
  func reading(_ line: TypedLine) -> Reading {
    let fault = InputFault.lostKeys(of: line, input: name)
    report(.fault(fault))
    return Reading(
      input: name, undecoded: line.bytes, code: line.code, reason: "could not be decoded: \(fault)")
  }
}
