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

extension ExactDecimal: CustomStringConvertible {
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
