/// The algorithm of a check digit that protects only the price or the weight inside a number (GS1 General
/// Specifications, section 7.9: check digit calculation for price and weight fields).
public enum InnerCheckDigit: String, CaseIterable, Hashable, Sendable {
  /// For a field of four digits.
  case fourDigitPrice = "4-digit price"
  /// For a field of five digits.
  case fiveDigitPrice = "5-digit price"

  /// The number of digits that the check digit protects.
  public var digitCount: Int {
    switch self {
    case .fourDigitPrice: 4
    case .fiveDigitPrice: 5
    }
  }

  /// The check digit of the last ``digitCount`` digits of `value`, 0 to 9. The check digit of zero is 0.
  ///
  /// Each digit is weighted by its position, with these factors from the left:
  ///
  ///     4 digits    2−  2−  3   5−         the sum of the products times 3, modulo 10
  ///     5 digits    5+  2−  5−  5+  2−     the digit whose product with 5− completes the sum to a multiple of 10
  public func checkDigit(of value: UInt64) -> Int {
    let digit = { (place: Int) in Int(value / DigitField.powerOfTen(place) % 10) }
    switch self {
    case .fourDigitPrice:
      let sum = Self.twoMinus(digit(3)) + Self.twoMinus(digit(2)) + 3 * digit(1) + Self.fiveMinus(digit(0))
      return sum * 3 % 10
    case .fiveDigitPrice:
      let sum =
        Self.fivePlus(digit(4)) + Self.twoMinus(digit(3)) + Self.fiveMinus(digit(2)) + Self.fivePlus(digit(1))
        + Self.twoMinus(digit(0))
      let rest = (10 - sum % 10) % 10
      return (0...9).first { Self.fiveMinus($0) == rest } ?? 0
    }
  }

  // The factors are defined by tables in the General Specifications. These formulas give the same products.

  /// The factor 2−: twice the digit, less the tens digit of the result.
  private static func twoMinus(_ digit: Int) -> Int { (2 * digit - digit / 5) % 10 }

  /// The factor 5+: five times the digit, plus the tens digit of the result.
  private static func fivePlus(_ digit: Int) -> Int { (5 * digit + digit / 2) % 10 }

  /// The factor 5−: five times the digit, less the tens digit of the result.
  private static func fiveMinus(_ digit: Int) -> Int { (5 * digit - digit / 2) % 10 }
}
