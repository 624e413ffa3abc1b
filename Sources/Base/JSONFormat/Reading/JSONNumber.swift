/// A decimal number: ± `significand` × 10^`exponent`.
///
/// If the digits do not fit into 64 bits, only the text of the token has all of them.
@usableFromInline
struct JSONNumber: Sendable {
  @usableFromInline var significand: UInt64 = 0
  @usableFromInline var exponent = 0
  @usableFromInline var isNegative = false
  /// Whether `significand` contains every digit.
  @usableFromInline var isComplete = true

  @usableFromInline
  init() {}
}

extension JSONNumber {
  /// The powers of ten that a double represents exactly: 10^22 is the last one, because 5^22 < 2^53 < 5^23.
  static let exactPowersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
  ]

  /// The value of a short integer written without fraction and exponent; `nil` for other numbers.
  @usableFromInline
  var quickInt64: Int64? {
    guard isComplete, exponent == 0, significand <= UInt64(Int64.max) else { return nil }
    let magnitude = Int64(truncatingIfNeeded: significand)
    return isNegative ? -magnitude : magnitude
  }

  /// The nearest double, if a single rounding yields it; otherwise `nil`.
  ///
  /// William D. Clinger, *How to read floating point numbers accurately* (1990): if significand and power of ten are
  /// both exact, one multiplication or division rounds correctly.
  @usableFromInline
  var quickDouble: Double? {
    guard isComplete else { return nil }
    let magnitude: Double
    if exponent == 0 || significand == 0 {
      magnitude = Double(significand)
    } else {
      guard significand <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
      magnitude =
        exponent < 0
        ? Double(significand) / Self.exactPowersOfTen[-exponent]
        : Double(significand) * Self.exactPowersOfTen[exponent]
    }
    return isNegative ? -magnitude : magnitude
  }

  /// The value as an integer; `nil` if it has a fraction or is outside the range of `Int64`.
  ///
  /// Valid only for complete numbers; see ``trimmed(_:)`` for the others.
  var int64: Int64? {
    guard isComplete else { return nil }
    var magnitude = significand
    if exponent != 0, magnitude != 0 {
      // 20 steps are enough in either direction: 2^64 < 10^20.
      guard exponent >= -20, exponent <= 20 else { return nil }
      for _ in 0..<abs(exponent) {
        if exponent < 0 {
          let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
          guard remainder == 0 else { return nil }
          magnitude = quotient
        } else {
          let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
          guard !overflow else { return nil }
          magnitude = product
        }
      }
    }
    if isNegative {
      return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
  }

  /// The same number without leading and trailing zeros among the digits of `text`. It is complete if the remaining
  /// digits fit into 64 bits.
  ///
  /// A number whose trimmed digits do not fit is not an `Int64`: it is either above 2^64 or has a fraction.
  func trimmed(_ text: Span<UInt8>) -> JSONNumber {
    var result = JSONNumber()
    result.isNegative = isNegative
    result.exponent = exponent
    var zeros = 0
    var index = 0
    while index < text.count, text[index] != UInt8(ascii: "e"), text[index] != UInt8(ascii: "E") {
      let digit = text[index] &- UInt8(ascii: "0")
      index += 1
      guard digit <= 9 else { continue }
      if digit == 0 {
        zeros += 1
        continue
      }
      // Zeros before the first digit are not significant.
      let shifts = result.significand == 0 ? 1 : zeros + 1
      guard shifts <= 20 else {
        result.isComplete = false
        return result
      }
      for _ in 0..<shifts {
        let (product, overflow) = result.significand.multipliedReportingOverflow(by: 10)
        guard !overflow else {
          result.isComplete = false
          return result
        }
        result.significand = product
      }
      let (sum, overflow) = result.significand.addingReportingOverflow(UInt64(digit))
      guard !overflow else {
        result.isComplete = false
        return result
      }
      result.significand = sum
      zeros = 0
    }
    result.exponent += zeros
    return result
  }
}
