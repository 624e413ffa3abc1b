import Bytes
import CatalogRows
import LogStore

extension [UInt8] {
  /// Appends the length of `text` (seven bits a byte, lowest first, the high bit set on all but the last) and its bytes.
  mutating func putText(_ text: RawSpan) {
    var count = text.byteCount
    while count >= 0x80 {
      append(UInt8(truncatingIfNeeded: count) | 0x80)
      count >>= 7
    }
    append(UInt8(count))
    append(text)
  }
}

extension RawSpan {
  /// The length that ``Swift/Array/putText(_:)`` wrote at `offset`, and the offset behind it; `nil` if it leads outside.
  @inlinable @inline(__always)
  func textRange(at start: Int) -> Range<Int>? {
    // Most texts are short, and begin no later than they end. As unsigned numbers, so that one comparison leaves out what is below zero, too.
    if UInt(bitPattern: start) < UInt(bitPattern: byteCount) {
      // Inside, as just checked.
      let count = unsafe u8(unchecked: start)
      let end = start &+ 1 &+ Int(count)
      if count < 0x80 { return end <= byteCount ? unsafe Range(uncheckedBounds: (start &+ 1, end)) : nil }
    }
    return longTextRange(at: start)
  }

  @usableFromInline
  func longTextRange(at start: Int) -> Range<Int>? {
    var offset = start
    var count = 0
    var shift = 0
    while offset < byteCount, shift < 35 {
      let byte = u8(at: offset)
      count |= Int(byte & 0x7F) << shift
      offset += 1
      shift += 7
      if byte & 0x80 == 0 { return count <= byteCount - offset ? offset..<(offset + count) : nil }
    }
    return nil
  }

  /// The bytes as a string. What the catalogue stores is UTF-8; anything else would read as replacement characters.
  var string: String {
    // The buffer is used inside the closure only.
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension RawSpan {
  /// The bytes as a string; `nil` if they are not UTF-8.
  ///
  /// Decoding replaces what is not UTF-8, so the text has other bytes then. `String(validating:as:)` does the same, but is not
  /// specialized: it doubles the instructions of reading a product.
  var validString: String? {
    let text = string
    if isASCII { return text }
    return hasSameBytes(as: text.utf8.span.rawSpan) ? text : nil
  }
}

extension TextRow {
  /// The bytes of the text at `index`.
  @_lifetime(borrow self)
  func raw(_ index: Int) -> RawSpan { bytes.rawSpan.extracting(range(index)) }
}
