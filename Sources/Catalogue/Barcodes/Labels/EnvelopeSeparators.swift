/// How a message of ISO/IEC 15434 has its separators: as control characters, or as the text that a scanner types for
/// them, because a keyboard has no such keys.
///
/// The message itself shows the form: RS follows its first three characters and GS the number of its format.
struct EnvelopeSeparators: Hashable {
  /// The text for RS, between the formats of a message.
  let record: [UInt8]
  /// The text for GS, between the fields of a format.
  let group: [UInt8]
  /// The text for EOT, at the end of a message.
  let end: [UInt8]

  private init(_ record: String, _ group: String, _ end: String) {
    self.record = Array(record.utf8)
    self.group = Array(group.utf8)
    self.end = Array(end.utf8)
  }

  static let controlCharacters = EnvelopeSeparators("\u{1E}", "\u{1D}", "\u{4}")

  /// The forms that scanners send or users report. The last one is that of a keyboard whose control key was lost: RS,
  /// GS and EOT are typed with it as ^, ] and D.
  private static let forms = [
    controlCharacters,
    EnvelopeSeparators("<RS>", "<GS>", "<EOT>"),
    EnvelopeSeparators("{RS}", "{GS}", "{EOT}"),
    EnvelopeSeparators("[RS]", "[GS]", "[EOT]"),
    EnvelopeSeparators("(RS)", "(GS)", "(EOT)"),
    EnvelopeSeparators("␞", "␝", "␄"),
    // The pictures of RS, GS and EOT in code page 437.
    EnvelopeSeparators("▲", "↔", "♦"),
    EnvelopeSeparators("%1E", "%1D", "%04"),
    EnvelopeSeparators("%1e", "%1d", "%04"),
    EnvelopeSeparators("^^", "^]", "^D"),
    EnvelopeSeparators("~d030", "~d029", "~d004"),
    EnvelopeSeparators("^030", "^029", "^004"),
    EnvelopeSeparators("\\x1E", "\\x1D", "\\x04"),
    EnvelopeSeparators("\\x1e", "\\x1d", "\\x04"),
    EnvelopeSeparators("\\u001E", "\\u001D", "\\u0004"),
    EnvelopeSeparators("\\u001e", "\\u001d", "\\u0004"),
    EnvelopeSeparators("\\030", "\\029", "\\004"),
    // U+F70C and U+F70B: function keys of a keyboard.
    EnvelopeSeparators("\u{F70C}", "\u{F70B}", "\u{F704}"),
    EnvelopeSeparators("^", "]", "D"),
  ]

  /// Single characters that scanners are set to send for GS while they drop RS and EOT.
  private static let replacements = "|~#;!@$_\\/\t"

  /// Finds the separators of a message.
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - offset: The offset after `[)>`.
  /// - Returns: The separators, and the offset of the number of the first format; `nil` if there is no such number.
  static func find(in bytes: [UInt8], at offset: Int) -> (separators: EnvelopeSeparators, format: Int)? {
    for form in forms where bytes[offset...].starts(with: form.record) {
      let format = offset + form.record.count
      if isFormat(at: format, in: bytes) { return (form, format) }
    }
    // RS is missing; GS may be there.
    guard isFormat(at: offset, in: bytes) else { return nil }
    let fields = bytes[(offset + 2)...]
    for form in forms where fields.starts(with: form.group) { return (form, offset) }
    if let byte = fields.first, replacements.utf8.contains(byte) {
      return (EnvelopeSeparators("\u{1E}", String(decoding: [byte], as: UTF8.self), "\u{4}"), offset)
    }
    return (controlCharacters, offset)
  }

  private static func isFormat(at offset: Int, in bytes: [UInt8]) -> Bool {
    offset + 2 <= bytes.count && ASCII.isDigit(bytes[offset]) && ASCII.isDigit(bytes[offset + 1])
  }

  /// What can be found at an offset of a message.
  enum Separator {
    case record, group, end
  }

  /// Returns the separator at `offset` of `bytes` and its number of bytes; `nil` if there is none.
  ///
  /// Control characters always separate. `D` alone ends a message only at its last byte and after an RS.
  func separator(at offset: Int, in bytes: [UInt8]) -> (Separator, count: Int)? {
    let byte = bytes[offset]
    switch byte {
    case 0x1E: return (.record, 1)
    case 0x1D: return (.group, 1)
    case 0x04: return (.end, 1)
    case record.first, group.first, end.first, end.first.map(ASCII.lowercased): break
    default: return nil
    }
    let rest = bytes[offset...]
    // A form may begin like another one: ^^ is RS, and ^ alone is RS in another form. The longer one is listed first.
    if rest.starts(with: record) { return (.record, record.count) }
    if rest.starts(with: group) { return (.group, group.count) }
    if end.count > 1 || end.first.map({ $0 < 0x20 }) == true {
      if rest.starts(with: end) { return (.end, end.count) }
    } else if rest.count == 1, ASCII.lowercased(byte) == UInt8(ascii: "d"),
      bytes[..<offset].suffix(record.count).elementsEqual(record)
    {
      return (.end, 1)
    }
    return nil
  }
}
