/// What the lines of a connection are, and their answers. Each line has an answer.
enum LineDialect: Sendable {
  /// A line is a code.
  case codes(LineFormat)
  /// A line is a ``ScanRequest``; what a reader puts around a code is inside.
  case requests(LineFormat)

  /// One connection's lines.
  struct Session: Sendable {
    var framer: LineFramer
    private let desk: Desk
    private let encoding: TextEncoding
    /// Text around the code of a request; `nil` where a line is a code.
    private let affixes: Affixes?

    init(_ format: LineFormat, affixes: Affixes?, desk: Desk) {
      framer = LineFramer(format)
      encoding = format.encoding
      self.affixes = affixes
      self.desk = desk
    }

    /// One line of JSON.
    func answer(_ line: LineFramer.Line) async -> [UInt8] {
      switch (line, affixes) {
      case (.fault(let fault), _):
        desk.note(.fault(fault))
        return ScanRequest.Refusal(reason: fault.description).line
      case (_, nil): return await desk.answer(line, encoding)?.line ?? []
      case (.bytes(let bytes), _):
        let fault = InputFault.notText(encoding, shown: Printable.text(bytes))
        desk.note(.fault(fault))
        return ScanRequest.Refusal(reason: fault.description).line
      case (.text(let text), let affixes?):
        do throws(ScanRequest.Refusal) {
          let request = try ScanRequest(line: text, affixes)
          return await desk.answer(request.code, tag: request.tag).line
        } catch {
          desk.note(.fault(error.fault))
          return error.line
        }
      }
    }
  }

  func session(_ desk: Desk) -> Session {
    switch self {
    case .codes(let format): return Session(format, affixes: nil, desk: desk)
    case .requests(let format):
      var plain = LineFormat()
      plain.maximumByteCount = format.maximumByteCount
      return Session(plain, affixes: Affixes(format), desk: desk)
    }
  }
}

extension ScanRequest {
  /// A request, without what a reader puts around its code.
  fileprivate init(line: String, _ affixes: Affixes) throws(Refusal) {
    try self.init(line: line)
    code = affixes.removed(from: code)
    if code.isEmpty { throw Refusal(reason: #""code" is empty"#, tag: tag) }
  }
}
