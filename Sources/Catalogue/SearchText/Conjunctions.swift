import Bytes

/// The word *and* of English, German, French, Spanish and Italian, and the signs for it.
///
/// A sign separates words, so a folded text does not have it.
package enum Conjunctions {
  private static let words = ["and", "und", "et", "y", "e"].map { Array($0.utf8) }

  /// Whether a folded word is *and* in one of the languages.
  package static func isWord(_ word: RawSpan) -> Bool {
    // Most words are longer.
    word.byteCount <= 3 && words.contains { word.hasSameBytes(as: $0.rawSpan) }
  }

  /// Whether a text has `&` or `+`, in any width.
  package static func hasSign(_ utf8: RawSpan) -> Bool {
    for offset in 0..<utf8.byteCount {
      switch utf8.u8(at: offset) {
      case UInt8(ascii: "&"), UInt8(ascii: "+"): return true
      case 0xEF:
        // U+FF06 and U+FF0B are full width, U+FE60 and U+FE62 small.
        guard offset + 2 < utf8.byteCount else { continue }
        switch (utf8.u8(at: offset + 1), utf8.u8(at: offset + 2)) {
        case (0xBC, 0x86), (0xBC, 0x8B), (0xB9, 0xA0), (0xB9, 0xA2): return true
        default: continue
        }
      default: continue
      }
    }
    return false
  }
}
