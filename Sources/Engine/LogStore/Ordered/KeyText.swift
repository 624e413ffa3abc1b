import Bytes

/// The text of a key of an ordered index with fragments, and the fragments by which keys with a given text are found.
enum KeyText {
  /// Returns the key without its first byte, up to its first zero byte.
  @_lifetime(copy key)
  static func text(of key: RawSpan) -> RawSpan {
    if key.byteCount == 0 { return key }
    var end = 1
    while end < key.byteCount, key.u8(at: end) != 0 { end += 1 }
    return key.slice(1, end - 1)
  }

  /// Calls `body` with the offset and length of each fragment of `text` that begins at `first` or later: three bytes,
  /// or four if all are ASCII digits.
  @inline(__always)
  static func forEachFragment(of text: RawSpan, from first: Int = 0, _ body: (Int, Int) -> Void) {
    var start = first
    while start + 3 <= text.byteCount {
      body(start, hasFourDigits(text, start) ? 4 : 3)
      start += 1
    }
  }

  @inline(__always)
  private static func hasFourDigits(_ text: RawSpan, _ start: Int) -> Bool {
    guard start + 4 <= text.byteCount else { return false }
    return hasThreeDigits(text, start) && isDigit(text.u8(at: start + 3))
  }

  @inline(__always)
  static func hasThreeDigits(_ text: RawSpan, _ start: Int) -> Bool {
    isDigit(text.u8(at: start)) && isDigit(text.u8(at: start + 1)) && isDigit(text.u8(at: start + 2))
  }

  @inline(__always)
  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// Returns where the first occurrence of a part of the text of a key ends, as an offset in the key; 0 if its text does
  /// not contain the part from `start` on.
  static func end(of part: RawSpan, in key: RawSpan, from start: Int) -> Int {
    let count = part.byteCount
    let first = part.u8(at: 0)
    var place = max(1, start)
    while place + count <= key.byteCount {
      if key.u8(at: place) == first, key.slice(place, count).hasSameBytes(as: part) {
        for offset in 1..<place + count where key.u8(at: offset) == 0 { return 0 }
        return place + count
      }
      place += 1
    }
    return 0
  }
}
