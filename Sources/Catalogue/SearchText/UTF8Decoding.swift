import Bytes

/// Decodes and encodes UTF-8, one scalar at a time.
public enum UTF8Decoding {
  /// The scalar at an offset of a text, and how many bytes it has.
  ///
  /// With it a caller walks through the characters of a CJK token:
  ///
  ///     var offset = token.range.lowerBound
  ///     while offset < token.range.upperBound {
  ///       let (scalar, byteCount) = UTF8Decoding.scalar(at: offset, in: folder.bytes)
  ///       offset += byteCount
  ///     }
  ///
  /// Bytes that are not UTF-8 are U+FFFD, once for as many of them as could begin a scalar: the practice of the Unicode
  /// Standard, section 3.9, and what `String(decoding:as:)` does.
  ///
  /// - Parameters:
  ///   - offset: The offset of a byte. Traps if the text has no byte there.
  ///   - utf8: The text.
  public static func scalar(at offset: Int, in utf8: RawSpan) -> (scalar: Unicode.Scalar, byteCount: Int) {
    let (value, byteCount) = value(at: offset, in: utf8)
    // Surrogates and numbers beyond Unicode are never decoded.
    return (Unicode.Scalar(value) ?? "\u{FFFD}", byteCount)
  }

  private static let replacement: UInt32 = 0xFFFD

  /// The same with the scalar as a number.
  @inline(__always)
  static func value(at offset: Int, in utf8: RawSpan) -> (value: UInt32, byteCount: Int) {
    let first = UInt32(utf8.u8(at: offset))
    // How many bytes continue the scalar, and what the first of them may be: neither overlong forms nor surrogates nor
    // numbers beyond Unicode.
    let continuationCount: Int
    let second: ClosedRange<UInt8>
    var scalar: UInt32
    switch first {
    case 0..<0x80: return (first, 1)
    case 0xC2..<0xE0: (continuationCount, second, scalar) = (1, 0x80...0xBF, first & 0x1F)
    case 0xE0: (continuationCount, second, scalar) = (2, 0xA0...0xBF, 0)
    case 0xED: (continuationCount, second, scalar) = (2, 0x80...0x9F, 0xD)
    case 0xE1..<0xF0: (continuationCount, second, scalar) = (2, 0x80...0xBF, first & 0xF)
    case 0xF0: (continuationCount, second, scalar) = (3, 0x90...0xBF, 0)
    case 0xF1..<0xF4: (continuationCount, second, scalar) = (3, 0x80...0xBF, first & 7)
    case 0xF4: (continuationCount, second, scalar) = (3, 0x80...0x8F, 4)
    default: return (replacement, 1)
    }
    for index in 1...continuationCount {
      if offset + index == utf8.byteCount { return (replacement, index) }
      let byte = utf8.u8(at: offset + index)
      let isValid = index == 1 ? second.contains(byte) : byte & 0xC0 == 0x80
      if !isValid { return (replacement, index) }
      scalar = scalar << 6 | UInt32(byte & 0x3F)
    }
    return (scalar, continuationCount + 1)
  }

  /// Writes a scalar that is not ASCII.
  ///
  /// - Parameters:
  ///   - scalar: A Unicode scalar from U+0080 on.
  ///   - offset: Where to write it. There must be room for four bytes, or as many as the scalar has.
  ///   - buffer: The bytes.
  /// - Returns: How many bytes the scalar has.
  @inline(__always)
  static func encode(_ scalar: UInt32, at offset: Int, in buffer: inout [UInt8]) -> Int {
    var output = buffer.mutableSpan
    if scalar < 0x800 {
      output[offset] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
      output[offset + 1] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
      return 2
    }
    if scalar < 0x10000 {
      output[offset] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
      output[offset + 1] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F)
      output[offset + 2] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
      return 3
    }
    output[offset] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
    output[offset + 1] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3F)
    output[offset + 2] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F)
    output[offset + 3] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
    return 4
  }
}
