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
    /// What surrounds the code of a request; `nil` where a line is a code.
    private let affixes: Affixes?

    init(framer: LineFramer, affixes: Affixes?, desk: Desk) {
      self.framer = framer
      self.affixes = affixes
      self.desk = desk
    }

    /// One line of JSON.
    func answer(_ line: LineFramer.Line) async -> [UInt8] {
      do {
        let request = try request(line)
        return await desk.answer(request.code, tag: request.tag).line
      } catch let fault as InputFault {
        desk.note(.fault(fault))
        return ScanRequest.Refusal(reason: fault.description).line
      } catch let refusal as ScanRequest.Refusal {
        desk.note(.fault(refusal.fault))
        return refusal.line
      } catch {
        return ScanRequest.Refusal(reason: "\(error)").line
      }
    }

    private func request(_ line: LineFramer.Line) throws -> ScanRequest {
      let text: String
      switch line {
      case .fault(let fault): throw fault
      case .text(let whole): text = whole
      }
      guard let affixes else { return ScanRequest(code: text) }
      var request = try ScanRequest(line: text)
      request.code = affixes.removed(from: request.code)
      guard !request.code.isEmpty else { throw ScanRequest.Refusal(reason: #""code" is empty"#, tag: request.tag) }
      return request
    }
  }

  func session(_ desk: Desk) -> Session {
    switch self {
    case .codes(let format): return Session(framer: LineFramer(format), affixes: nil, desk: desk)
    case .requests(let format):
      var plain = LineFormat()
      plain.maximumByteCount = format.maximumByteCount
      return Session(framer: LineFramer(plain), affixes: Affixes(format), desk: desk)
    }
  }
}
