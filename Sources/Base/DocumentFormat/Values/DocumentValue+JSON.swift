import Essentials
public import JSONFormat

extension JSONText {
  /// A document's value; see `DocumentValue.json`.
  package static func document(_ value: DocumentValue) -> JSONText { .raw(value.jsonBytes) }
}

extension DocumentValue {
  /// The value as JSON on one line.
  ///
  /// JSON has no dates, no binary data and no infinite numbers: dates become the text of ``DateText``, bytes become
  /// base64, and NaN and the infinities become `"NaN"`, `"Infinity"` and `"-Infinity"`. Parsing them again gives text.
  public var json: String { String(decoding: jsonBytes, as: UTF8.self) }

  /// The value as JSON on one line, in UTF-8; see ``json``.
  package var jsonBytes: [UInt8] {
    var bytes: [UInt8] = []
    appendJSON(to: &bytes)
    return bytes
  }

  private func appendJSON(to json: inout [UInt8]) {
    switch self {
    case .null: json += "null".utf8
    case .bool(let value): json += (value ? "true" : "false").utf8
    case .integer(let value): json += String(value).utf8
    case .unsigned(let value): json += String(value).utf8
    case .double(let value): json += Self.json(value).utf8
    case .text(let value): JSONWriter.append(text: value, to: &json, escaping: [])
    case .bytes(let value): json += "\"\(Data(value).base64EncodedString())\"".utf8
    case .date(let value): json += "\"\(DateText.text(value))\"".utf8
    case .array(let elements): JSONWriter.append(elements, in: .array, to: &json) { $0.appendJSON(to: &$1) }
    case .object(let fields):
      JSONWriter.append(fields, in: .object, to: &json) { field, json in
        JSONWriter.append(text: field.name, to: &json, escaping: [])
        json.append(UInt8(ascii: ":"))
        field.value.appendJSON(to: &json)
      }
    }
  }

  private static func json(_ value: Double) -> String {
    if value.isFinite { return String(value) }
    return value.isNaN ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\""
  }

  /// Parses one JSON document (RFC 8259).
  ///
  /// A number without a decimal point and an exponent is an integer if it fits into 64 bits; any other number is the
  /// nearest double. Text stays text, even if it looks like a date.
  ///
  /// - Throws: `JSONError` with the byte offset, also for more than ``DocumentLimits/nestingDepth`` levels, for a
  ///   number beyond the largest double, because infinity would be a different value that JSON cannot represent, and
  ///   for two fields of one object with the same name, because nobody can tell which one was meant.
  public init(json text: String) throws(JSONError) { try self.init(json: text.utf8.span) }

  /// Parses one JSON document in UTF-8, like `init(json: String)`.
  ///
  /// - Throws: The same errors, and an error for invalid UTF-8.
  public init(json utf8: Span<UInt8>) throws(JSONError) { try self.init(json: utf8, repeatedKeys: .refused) }

  /// The treatment of two fields of one object with the same name.
  package enum RepeatedKeys: Sendable {
    case refused
    /// The first one is used: for text that another program chose, and that is passed on as it is.
    case firstCounts
  }

  /// Parses one JSON document in UTF-8, like `init(json: Span<UInt8>)`.
  package init(json utf8: Span<UInt8>, repeatedKeys: RepeatedKeys) throws(JSONError) {
    var tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: DocumentLimits.nestingDepth, tokenByteCount: .max))
    tokens.append(utf8)
    tokens.finish()
    let first = try tokens.next()
    self = try DocumentValue(&tokens, first, repeatedKeys)
    _ = try tokens.next()
  }

  private init(
    _ tokens: inout JSONTokenizer, _ token: JSONToken, _ repeatedKeys: RepeatedKeys
  ) throws(JSONError) {
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
        elements.append(try DocumentValue(&tokens, token, repeatedKeys))
      }
      self = .array(elements)
    case .beginObject:
      var fields: [Field] = []
      var known: Set<[UInt8]> = []
      while try tokens.next() == .key {
        let name = tokens.textString
        let isNew = known.insert(Array(name.utf8)).inserted
        if !isNew, repeatedKeys == .refused { throw .repeatedKey(name, offset: tokens.tokenOffset) }
        let token = try tokens.next()
        let value = try DocumentValue(&tokens, token, repeatedKeys)
        if isNew { fields.append(Field(name, value)) }
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
