/// Normalization of text that was typed or printed rather than scanned.
enum Folding {
  /// Returns `text` with full-width forms (U+FF01 to U+FF5E, as Chinese and Japanese input methods produce them)
  /// converted to ASCII and the ideographic space (U+3000) to a blank. This is the part of Unicode's compatibility
  /// normalization NFKC that affects barcodes.
  ///
  /// - Returns: The folded text; `nil` if there is nothing to fold.
  static func halfWidth(_ text: String) -> String? {
    // In UTF-8 these characters begin with one of two bytes, which most scans do not contain.
    guard text.utf8.contains(where: { $0 == 0xEF || $0 == 0xE3 }) else { return nil }
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
        folded.append(scalar)
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
}
