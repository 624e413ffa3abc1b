/// Neighbouring digits of a number, counted from its right end.
struct DigitField: Hashable, Sendable {
  /// The number of digits after the field.
  let place: Int
  /// The number of digits in the field, 1 to 18.
  let count: Int

  /// The number that the field contains.
  func value(in number: UInt64) -> UInt64 {
    number / Self.powerOfTen(place) % Self.powerOfTen(count)
  }

  /// A number with `value` in the field and zeros everywhere else. Digits of `value` that do not fit are dropped.
  func placing(_ value: UInt64) -> UInt64 {
    value % Self.powerOfTen(count) * Self.powerOfTen(place)
  }

  /// The digits of the field with their leading zeros.
  func digits(in number: UInt64) -> String {
    var rest = value(in: number)
    return unsafe String(unsafeUninitializedCapacity: count) { text in
      // The capacity is the number of digits, and all of them are written.
      for index in stride(from: count - 1, through: 0, by: -1) {
        unsafe text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return count
    }
  }

  /// 10 to the power of `exponent`, which is 0 to 18.
  static func powerOfTen(_ exponent: Int) -> UInt64 {
    var power: UInt64 = 1
    for _ in 0..<max(0, min(exponent, 18)) { power *= 10 }
    return power
  }
}
