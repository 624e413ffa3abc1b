/// The key under which a barcode is found: trimmed, and folded to upper case where letters are ASCII.
///
/// Catalogues hold barcodes with blanks around them, and readers send letters in either case; one key finds all of
/// them, and the stored text tells an exact match from a folded one.
enum CodeKey {
  /// The key of `barcode`, in place of what `key` held.
  static func fold(_ barcode: RawSpan, into key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    let range = trimmed(barcode)
    for offset in range { key.append(upper(barcode.u8(at: offset))) }
  }

  /// The key of `barcode`.
  static func of(_ barcode: RawSpan) -> [UInt8] {
    var key: [UInt8] = []
    fold(barcode, into: &key)
    return key
  }

  /// The key of a text.
  static func of(_ text: String) -> [UInt8] { of(Array(text.utf8).rawSpan) }

  /// Whether `barcode` is its own key: most are, and need no copy.
  @inline(__always)
  static func isFolded(_ barcode: RawSpan) -> Bool {
    let count = barcode.byteCount
    if count < 8 { return areFolded(barcode) }
    var offset = 0
    while offset < count &- 8 {
      if !areFolded(barcode.u64(at: offset)) { return false }
      offset &+= 8
    }
    // The last eight bytes, some of them for the second time.
    return areFolded(barcode.u64(at: count &- 8))
  }

  /// Whether all eight bytes are among `!` … `` ` ``: no blanks, no small letters, nothing beyond ASCII.
  @inline(__always)
  private static func areFolded(_ bytes: UInt64) -> Bool {
    let high: UInt64 = 0x8080_8080_8080_8080
    // A high bit is there already, or comes from 0x61 on by the addition, or is lost below 0x21 by the subtraction.
    // A byte without it carries nothing into its neighbour.
    let above = bytes | (bytes & ~high) &+ 0x1F1F_1F1F_1F1F_1F1F
    let below = ~((bytes | high) &- 0x2121_2121_2121_2121)
    return (above | below) & high == 0
  }

  /// The same for fewer bytes than eight.
  private static func areFolded(_ barcode: RawSpan) -> Bool {
    for offset in 0..<barcode.byteCount {
      let byte = barcode.u8(at: offset)
      if byte <= 0x20 || byte >= 0x61 { return false }
    }
    return true
  }

  @inline(__always)
  static func upper(_ byte: UInt8) -> UInt8 { byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte }

  /// The bytes that are left when blanks and control characters that readers send are cut off at both ends.
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

  /// CR, LF, TAB, blank, NUL, STX, ETX, EOT; never GS, which separates fields.
  private static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00, 0x02, 0x03, 0x04, 0x09, 0x0A, 0x0D, 0x20: true
    default: false
    }
  }

  /// Length of the blank that begins at `offset`; 0 for none.
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

  /// U+00A0.
  private static func isNoBreakSpace(_ text: RawSpan, _ offset: Int) -> Bool {
    text.u8(at: offset) == 0xC2 && text.u8(at: offset + 1) == 0xA0
  }

  /// U+FEFF and U+200B.
  private static func isInvisible(_ text: RawSpan, _ offset: Int) -> Bool {
    switch (text.u8(at: offset), text.u8(at: offset + 1), text.u8(at: offset + 2)) {
    case (0xEF, 0xBB, 0xBF), (0xE2, 0x80, 0x8B): true
    default: false
    }
  }
}
