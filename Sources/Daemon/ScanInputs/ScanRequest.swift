import JSONFormat

/// A request on a socket: a line of JSON, `{"code":"…","tag":"…","symbology":"…"}`. `labelType`, as DataWedge calls it,
/// is another name for `symbology`. Other keys are ignored. A line with two codes, tags or symbologies is refused
/// because it is ambiguous, and a wrong code would be recorded as scanned.
struct ScanRequest: Equatable, Sendable {
  var code: String
  var tag: String?
  var symbology: String?

  /// The reason why a line is not a valid request, and its tag if it could be read.
  struct Refusal: Error, Equatable {
    var reason: String
    var tag: String?

    var fault: InputFault { .request(reason) }
  }

  /// The maximum nesting depth of ignored values.
  static let nestingDepth = 16

  init(code: String, tag: String? = nil, symbology: String? = nil) {
    self.code = code
    self.tag = tag
    self.symbology = symbology
  }

  init(line: String) throws(Refusal) {
    var reader = Reader()
    do {
      try reader.read(line)
    } catch {
      throw Refusal(reason: error.reason, tag: reader.tag ?? nil)
    }
    let tag = reader.tag ?? nil
    guard let code = reader.code else {
      throw Refusal(reason: #"the request has no "code"; it is {"code":"…"}"#, tag: tag)
    }
    self.init(code: code, tag: tag, symbology: reader.symbology ?? nil)
  }

  /// The fields that were read so far, in a line that may still be refused.
  private struct Reader {
    var code: String?
    /// `nil` until the line contains a tag.
    var tag: String??
    /// `nil` until the line contains a symbology.
    var symbology: String??

    mutating func read(_ line: String) throws(Refusal) {
      do {
        try tokens(of: line)
      } catch let error as JSONError {
        throw Refusal(reason: "the request is no JSON: \(error)")
      } catch let refusal as Refusal {
        throw refusal
      } catch {
        throw Refusal(reason: "the request cannot be read")
      }
    }

    private mutating func tokens(of line: String) throws {
      let bytes = Array(line.utf8)
      var tokens = JSONTokenizer(limits: JSONLimits(nestingDepth: nestingDepth, tokenByteCount: bytes.count))
      tokens.append(bytes.span)
      tokens.finish()
      guard try tokens.next() == .beginObject else {
        throw Refusal(reason: #"the request is no object; it is {"code":"…"}"#)
      }
      while true {
        let token = try tokens.next()
        if token == .endObject { break }
        let key = tokens.textString
        let value = try tokens.next()
        switch key {
        case "code":
          guard code == nil else { throw Refusal(reason: #""code" is there twice"#) }
          guard value == .string else { throw Refusal(reason: #""code" is no string"#) }
          code = tokens.textString
        case "tag":
          guard tag == nil else { throw Refusal(reason: #""tag" is there twice"#) }
          guard value == .string || value == .null else { throw Refusal(reason: #""tag" is no string"#) }
          tag = .some(value == .string ? tokens.textString : nil)
        case "symbology", "labelType":
          guard symbology == nil else { throw Refusal(reason: "the symbology is there twice") }
          guard value == .string || value == .null else { throw Refusal(reason: "\"\(key)\" is no string") }
          symbology = .some(value == .string ? tokens.textString : nil)
        default:
          let depth = tokens.depth
          guard value == .beginObject || value == .beginArray else { continue }
          while tokens.depth >= depth { _ = try tokens.next() }
        }
      }
      guard try tokens.next() == .endOfDocument else { throw Refusal(reason: "something follows the request") }
    }
  }
}

extension ScanRequest.Refusal {
  /// The error answer: one line of JSON.
  var line: [UInt8] {
    let escaping: JSONEscaping = [.uppercaseDigits, .delete]
    let tag = tag.map { #","tag":"# + JSONWriter.string($0, escaping: escaping) } ?? ""
    return Array((#"{"error":"# + JSONWriter.string(reason, escaping: escaping) + tag + "}").utf8)
  }
}
