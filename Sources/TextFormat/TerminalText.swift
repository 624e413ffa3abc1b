/// Text from files, servers and people, written so that it can be read and cannot steer a terminal.
package enum TerminalText {
  /// Whether a character cannot be seen, or changes what is seen: it steers a terminal, turns the direction of what
  /// follows, or ends a line.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// A character by its number: `\u{202E}`.
  package static func number(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }

  /// The text with every hidden character escaped.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - named: Which of line feed, carriage return and tab are written `\n`, `\r` and `\t`. All other hidden characters
  ///     are written by number.
  ///   - marked: Characters that get a backslash before them, such as the quotation mark within quotation marks.
  package static func escaped(_ text: String, named: String = "\n\r\t", marked: String = "") -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if marked.unicodeScalars.contains(scalar) {
        result.append(contentsOf: ["\\", scalar])
      } else if let letter = letters[scalar], named.unicodeScalars.contains(scalar) {
        result.append(contentsOf: ["\\", letter])
      } else if isHidden(scalar) {
        result.append(contentsOf: number(scalar).unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  private static let letters: [Unicode.Scalar: Unicode.Scalar] = ["\n": "n", "\r": "r", "\t": "t"]

  /// The text with a blank for each control character: it neither ends the line nor steers a terminal.
  package static func onOneLine(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The text as ``onOneLine(_:)`` has it, and with every other hidden character by number. The joiner inside of an emoji
  /// stays.
  package static func shown(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    let scalars = Array(onOneLine(text).unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if !isHidden(scalar) || isJoinerOfEmoji(scalars, at: index) {
        result.append(scalar)
      } else {
        result.append(contentsOf: number(scalar).unicodeScalars)
      }
    }
    return String(result)
  }

  private static func isJoinerOfEmoji(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
    scalars[index].value == 0x200D && index > 0 && index + 1 < scalars.count
      && isEmoji(scalars[index - 1]) && isEmoji(scalars[index + 1])
  }

  /// Whether a scalar is a part of an emoji; digits are only where a selector says so.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0xFE0F || scalar.value > 0xFF && scalar.properties.isEmoji
  }

  /// Bytes that need not be text: printable ASCII as it is, and every other byte as `\x1D`.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - escapesBackslash: Whether a backslash is written `\x5C`, so that the bytes can be told from the text.
  package static func escaped(bytes: ArraySlice<UInt8>, escapesBackslash: Bool) -> String {
    var result = ""
    for byte in bytes {
      if (0x20..<0x7F).contains(byte), !(escapesBackslash && byte == UInt8(ascii: "\\")) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "\\x" + Hexadecimal.text(byte)
      }
    }
    return result
  }
}
