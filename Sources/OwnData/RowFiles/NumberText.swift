internal import JSONFormat

/// A parser of numbers in text form.
///
/// It accepts digits with an optional sign, fraction and exponent, as written by JSON and spreadsheets. It does not
/// accept white space, thousands separators, `nan` or hexadecimal digits.
enum NumberText {
  /// The integer value of `text`, including `2.0` and `1e3`; `nil` for anything else, and for one out of range.
  static func integer(_ text: Span<UInt8>) -> Int64? {
    if let plain = plain(text) {
      var value = plain.significand
      for _ in 0..<plain.fractionDigits {
        guard value % 10 == 0 else { return nil }
        value /= 10
      }
      return plain.isNegative ? -value : value
    }
    guard isNumber(text) else { return nil }
    let string = String(copying: text)
    if let value = Int64(string) { return value }
    // Up to this value a double represents every integer exactly.
    guard let value = Double(string), abs(value) <= 9_007_199_254_740_992 else { return nil }
    return Int64(exactly: value)
  }

  /// The double nearest to `text`; `nil` if it is not a number, or too large.
  static func double(_ text: Span<UInt8>) -> Double? {
    // Both the digits and the power of ten are exact, so one division rounds correctly.
    if let plain = plain(text), plain.significand <= 1 << 53 {
      let value = Double(plain.significand) / powersOfTen[plain.fractionDigits]
      return plain.isNegative ? -value : value
    }
    guard isNumber(text), let value = Double(String(copying: text)), value.isFinite else { return nil }
    return value
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  ]

  private struct Plain {
    var isNegative = false
    var significand: Int64 = 0
    var fractionDigits = 0
  }

  /// A number of up to 18 digits without an exponent; `nil` for all other text.
  private static func plain(_ text: Span<UInt8>) -> Plain? {
    var result = Plain()
    var index = 0
    if text.count > 0, text[0] == UInt8(ascii: "-") {
      result.isNegative = true
      index = 1
    }
    var digits = 0
    var point: Int?
    while index < text.count {
      let digit = text[index] &- UInt8(ascii: "0")
      if digit <= 9 {
        digits += 1
        if digits > 18 { return nil }
        result.significand = result.significand * 10 + Int64(digit)
      } else {
        guard text[index] == UInt8(ascii: "."), point == nil, digits > 0 else { return nil }
        point = digits
      }
      index += 1
    }
    if digits == 0 || point == digits { return nil }
    result.fractionDigits = point.map { digits - $0 } ?? 0
    return result
  }

  private static func isNumber(_ text: Span<UInt8>) -> Bool {
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        continue
      default: return false
      }
    }
    return text.count > 0
  }
}
