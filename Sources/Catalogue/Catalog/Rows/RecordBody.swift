public import Bytes
import CatalogRows
import LogStore

extension [UInt8] {
  /// Appends the length of `text` (seven bits per byte, lowest first, the high bit set on all but the last byte) and
  /// its bytes.
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
  /// Returns the length that ``Swift/Array/putText(_:)`` wrote at `offset` and the offset after it; `nil` if they are
  /// out of bounds.
  @inlinable @inline(__always)
  func textRange(at start: Int) -> Range<Int>? {
    // Most texts are short and begin before the end. Comparing as unsigned numbers also excludes negative offsets.
    if UInt(bitPattern: start) < UInt(bitPattern: byteCount) {
      // In bounds, as just checked.
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

  /// The bytes as a string. The catalogue stores UTF-8; anything else reads as replacement characters.
  var string: String {
    // The buffer is used only inside the closure.
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension RawSpan {
  /// Whether the bytes are UTF-8.
  var isUTF8: Bool {
    if isASCII { return true }
    // The buffer is used only inside the closure, and a byte has no alignment.
    return unsafe withUnsafeBytes {
      unsafe (try? UTF8Span(validating: $0.assumingMemoryBound(to: UInt8.self).span)) != nil
    }
  }

  /// The bytes as a string; `nil` if they are not UTF-8.
  ///
  /// Decoding replaces invalid UTF-8, so the text then has different bytes. `String(validating:as:)` does the same but
  /// is not specialized: it doubles the number of instructions for reading a product.
  var validString: String? {
    let text = string
    if isASCII { return text }
    return hasSameBytes(as: text.utf8.span.rawSpan) ? text : nil
  }
}

extension TextRow {
  /// Returns the bytes of the text at `index`.
  @_lifetime(borrow self)
  func raw(_ index: Int) -> RawSpan { bytes.rawSpan.extracting(range(index)) }

  /// Sets the text at `index` to bytes, which must be valid UTF-8.
  mutating func set(_ index: Int, _ utf8: RawSpan) { set(index) { $0.append(utf8) } }
}
