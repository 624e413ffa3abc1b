internal import JSONFormat

/// The format in which the values of a database column are written as JSON.
enum DatabaseValue: Sendable, CaseIterable {
  case text, number, boolean, json
  /// A text of a fixed length, which the server fills with spaces.
  case padded

  /// The kind for a type, which is an object identifier of PostgreSQL's catalogue `pg_type`.
  init(type: UInt32) {
    switch type {
    case ColumnType.bool: self = .boolean
    case ColumnType.int2, ColumnType.int4, ColumnType.int8, ColumnType.numeric, ColumnType.float4, ColumnType.float8:
      self = .number
    case ColumnType.json, ColumnType.jsonb: self = .json
    case ColumnType.bpchar: self = .padded
    default: self = .text
    }
  }

  /// Appends a value as JSON on one line.
  ///
  /// A number or Boolean that JSON cannot represent, such as `NaN`, becomes a text. A value of the type `json` is not
  /// changed.
  ///
  /// - Parameter value: The value as the server writes it; `nil` for NULL.
  func append(_ value: Span<UInt8>?, to json: inout [UInt8]) {
    guard let value else {
      json += "null".utf8
      return
    }
    switch self {
    case .boolean where value.count == 1 && value[0] == UInt8(ascii: "t"): json += "true".utf8
    case .boolean where value.count == 1 && value[0] == UInt8(ascii: "f"): json += "false".utf8
    case .number where Self.isNumber(value): json.append(copying: value)
    case .json:
      // White space between values may have line ends; strings have none.
      for index in value.indices { json.append(value[index] == 0x0A || value[index] == 0x0D ? 0x20 : value[index]) }
    default: JSONWriter.append(text: value.extracting(0..<byteCount(value)), to: &json)
    }
  }

  /// The number of bytes of a value without the spaces that only fill it up.
  func byteCount(_ value: Span<UInt8>) -> Int {
    var end = value.count
    guard self == .padded else { return end }
    while end > 0, value[end - 1] == 0x20 { end -= 1 }
    return end
  }

  /// Whether a text is a number by RFC 8259.
  private static func isNumber(_ text: Span<UInt8>) -> Bool {
    var index = 0
    /// Skips one of two bytes.
    func pass(_ one: Unicode.Scalar, _ other: Unicode.Scalar? = nil) -> Bool {
      guard index < text.count, [one, other].contains(Unicode.Scalar(text[index])) else { return false }
      index += 1
      return true
    }
    /// Skips digits, and returns their number.
    func passDigits() -> Int {
      let start = index
      while index < text.count, text[index] &- UInt8(ascii: "0") <= 9 { index += 1 }
      return index - start
    }
    _ = pass("-")
    let hasLeadingZero = index < text.count && text[index] == UInt8(ascii: "0")
    let count = passDigits()
    guard count > 0, count == 1 || !hasLeadingZero else { return false }
    if pass("."), passDigits() == 0 { return false }
    if pass("e", "E") {
      _ = pass("+", "-")
      if passDigits() == 0 { return false }
    }
    return index == text.count
  }
}
