/// The protocol of a connection's lines and answers. Each line gets an answer.
enum LineDialect: Sendable {
  /// The maximum number of lines that are answered together. A line that arrives later waits at most for these.
  static let maximumBatchCount = 256

  /// Each line is a code.
  case codes(LineFormat)
  /// Each line is a ``ScanRequest``. The prefix and suffix are inside its code.
  case requests(LineFormat)

  /// The state of one connection.
  struct Session: Sendable {
    var framer: LineFramer
    private let inputContext: InputContext
    private let encoding: TextEncoding
    /// The prefix and suffix of a request's code; `nil` if a line is a code.
    private let affixes: Affixes?

    init(_ format: LineFormat, affixes: Affixes?, inputContext: InputContext) {
      framer = LineFramer(format)
      encoding = format.encoding
      self.affixes = affixes
      self.inputContext = inputContext
    }

    /// Answers lines that arrived together.
    ///
    /// - Returns: One JSON line for each.
    func answer(_ lines: ArraySlice<LineFramer.Line>) async -> [[UInt8]] {
      var answers: [[UInt8]] = []
      var readings: [Reading] = []
      // The line index of each reading.
      var indices: [Int] = []
      for line in lines {
        switch reading(line) {
        case .success(let reading):
          readings.append(reading)
          indices.append(answers.count)
          answers.append([])
        case .failure(let refusal): answers.append(refusal.line)
        }
      }
      if readings.count == 1 {
        answers[indices[0]] = await inputContext.handler.answer(readings[0]).line
      } else if !readings.isEmpty {
        for (index, answer) in zip(indices, await inputContext.handler.answer(readings)) {
          answers[index] = answer.line
        }
      }
      return answers
    }

    /// The reading of a line. Reports a fault if the line is refused or cannot be decoded.
    private func reading(_ line: LineFramer.Line) -> Result<Reading, ScanRequest.Refusal> {
      switch (line, affixes) {
      case (.fault(let fault), _):
        inputContext.report(.fault(fault))
        return .failure(ScanRequest.Refusal(reason: fault.description))
      case (.text(let code), nil): return .success(Reading(input: inputContext.name, code: code))
      case (.unended(let code), nil): return .success(Reading(input: inputContext.name, unended: code))
      case (.keys(let line), _): return .success(inputContext.reading(line))
      case (.bytes(let bytes), nil): return .success(inputContext.reading(bytes, encoding))
      case (.bytes(let bytes), _):
        let fault = InputFault.notText(encoding, bytes)
        inputContext.report(.fault(fault))
        return .failure(ScanRequest.Refusal(reason: fault.description))
      case (.text(let text), let affixes?), (.unended(let text), let affixes?):
        do throws(ScanRequest.Refusal) {
          let request = try ScanRequest(line: text, affixes)
          return .success(
            Reading(
              input: inputContext.name, code: request.code, tag: request.tag, symbology: request.symbology))
        } catch {
          inputContext.report(.fault(error.fault))
          return .failure(error)
        }
      }
    }
  }

  func session(_ inputContext: InputContext) -> Session {
    switch self {
    case .codes(let format): return Session(format, affixes: nil, inputContext: inputContext)
    case .requests(let format):
      var plain = LineFormat()
      plain.maximumByteCount = format.maximumByteCount
      return Session(plain, affixes: Affixes(format), inputContext: inputContext)
    }
  }
}

extension ScanRequest {
  /// Parses a request, and removes the prefix and suffix from its code.
  fileprivate init(line: String, _ affixes: Affixes) throws(Refusal) {
    try self.init(line: line)
    code = affixes.removed(from: code)
    if code.isEmpty { throw Refusal(reason: #""code" is empty"#, tag: tag) }
  }
}
