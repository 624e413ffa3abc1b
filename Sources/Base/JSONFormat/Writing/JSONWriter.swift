import TextFormat

/// The characters of a string to escape in addition to those that JSON requires, and the form of escapes.
///
/// JSON requires escapes for the quotation mark, the backslash and the characters below U+0020 (RFC 8259, 7). Line
/// feed, carriage return and tab are always written as `\n`, `\r` and `\t`.
package struct JSONEscaping: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Write backspace and form feed as `\b` and `\f`, not `\u0008` and `\u000c`.
  package static let shortForms = JSONEscaping(rawValue: 1)
  /// Write hexadecimal digits in upper case, as in `\u001D`.
  package static let uppercaseDigits = JSONEscaping(rawValue: 2)
  /// Escape U+007F.
  package static let delete = JSONEscaping(rawValue: 4)
  /// Escape U+0080 to U+009F, U+2028 and U+2029, which terminals and line readers may interpret.
  package static let unicodeControls = JSONEscaping(rawValue: 8)
}

/// The brackets around an array or an object.
package enum JSONBrackets {
  case array, object

  fileprivate var bytes: (open: UInt8, close: UInt8) {
    switch self {
    case .array: (UInt8(ascii: "["), UInt8(ascii: "]"))
    case .object: (UInt8(ascii: "{"), UInt8(ascii: "}"))
    }
  }
}

/// A writer of JSON strings, numbers and punctuation.
package enum JSONWriter {
  /// Appends elements with commas between them, in brackets.
  ///
  /// - Parameters:
  ///   - elements: The elements of an array, or the fields of an object.
  ///   - brackets: Whether the elements are an array or an object.
  ///   - json: The bytes to append to.
  ///   - write: Appends one element; for an object, its name, a colon and its value.
  package static func append<Elements: Sequence>(
    _ elements: Elements, in brackets: JSONBrackets, to json: inout [UInt8],
    write: (Elements.Element, inout [UInt8]) -> Void
  ) {
    json.append(brackets.bytes.open)
    var isFirst = true
    for element in elements {
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      write(element, &json)
    }
    json.append(brackets.bytes.close)
  }

  /// Appends a text as a JSON string with its quotation marks.
  ///
  /// - Parameters:
  ///   - text: The text, which must be valid UTF-8.
  ///   - json: The bytes to append to.
  ///   - escaping: The characters to escape in addition to those that JSON requires.
  package static func append(
    text: Span<UInt8>, to json: inout [UInt8], escaping: JSONEscaping = .shortForms
  ) {
    json.append(UInt8(ascii: "\""))
    var start = 0
    var index = 0
    while index < text.count {
      let length = escapedLength(text, index, escaping)
      if length == 0 {
        index += 1
        continue
      }
      json.append(copying: text.extracting(start..<index))
      appendEscape(text.extracting(index..<index + length), to: &json, escaping)
      index += length
      start = index
    }
    json.append(copying: text.extracting(start..<text.count))
    json.append(UInt8(ascii: "\""))
  }

  /// Appends a text as a JSON string with its quotation marks.
  package static func append(text: String, to json: inout [UInt8], escaping: JSONEscaping = .shortForms) {
    append(text: text.utf8.span, to: &json, escaping: escaping)
  }

  /// A text as a JSON string with its quotation marks.
  package static func string(_ text: String, escaping: JSONEscaping = .shortForms) -> String {
    var json: [UInt8] = []
    append(text: text, to: &json, escaping: escaping)
    return String(decoding: json, as: UTF8.self)
  }

  /// Appends a number in the shortest form that reads back as the same value, integers as `1.0`. An infinite double and
  /// NaN have no form in JSON and are written as `null`.
  package static func append(_ value: Double, to json: inout [UInt8]) {
    json += (value.isFinite ? value.description : "null").utf8
  }

  /// The number of bytes of the character at `index` if it is escaped; 0 if it is not.
  @inline(__always)
  private static func escapedLength(_ text: Span<UInt8>, _ index: Int, _ escaping: JSONEscaping) -> Int {
    let byte = text[index]
    if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return 1 }
    if byte < 0x7F { return 0 }
    if byte == 0x7F { return escaping.contains(.delete) ? 1 : 0 }
    return escaping.contains(.unicodeControls) ? controlLength(text, index) : 0
  }

  /// The number of bytes of a character from U+0080 to U+009F, or of U+2028 or U+2029; 0 for any other character.
  private static func controlLength(_ text: Span<UInt8>, _ index: Int) -> Int {
    if text[index] == 0xC2 { return text[index + 1] < 0xA0 ? 2 : 0 }
    let isSeparator = text[index] == 0xE2 && text[index + 1] == 0x80 && (0xA8...0xA9).contains(text[index + 2])
    return isSeparator ? 3 : 0
  }

  private static func appendEscape(_ character: Span<UInt8>, to json: inout [UInt8], _ escaping: JSONEscaping) {
    json.append(UInt8(ascii: "\\"))
    switch character[0] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): json.append(character[0])
    case 0x08 where escaping.contains(.shortForms): json.append(UInt8(ascii: "b"))
    case 0x09: json.append(UInt8(ascii: "t"))
    case 0x0A: json.append(UInt8(ascii: "n"))
    case 0x0C where escaping.contains(.shortForms): json.append(UInt8(ascii: "f"))
    case 0x0D: json.append(UInt8(ascii: "r"))
    default:
      json.append(UInt8(ascii: "u"))
      // In a two-byte character the second byte is the character's number; U+2028 and U+2029 are the only three-byte
      // ones.
      let high: UInt8 = character.count == 3 ? 0x20 : 0
      let low = character.count == 3 ? character[2] - 0x80 : character[character.count - 1]
      for byte in [high, low] {
        let digits = Hexadecimal.digits(byte, escaping.contains(.uppercaseDigits) ? .uppercase : .lowercase)
        json += [digits.high, digits.low]
      }
    }
  }
}
