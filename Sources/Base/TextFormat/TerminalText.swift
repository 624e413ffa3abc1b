/// Escapes text from files, servers and people so that it is readable and cannot control a terminal.
package enum TerminalText {
  /// Whether a character is invisible or changes the display: it controls a terminal, changes the direction of the
  /// following text, or ends a line.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// A character as its number: `\u{202E}`.
  package static func number(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }

  /// The text with every hidden character escaped.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - named: The characters among line feed, carriage return and tab to write as `\n`, `\r` and `\t`. All other
  ///     hidden characters are written as numbers.
  ///   - marked: Characters to escape with a backslash, for example the quotation mark inside quotation marks.
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

  /// The text with each control character replaced by a blank: it neither ends the line nor controls a terminal.
  package static func onOneLine(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The text like ``onOneLine(_:)``, and with every other hidden character as its number. Joiners inside an emoji are
  /// kept.
  package static func shown(_ text: String) -> String {
    // Printable ASCII, which most text is, needs no look at the properties of its characters.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
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

  /// Whether a scalar is part of an emoji; digits are only with a variation selector.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0xFE0F || scalar.value > 0xFF && scalar.properties.isEmoji
  }

  /// Bytes that need not be text: printable ASCII unchanged, and every other byte as `\x1D`.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - escapesBackslash: Whether to write a backslash as `\x5C`, so that the escapes are unambiguous.
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
