/// An encoding of doubles that are short decimals, for example 845 or 0.35, in four bytes instead of eight.
///
///     bits 0–2 exponent e · bits 3–31 signed mantissa m: the value is m / 10^e
@usableFromInline
enum PackedDecimal {
  private static let powers: [Double] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]
  private static let mantissaLimit = 268_435_456.0

  /// Returns the packed bits of `value`; `nil` if four bytes cannot represent exactly this value, including the sign of
  /// zero.
  static func pack(_ value: Double) -> UInt32? {
    let powers = powers.span
    for exponent in powers.indices {
      let power = powers[exponent]
      let scaled = value * power
      guard scaled > -mantissaLimit, scaled < mantissaLimit else { return nil }
      // The comparison uses the integer because a negative zero is not negative when it is read back. Adding one half
      // and truncating is enough: where the result differs from rounding, the product is not an integer, and neither
      // result gives the value back.
      let mantissa = Int32(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
      guard (Double(mantissa) / power).bitPattern == value.bitPattern else { continue }
      return UInt32(bitPattern: mantissa) << 3 | UInt32(exponent)
    }
    return nil
  }

  /// Returns the value of packed bits.
  @usableFromInline
  static func unpack(_ bits: UInt32) -> Double {
    Double(Int32(bitPattern: bits) >> 3) / powers[Int(bits & 7)]
  }
}
