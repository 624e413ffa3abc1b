/// Characters that nobody sees at the ends of a text: white space of all scripts, control characters, and characters
/// without any width.
enum Blanks {
  /// Whether a character is one of them.
  static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x21...0x7E: false
    // The soft hyphen, the Mongolian vowel separator, zero-width characters and marks of direction, the word joiner and
    // invisible operators, isolates, the byte order mark.
    case 0xAD, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0x2066...0x206F, 0xFEFF: true
    // The blank of Braille, and the fillers of Korean.
    case 0x2800, 0x3164, 0xFFA0: true
    default: scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }
  }

  /// Returns a text without blanks at both ends. They are removed as code points: a zero-width joiner belongs to the
  /// character before it.
  static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !contains($0) }),
      let last = scalars.lastIndex(where: { !contains($0) })
    else { return "" }
    return String(scalars[first...last])
  }

  /// Whether a text begins or ends with a blank.
  static func surround(_ text: Span<UInt8>) -> Bool {
    if text.count == 0 { return false }
    // Nearly all texts begin and end with a letter or digit of ASCII.
    if 0x21...0x7E ~= text[0], 0x21...0x7E ~= text[text.count - 1] { return false }
    let scalars = String(copying: text).unicodeScalars
    return [scalars.first, scalars.last].contains { $0.map(contains) ?? false }
  }
}
