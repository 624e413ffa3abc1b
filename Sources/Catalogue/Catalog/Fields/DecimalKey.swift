import Bytes

/// The order-preserving key of a decimal number: keys compare bytewise as the numbers do, and equal numbers have equal
/// keys, however they are written.
///
/// A number is 0, or its magnitude is at least 10⁻³⁰⁰ and less than 10³⁰⁰. So it has a nearest double, and so has the sum
/// of the numbers of all products that fit a file.
///
///     missing:  00
///     negative: 01 · ~exponent · ~pair … · FF
///     zero:     02
///     positive: 03 · exponent · pair …  · 00
///
/// The number is 0.d₁d₂… × 10^exponent without zeros at either end. The exponent has 32,768 added and is big-endian; a
/// pair of digits is a byte, one more than the pair, so that no pair is a zero.
enum DecimalKey {
  /// The key of a value that is missing, which precedes all numbers.
  static let missing: UInt8 = 0
  static let negative: UInt8 = 1
  static let zero: UInt8 = 2
  static let positive: UInt8 = 3

  /// The longest text of a number, in bytes: a sign, 300 digits after as many zeros and a point, and an exponent.
  static let longestText = 640
  /// The most digits of a number, without zeros at either end.
  static let mostDigits = 300
  /// The exponents of numbers from 10⁻³⁰⁰ to less than 10³⁰⁰.
  private static let exponents = -299...300

  /// Appends the key of the number that a text denotes: ASCII digits with an optional sign, decimal point and exponent,
  /// as in JSON.
  ///
  /// - Returns: Whether the text is a number, within the limits. Otherwise nothing is appended.
  @discardableResult
  static func append(_ text: RawSpan, to key: inout [UInt8]) -> Bool {
    if text.byteCount == 0 || text.byteCount > longestText { return false }
    var offset = 0
    let isNegative = text.u8(at: 0) == UInt8(ascii: "-")
    if isNegative || text.u8(at: 0) == UInt8(ascii: "+") { offset = 1 }
    var digits: [UInt8] = []
    var point: Int?
    while offset < text.byteCount {
      let byte = text.u8(at: offset)
      if byte == UInt8(ascii: "."), point == nil, !digits.isEmpty {
        point = digits.count
      } else if byte &- UInt8(ascii: "0") < 10 {
        digits.append(byte &- UInt8(ascii: "0"))
      } else {
        break
      }
      offset += 1
    }
    if digits.isEmpty || point == digits.count { return false }
    var exponent = point ?? digits.count
    if offset < text.byteCount {
      guard text.u8(at: offset) | 0x20 == UInt8(ascii: "e"), let shift = shift(text, from: offset + 1) else {
        return false
      }
      exponent += shift
    }
    while digits.last == 0 { digits.removeLast() }
    let zeros = digits.prefix { $0 == 0 }.count
    digits.removeFirst(zeros)
    exponent -= zeros
    if digits.isEmpty {
      key.append(zero)
      return true
    }
    guard digits.count <= mostDigits, exponents.contains(exponent) else { return false }
    let start = key.count
    let biased = UInt16(exponent + 32_768)
    key.append(positive)
    key.append(UInt8(biased >> 8))
    key.append(UInt8(truncatingIfNeeded: biased))
    for index in stride(from: 0, to: digits.count, by: 2) {
      key.append(digits[index] * 10 + (index + 1 < digits.count ? digits[index + 1] : 0) + 1)
    }
    key.append(0)
    if isNegative {
      key[start] = negative
      for index in (start + 1)..<key.count { key[index] = ~key[index] }
    }
    return true
  }

  /// Returns the exponent that the rest of a text denotes; `nil` if it is none, or has more than five digits.
  private static func shift(_ text: RawSpan, from start: Int) -> Int? {
    var offset = start
    var isNegative = false
    if offset < text.byteCount, [UInt8(ascii: "-"), UInt8(ascii: "+")].contains(text.u8(at: offset)) {
      isNegative = text.u8(at: offset) == UInt8(ascii: "-")
      offset += 1
    }
    guard (1...5).contains(text.byteCount - offset) else { return nil }
    var value = 0
    while offset < text.byteCount {
      let digit = text.u8(at: offset) &- UInt8(ascii: "0")
      if digit >= 10 { return nil }
      value = value * 10 + Int(digit)
      offset += 1
    }
    return isNegative ? -value : value
  }
}
