import Foundation
import JSONStream

extension DocumentValue {
  /// The value as JSON on one line.
  ///
  /// JSON has no dates, no binary data and no infinite numbers: dates become the text of ``DateText``, bytes become
  /// base64, and NaN and the infinities become `"NaN"`, `"Infinity"` and `"-Infinity"`. Parsing them again gives text.
  public var json: String {
    var text = ""
    appendJSON(to: &text)
    return text
  }

  private func appendJSON(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .unsigned(let value): text += String(value)
    case .double(let value):
      if value.isFinite {
        text += String(value)
      } else {
        text += value.isNaN ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\""
      }
    case .text(let value): Self.appendJSON(value, to: &text)
    case .bytes(let value): text += "\"" + Data(value).base64EncodedString() + "\""
    case .date(let value): text += "\"" + DateText.text(value) + "\""
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.appendJSON(to: &text)
      }
      text += "]"
    case .object(let fields):
      text += "{"
      for (index, field) in fields.enumerated() {
        if index > 0 { text += "," }
        Self.appendJSON(field.name, to: &text)
        text += ":"
        field.value.appendJSON(to: &text)
      }
      text += "}"
    }
  }

  private static func appendJSON(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20:
        text += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  /// Parses one JSON document (RFC 8259).
  ///
  /// A number without a decimal point and an exponent is an integer if it fits into 64 bits; any other number is the
  /// nearest double. Text stays text, even if it looks like a date. If two fields have the same name, the first one is
  /// used.
  ///
  /// - Throws: `JSONError` with the byte offset, also for more than ``DocumentLimits/nestingDepth`` levels, and for a
  ///   number beyond the largest double, because infinity would be a different value that JSON cannot represent.
  public init(json text: String) throws(JSONError) { try self.init(json: text.utf8.span) }

  /// Parses one JSON document in UTF-8, like `init(json: String)`.
  ///
  /// - Throws: The same errors, and an error for invalid UTF-8.
  public init(json utf8: Span<UInt8>) throws(JSONError) {
    var tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: DocumentLimits.nestingDepth, tokenByteCount: .max))
    tokens.append(utf8)
    tokens.finish()
    let first = try tokens.next()
    self = try DocumentValue(&tokens, first)
    _ = try tokens.next()
  }

  private init(_ tokens: inout JSONTokenizer, _ token: JSONToken) throws(JSONError) {
    switch token {
    case .null: self = .null
    case .true: self = .bool(true)
    case .false: self = .bool(false)
    case .string: self = .text(tokens.textString)
    case .number:
      guard let value = Self.number(tokens.textString) else { throw .numberTooLarge(offset: tokens.offset) }
      self = value
    case .beginArray:
      var elements: [DocumentValue] = []
      while true {
        let token = try tokens.next()
        if token == .endArray { break }
        elements.append(try DocumentValue(&tokens, token))
      }
      self = .array(elements)
    case .beginObject:
      var fields: [Field] = []
      var known: Set<[UInt8]> = []
      while try tokens.next() == .key {
        let name = tokens.textString
        let token = try tokens.next()
        let value = try DocumentValue(&tokens, token)
        if known.insert(Array(name.utf8)).inserted { fields.append(Field(name, value)) }
      }
      self = .object(fields)
    case .needsInput, .endOfDocument, .key, .endObject, .endArray, .stringPart, .stringEnd:
      // A finished tokenizer that delivers no partial strings returns none of these tokens at the beginning of a value.
      throw .endsEarly(offset: tokens.offset, expected: .value)
    }
  }

  /// The value of a JSON number; `nil` if it is beyond the largest double.
  private static func number(_ text: String) -> DocumentValue? {
    if let value = Int64(text) { return text == "-0" ? .double(-0.0) : .integer(value) }
    if let value = UInt64(text) { return .unsigned(value) }
    guard let value = Double(text), value.isFinite else { return nil }
    return .double(value)
  }
}
