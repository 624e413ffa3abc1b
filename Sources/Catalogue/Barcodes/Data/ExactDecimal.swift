/// A decimal number without rounding: an integer, and the position of its decimal point.
///
/// Labels state weights and prices as digits with an implied decimal point. Binary floating point would turn 0.345 into
/// 0.34499999999999997; this type keeps what is printed.
///
/// Numbers compare by value: 1.250 and 1.25 are equal.
public struct ExactDecimal: Sendable {
  /// The digits as an integer, for example 1250 for 1.250.
  public let coefficient: Int64
  /// The number of digits after the decimal point, 0 to 18.
  public let decimals: Int

  /// Creates the number `coefficient` × 10^-`decimals`.
  ///
  /// - Precondition: `decimals` is 0 to 18.
  public init(_ coefficient: Int64, decimals: Int = 0) {
    precondition((0...18).contains(decimals), "decimals must be 0 to 18")
    self.coefficient = coefficient
    self.decimals = decimals
  }

  /// Creates the number that ASCII digits denote if the last `decimals` of them follow the decimal point.
  ///
  /// Returns `nil` if there is no digit, more than 18 of them, another byte, or if `decimals` is not 0 to 18.
  init?(digits: some Sequence<UInt8>, decimals: Int) {
    var value: Int64 = 0
    var count = 0
    for byte in digits {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10, count < 18 else { return nil }
      value = value * 10 + Int64(digit)
      count += 1
    }
    guard count > 0, (0...18).contains(decimals) else { return nil }
    self.init(value, decimals: decimals)
  }

  /// The same number without zeros at the end of its fraction.
  public var normalized: ExactDecimal {
    var value = coefficient
    var rest = decimals
    while rest > 0, value.isMultiple(of: 10) {
      value /= 10
      rest -= 1
    }
    return ExactDecimal(value, decimals: rest)
  }

  /// The nearest binary floating-point number. Use it for display, not for sums of money.
  public var doubleValue: Double { Double(description) ?? 0 }
}

extension ExactDecimal: Hashable {
  /// Compares by value, whatever the number of decimals.
  public static func == (left: ExactDecimal, right: ExactDecimal) -> Bool {
    let (a, b) = (left.normalized, right.normalized)
    return a.coefficient == b.coefficient && a.decimals == b.decimals
  }

  /// Hashes the value, whatever the number of decimals.
  public func hash(into hasher: inout Hasher) {
    let number = normalized
    hasher.combine(number.coefficient)
    hasher.combine(number.decimals)
  }
}

extension ExactDecimal: LosslessStringConvertible {
  /// Creates the number that a text denotes: ASCII digits with an optional sign, decimal point and exponent, as in JSON.
  ///
  /// Returns `nil` for anything else, and for a number of more than 18 digits before or 18 after the decimal point.
  public init?(_ text: String) { self.init(utf8: text.utf8.span) }

  /// Creates the number that UTF-8 denotes, as ``init(_:)`` does.
  public init?(utf8: Span<UInt8>) {
    var offset = 0
    let isNegative = offset < utf8.count && utf8[offset] == UInt8(ascii: "-")
    if isNegative || offset < utf8.count && utf8[offset] == UInt8(ascii: "+") { offset += 1 }
    var digits: [UInt8] = []
    var decimals = 0
    var hasPoint = false
    while offset < utf8.count {
      let byte = utf8[offset]
      if byte == UInt8(ascii: "."), !hasPoint, !digits.isEmpty {
        hasPoint = true
      } else if byte &- UInt8(ascii: "0") < 10 {
        digits.append(byte)
        if hasPoint { decimals += 1 }
      } else {
        break
      }
      offset += 1
    }
    if digits.isEmpty || hasPoint && decimals == 0 { return nil }
    if offset < utf8.count {
      guard utf8[offset] | 0x20 == UInt8(ascii: "e"), let exponent = Self.exponent(utf8.extracting((offset + 1)...))
      else { return nil }
      decimals -= exponent
    }
    while decimals > 0, digits.count > 1, digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      decimals -= 1
    }
    let zeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
    digits.removeFirst(min(zeros, digits.count - 1))
    if digits == [UInt8(ascii: "0")] { decimals = 0 }
    if decimals < 0 {
      if digits.count - decimals > 18 { return nil }
      digits += Array(repeating: UInt8(ascii: "0"), count: -decimals)
      decimals = 0
    }
    guard let magnitude = ExactDecimal(digits: digits, decimals: decimals) else { return nil }
    self.init(isNegative ? -magnitude.coefficient : magnitude.coefficient, decimals: decimals)
  }

  /// Returns the exponent that UTF-8 denotes; `nil` if it is none, or has more than three digits.
  private static func exponent(_ utf8: Span<UInt8>) -> Int? {
    var value = 0
    var count = 0
    let isSigned = utf8.count > 0 && [UInt8(ascii: "-"), UInt8(ascii: "+")].contains(utf8[0])
    for offset in (isSigned ? 1 : 0)..<max(utf8.count, isSigned ? 1 : 0) {
      let digit = utf8[offset] &- UInt8(ascii: "0")
      guard digit < 10, count < 3 else { return nil }
      value = value * 10 + Int(digit)
      count += 1
    }
    if count == 0 { return nil }
    return isSigned && utf8[0] == UInt8(ascii: "-") ? -value : value
  }

  /// The shortest decimal notation, which is also a JSON number: `1.25`, `0.345`, `-18`.
  public var description: String {
    let number = normalized
    guard number.decimals > 0 else { return String(number.coefficient) }
    var digits = String(number.coefficient.magnitude)
    if digits.count <= number.decimals {
      digits = String(repeating: "0", count: number.decimals + 1 - digits.count) + digits
    }
    let point = digits.index(digits.endIndex, offsetBy: -number.decimals)
    return (number.coefficient < 0 ? "-" : "") + digits[..<point] + "." + digits[point...]
  }
}
