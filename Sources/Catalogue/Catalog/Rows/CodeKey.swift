/// The key under which a barcode is found: the barcode trimmed, with ASCII letters folded to upper case.
///
/// Catalogues contain barcodes with surrounding blanks, and scanners send letters in either case. One key finds all of
/// these spellings. Comparing the stored text distinguishes an exact match from a folded one.
enum CodeKey {
  /// Replaces the contents of `key` with the key of `barcode`.
  static func fold(_ barcode: RawSpan, into key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    let range = trimmed(barcode)
    for offset in range { key.append(upper(barcode.u8(at: offset))) }
  }

  /// Returns the key of `barcode`.
  static func of(_ barcode: RawSpan) -> [UInt8] {
    var key: [UInt8] = []
    fold(barcode, into: &key)
    return key
  }

  /// Returns the key of a text.
  static func of(_ text: String) -> [UInt8] { of(Array(text.utf8).rawSpan) }

  /// Returns whether `text` is `key` if surrounding blanks are removed and letters are in upper case.
  static func equals(_ text: RawSpan, _ key: RawSpan) -> Bool {
    let range = trimmed(text)
    guard range.count == key.byteCount else { return false }
    for offset in 0..<key.byteCount where upper(text.u8(at: range.lowerBound + offset)) != key.u8(at: offset) {
      return false
    }
    return true
  }

  /// Returns whether `barcode` is its own key. Most barcodes are, and need no copy.
  @inline(__always)
  static func isFolded(_ barcode: RawSpan) -> Bool {
    let count = barcode.byteCount
    if count < 8 { return areFolded(barcode) }
    var offset = 0
    while offset < count &- 8 {
      if !areFolded(barcode.u64(at: offset)) { return false }
      offset &+= 8
    }
    // Check the last eight bytes; they may overlap those already checked.
    return areFolded(barcode.u64(at: count &- 8))
  }

  /// Returns whether all eight bytes are in `!` … `` ` ``: no blanks, no lower-case letters, nothing beyond ASCII.
  @inline(__always)
  private static func areFolded(_ bytes: UInt64) -> Bool {
    let high: UInt64 = 0x8080_8080_8080_8080
    // The high bit of a byte is already set (non-ASCII), is set by the addition (from 0x61 on), or is cleared by the
    // subtraction (below 0x21). Bytes without it carry nothing into the next byte.
    let above = bytes | (bytes & ~high) &+ 0x1F1F_1F1F_1F1F_1F1F
    let below = ~((bytes | high) &- 0x2121_2121_2121_2121)
    return (above | below) & high == 0
  }

  /// Returns the same for fewer than eight bytes.
  private static func areFolded(_ barcode: RawSpan) -> Bool {
    for offset in 0..<barcode.byteCount {
      let byte = barcode.u8(at: offset)
      if byte <= 0x20 || byte >= 0x61 { return false }
    }
    return true
  }

  @inline(__always)
  static func upper(_ byte: UInt8) -> UInt8 { byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte }

  /// Returns the range that remains after removing blanks and the control characters that scanners send from both ends.
  static func trimmed(_ text: RawSpan) -> Range<Int> {
    var start = 0
    var end = text.byteCount
    while start < end {
      let count = blank(text, at: start, end: end)
      if count == 0 { break }
      start += count
    }
    while end > start {
      let count = blank(text, endingAt: end, start: start)
      if count == 0 { break }
      end -= count
    }
    return start..<end
  }

  /// Returns whether `byte` is CR, LF, TAB, blank, NUL, STX, ETX or EOT. GS is never a blank: it separates fields.
  private static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00, 0x02, 0x03, 0x04, 0x09, 0x0A, 0x0D, 0x20: true
    default: false
    }
  }

  /// Returns the length of the blank at `offset`; 0 if there is no blank.
  private static func blank(_ text: RawSpan, at offset: Int, end: Int) -> Int {
    if isBlank(text.u8(at: offset)) { return 1 }
    if end - offset >= 2, isNoBreakSpace(text, offset) { return 2 }
    if end - offset >= 3, isInvisible(text, offset) { return 3 }
    return 0
  }

  private static func blank(_ text: RawSpan, endingAt end: Int, start: Int) -> Int {
    if isBlank(text.u8(at: end - 1)) { return 1 }
    if end - start >= 2, isNoBreakSpace(text, end - 2) { return 2 }
    if end - start >= 3, isInvisible(text, end - 3) { return 3 }
    return 0
  }

  /// Returns whether U+00A0 is at `offset`.
  private static func isNoBreakSpace(_ text: RawSpan, _ offset: Int) -> Bool {
    text.u8(at: offset) == 0xC2 && text.u8(at: offset + 1) == 0xA0
  }

  /// Returns whether U+FEFF or U+200B is at `offset`.
  private static func isInvisible(_ text: RawSpan, _ offset: Int) -> Bool {
    switch (text.u8(at: offset), text.u8(at: offset + 1), text.u8(at: offset + 2)) {
    case (0xEF, 0xBB, 0xBF), (0xE2, 0x80, 0x8B): true
    default: false
    }
  }
}
