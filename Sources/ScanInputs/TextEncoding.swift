import CDaemon

/// How the characters of a code are bytes.
public enum TextEncoding: String, Sendable, CaseIterable {
  /// UTF-8, of which ASCII is a part.
  case utf8 = "utf-8"
  /// ISO 8859-1: each byte is the character with its number.
  case latin1 = "latin-1"
  /// GB 18030, of which GBK and GB 2312 are parts.
  case gb18030
  /// Shift-JIS as Windows has it (code page 932).
  case shiftJIS = "shift-jis"

  /// Whether this system can decode it. glibc loads the converters of the last two encodings from files, which a small
  /// installation may lack.
  public var isAvailable: Bool {
    switch self {
    case .utf8, .latin1: true
    case .gb18030, .shiftJIS: text([UInt8(ascii: "a")]) != nil
    }
  }

  /// The text of bytes; `nil` if they are not text in this encoding.
  ///
  /// The C library's `iconv` decodes the two encodings of East Asia. FoundationEssentials does not know them, and Foundation
  /// brings the whole of ICU for them.
  ///
  /// - Complexity: O(bytes).
  func text(_ bytes: [UInt8]) -> String? {
    switch self {
    case .utf8: return String(validating: bytes, as: UTF8.self)
    case .latin1:
      var text = String.UnicodeScalarView()
      text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
      return String(text)
    case .gb18030: return Self.decode(bytes, CInt(SHELFMARK_GB18030))
    case .shiftJIS: return Self.decode(bytes, CInt(SHELFMARK_SHIFT_JIS))
    }
  }

  private static func decode(_ bytes: [UInt8], _ encoding: CInt) -> String? {
    // No character of one or two bytes has more than three in UTF-8, and none of four has more than four.
    let capacity = 3 * bytes.count
    var count = 0
    // The function reads and writes as many bytes as it is told that there are, and says how many it has written.
    let text = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
      count = unsafe shelfmark_decode_text(encoding, bytes, bytes.count, buffer.baseAddress, capacity)
      filled = max(0, count)
    }
    return count < 0 ? nil : String(validating: text, as: UTF8.self)
  }

  /// Whether a byte may be the second or a later one of a character, and then ends no line.
  public func isInsideCharacters(_ byte: UInt8) -> Bool {
    switch self {
    case .utf8: byte >= 0x80
    case .latin1: false
    case .gb18030: (0x30...0x39).contains(byte) || (0x40...0xFE).contains(byte) && byte != 0x7F
    case .shiftJIS: (0x40...0xFC).contains(byte) && byte != 0x7F
    }
  }
}
