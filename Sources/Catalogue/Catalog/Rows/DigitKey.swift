import Bytes

/// The key under which a code of the table of codes is found: the key of a barcode, with digits packed.
///
/// Nearly all codes are digits. A key of 1 to 18 digits is written as the byte 255 and a number, big-endian without
/// zeros in front: the digits with a 1 before them, which keeps their zeros. No other key begins with that byte, which
/// UTF-8 does not have.
enum DigitKey {
  /// The first byte of a packed key.
  static let mark: UInt8 = 0xFF
  /// The maximum number of digits of a packed key.
  static let maximumDigitCount = 18

  /// Appends the key of a folded barcode.
  static func append(_ folded: RawSpan, to key: inout [UInt8]) {
    guard let number = number(folded) else { return key.append(folded) }
    key.append(mark)
    append(number, to: &key)
  }

  /// A packed key on the stack.
  struct Packed {
    private var storage = InlineArray<9, UInt8>(repeating: 0)
    private let count: Int

    /// - Parameter number: The digits with a 1 before them, as ``number(_:)`` returns them.
    init(_ number: UInt64) {
      let length = (71 - number.leadingZeroBitCount) / 8
      storage[0] = DigitKey.mark
      for index in 0..<length { storage[length - index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
      count = length + 1
    }

    /// The bytes of the key.
    var bytes: RawSpan {
      @_lifetime(borrow self)
      borrowing get { storage.span.rawSpan.extracting(0..<count) }
    }
  }

  /// Replaces the contents of `key` with the key of a folded barcode.
  static func make(of folded: RawSpan, into key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    append(folded, to: &key)
  }

  /// Returns the key of a folded barcode.
  static func of(_ folded: RawSpan) -> [UInt8] {
    var key: [UInt8] = []
    append(folded, to: &key)
    return key
  }

  /// Returns the length of the key of a folded barcode.
  static func byteCount(of folded: RawSpan) -> Int {
    number(folded).map { 1 + (71 - $0.leadingZeroBitCount) / 8 } ?? folded.byteCount
  }

  /// Appends the text of a key: its digits, or the key itself if it is not packed.
  static func appendText(of key: RawSpan, to text: inout [UInt8]) {
    guard let number = packedNumber(key) else { return text.append(key) }
    text += String(number).utf8.dropFirst()
  }

  /// Whether a key that begins with the mark is one that ``append(_:to:)`` writes.
  static func isValid(_ key: RawSpan) -> Bool {
    guard key.byteCount > 0, key.u8(at: 0) == mark else { return true }
    guard let number = packedNumber(key) else { return false }
    return hasDigits(number)
  }

  /// Whether a number is one that ``number(_:)`` returns for some digits: in decimal, a 1 before them.
  static func hasDigits(_ number: UInt64) -> Bool {
    var power: UInt64 = 10
    while power <= number / 10 { power *= 10 }
    return number >= power && number < 2 * power
  }

  /// Returns the digits of a text with a 1 before them; `nil` if it is not 1 to 18 digits.
  static func number(_ text: RawSpan) -> UInt64? {
    guard (1...maximumDigitCount).contains(text.byteCount) else { return nil }
    var number: UInt64 = 1
    for offset in 0..<text.byteCount {
      let digit = text.u8(at: offset) &- UInt8(ascii: "0")
      if digit >= 10 { return nil }
      number = number &* 10 &+ UInt64(digit)
    }
    return number
  }

  private static func append(_ number: UInt64, to key: inout [UInt8]) {
    let count = (71 - number.leadingZeroBitCount) / 8
    for index in (0..<count).reversed() { key.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
  }

  /// Returns the number of a packed key; `nil` for any other key.
  private static func packedNumber(_ key: RawSpan) -> UInt64? {
    guard (2...9).contains(key.byteCount), key.u8(at: 0) == mark else { return nil }
    var number: UInt64 = 0
    for offset in 1..<key.byteCount { number = number << 8 | UInt64(key.u8(at: offset)) }
    return number <= 1_999_999_999_999_999_999 && key.u8(at: 1) != 0 ? number : nil
  }
}
