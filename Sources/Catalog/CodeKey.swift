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

  /// The key of a text.
  static func of(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var key: [UInt8] = []
    fold(bytes.rawSpan, into: &key)
    return key
  }

  /// Whether `barcode` is its own key: most are, and need no copy.
  @inline(__always)
  static func isFolded(_ barcode: RawSpan) -> Bool {
    let count = barcode.byteCount
    if count == 0 { return true }
    for offset in 0..<count {
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
