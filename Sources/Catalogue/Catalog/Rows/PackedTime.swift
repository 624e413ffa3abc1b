/// An encoding of the server's times, `yyyy-MM-dd HH:mm:ss`, in 40 bits instead of 19 bytes.
///
///     bits 0–5 second · 6–11 minute · 12–16 hour · 17–21 day · 22–25 month · 26–39 year
@usableFromInline
enum PackedTime {
  @inlinable @inline(__always)
  static var byteCount: Int { 5 }
  static let textByteCount = 19

  /// Returns the packed bits of `text`; `nil` if it has another form or a number that does not fit its bits.
  static func pack(_ text: RawSpan) -> UInt64? {
    guard text.byteCount == textByteCount, text.u8(at: 4) == 0x2D, text.u8(at: 7) == 0x2D,
      text.u8(at: 10) == 0x20, text.u8(at: 13) == 0x3A, text.u8(at: 16) == 0x3A,
      let century = number(text, 0), let year = number(text, 2), let month = number(text, 5), month < 16,
      let day = number(text, 8), day < 32, let hour = number(text, 11), hour < 32,
      let minute = number(text, 14), minute < 64, let second = number(text, 17), second < 64
    else { return nil }
    return second | minute << 6 | hour << 12 | day << 17 | month << 22 | (century * 100 + year) << 26
  }

  private static func number(_ text: RawSpan, _ offset: Int) -> UInt64? {
    let tens = text.u8(at: offset) &- 0x30
    let ones = text.u8(at: offset + 1) &- 0x30
    return tens < 10 && ones < 10 ? UInt64(tens) * 10 + UInt64(ones) : nil
  }

  /// Returns whether packed bits are a time that can be written as text.
  static func isValid(_ bits: UInt64) -> Bool { bits >> 26 & 0x3FFF <= 9999 }

  /// Returns the text of packed bits.
  static func text(_ bits: UInt64) -> String {
    let year = bits >> 26 & 0x3FFF
    return unsafe String(unsafeUninitializedCapacity: textByteCount) { text in
      // The capacity is nineteen bytes, and all of them are written: two digits each at 0, 2, 5, 8, 11, 14, 17.
      unsafe put(year / 100, text, 0)
      unsafe put(year % 100, text, 2)
      unsafe text[4] = 0x2D
      unsafe put(bits >> 22 & 15, text, 5)
      unsafe text[7] = 0x2D
      unsafe put(bits >> 17 & 31, text, 8)
      unsafe text[10] = 0x20
      unsafe put(bits >> 12 & 31, text, 11)
      unsafe text[13] = 0x3A
      unsafe put(bits >> 6 & 63, text, 14)
      unsafe text[16] = 0x3A
      unsafe put(bits & 63, text, 17)
      return textByteCount
    }
  }

  /// Appends the text of packed bits, which ``text(_:)`` returns as a string.
  static func append(_ bits: UInt64, to text: inout [UInt8]) {
    let year = bits >> 26 & 0x3FFF
    appendDigits(year / 100, to: &text)
    appendDigits(year % 100, to: &text)
    text.append(0x2D)
    appendDigits(bits >> 22 & 15, to: &text)
    text.append(0x2D)
    appendDigits(bits >> 17 & 31, to: &text)
    text.append(0x20)
    appendDigits(bits >> 12 & 31, to: &text)
    text.append(0x3A)
    appendDigits(bits >> 6 & 63, to: &text)
    text.append(0x3A)
    appendDigits(bits & 63, to: &text)
  }

  @inline(__always)
  private static func appendDigits(_ number: UInt64, to text: inout [UInt8]) {
    text.append(0x30 + UInt8(truncatingIfNeeded: number / 10 % 10))
    text.append(0x30 + UInt8(truncatingIfNeeded: number % 10))
  }

  @inline(__always)
  private static func put(_ number: UInt64, _ text: UnsafeMutableBufferPointer<UInt8>, _ offset: Int) {
    let tens = number / 10 % 10
    unsafe text[offset] = 0x30 + UInt8(truncatingIfNeeded: tens)
    unsafe text[offset + 1] = 0x30 + UInt8(truncatingIfNeeded: number % 10)
  }
}
