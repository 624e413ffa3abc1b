import CDaemon

/// The character encoding of codes.
public enum TextEncoding: String, Sendable, CaseIterable {
  /// UTF-8, which includes ASCII.
  case utf8 = "utf-8"
  /// ISO 8859-1: each byte is the character with the same code point.
  case latin1 = "latin-1"
  /// GB 18030, which includes GBK and GB 2312.
  case gb18030
  /// Shift-JIS in the variant of Windows (code page 932).
  case shiftJIS = "shift-jis"

  /// Whether this system can decode it. glibc loads the converters of the last two encodings from files, which a
  /// minimal installation may lack.
  public var isAvailable: Bool {
    switch self {
    case .utf8, .latin1: true
    case .gb18030, .shiftJIS: text([UInt8(ascii: "a")]) != nil
    }
  }

  /// Decodes bytes; `nil` if they are not valid in this encoding.
  ///
  /// The C library's `iconv` decodes the two East Asian encodings. FoundationEssentials does not support them, and
  /// Foundation requires all of ICU for them.
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
    // A character of one or two bytes has at most three bytes in UTF-8, and one of four has at most four.
    let capacity = 3 * bytes.count
    var count = 0
    // The function reads and writes at most the given numbers of bytes, and returns the number written.
    let text = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
      count = unsafe shelfmark_decode_text(encoding, bytes, bytes.count, buffer.baseAddress, capacity)
      filled = max(0, count)
    }
    return count < 0 ? nil : String(validating: text, as: UTF8.self)
  }

  /// Whether a byte may be the second or a later byte of a character, and so cannot be a line end.
  public func isInsideCharacters(_ byte: UInt8) -> Bool {
    switch self {
    case .utf8: byte >= 0x80
    case .latin1: false
    case .gb18030: (0x30...0x39).contains(byte) || (0x40...0xFE).contains(byte) && byte != 0x7F
    case .shiftJIS: (0x40...0xFC).contains(byte) && byte != 0x7F
    }
  }
}
