/// Normalization of text that was typed or printed rather than scanned.
enum Folding {
  /// Returns `text` with full-width forms (U+FF01 to U+FF5E, as Chinese and Japanese input methods produce them)
  /// converted to ASCII, the ideographic space (U+3000) to a blank, and without format characters, which nobody sees. The
  /// former is the part of Unicode's compatibility normalization NFKC that affects barcodes.
  ///
  /// - Returns: The folded text; `nil` if there is nothing to fold.
  static func plain(_ text: String) -> String? {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return nil }
    var folded = String.UnicodeScalarView()
    var changed = false
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0xFF01...0xFF5E:
        folded.append(Unicode.Scalar(UInt8(scalar.value - 0xFF01 + 0x21)))
        changed = true
      case 0x3000:
        folded.append(" ")
        changed = true
      default:
        if scalar.properties.generalCategory == .format {
          changed = true
        } else {
          folded.append(scalar)
        }
      }
    }
    return changed ? String(folded) : nil
  }

  /// Returns `text` without its blanks if all other characters are digits, as in the human-readable line `4 311501
  /// 615232`.
  ///
  /// - Returns: The digits; `nil` if there is any other character, no digit or no blank.
  static func withoutBlanks(_ text: String) -> String? {
    var digits: [UInt8] = []
    var hasBlank = false
    for byte in text.utf8 {
      if byte == ASCII.blank {
        hasBlank = true
      } else if ASCII.isDigit(byte) {
        digits.append(byte)
      } else {
        return nil
      }
    }
    return hasBlank && !digits.isEmpty ? String(decoding: digits, as: UTF8.self) : nil
  }

  /// Returns a Codabar code without the letters A to D, N, E, T or `*` with which the symbol starts and stops, and which
  /// some scanners send (ISO/IEC 16388 and EN 798).
  ///
  /// - Returns: The code; `nil` if a letter is missing at an end, or nothing is left.
  static func withoutStartAndStop(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    let isLetter = { (byte: UInt8?) in byte.map { "abcdnet*".utf8.contains(ASCII.lowercased($0)) } ?? false }
    guard bytes.count > 2, isLetter(bytes.first), isLetter(bytes.last) else { return nil }
    return String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
  }
}
