/// The form of North American coupons: AI (8110), and AI (8112) for coupons of a positive offer file.
///
/// Source: GS1 US, North American Coupon Application Guideline Using GS1 DataBar Expanded Symbols. Most fields are
/// preceded by a digit that states their length.
enum CouponCode {
  /// Returns why a coupon of AI (8110) is wrong, for users; `nil` if it is right.
  static func problem(of value: ArraySlice<UInt8>) -> String? {
    var reader = Reader(rest: value)
    guard reader.allDigits() else { return "a coupon consists of digits" }
    guard reader.sized(0...6, plus: 6) else { return "the company prefix of the coupon is not whole" }
    guard reader.take(6) else { return "the offer code of the coupon is not whole" }
    guard reader.sized(1...5, plus: 0) else { return "the save value of the coupon is not whole" }
    guard reader.requirement(), reader.requirementFamily() else { return "the purchase requirement is not whole" }
    var previous = 0
    while let field = reader.digit() {
      guard field > previous, let isWhole = reader.optional(field) else {
        return "field \(field) of the coupon is not known there"
      }
      guard isWhole else { return "field \(field) of the coupon is not whole" }
      previous = field
    }
    return nil
  }

  /// Returns why a coupon of AI (8112) is wrong, for users; `nil` if it is right.
  static func problem(ofPositiveOffer value: ArraySlice<UInt8>) -> String? {
    var reader = Reader(rest: value)
    guard reader.allDigits() else { return "a coupon consists of digits" }
    guard let format = reader.digit(), format <= 1 else { return "the format of the coupon must be 0 or 1" }
    guard reader.sized(0...6, plus: 6) else { return "the funder of the coupon is not whole" }
    guard reader.take(6) else { return "the offer code of the coupon is not whole" }
    guard reader.sized(0...9, plus: 6) else { return "the serial number of the coupon is not whole" }
    return reader.rest.isEmpty ? nil : "the coupon has digits after its serial number"
  }

  /// Reads a coupon from the left.
  private struct Reader {
    var rest: ArraySlice<UInt8>

    func allDigits() -> Bool { rest.allSatisfy(ASCII.isDigit) }

    mutating func digit() -> Int? { rest.popFirst().map { Int($0 - UInt8(ascii: "0")) } }

    mutating func take(_ count: Int) -> Bool {
      guard rest.count >= count else { return false }
      rest.removeFirst(count)
      return true
    }

    /// Reads a digit in `range`, and so many digits as it says plus `base`.
    mutating func sized(_ range: ClosedRange<Int>, plus base: Int) -> Bool {
      guard let size = digit(), range.contains(size) else { return false }
      return take(size + base)
    }

    /// Reads the amount of a requirement and its code: 0 to 4, or 9.
    mutating func requirement() -> Bool {
      guard sized(1...5, plus: 0), let code = digit() else { return false }
      return code <= 4 || code == 9
    }

    /// Reads the family code of the product to buy.
    mutating func requirementFamily() -> Bool { take(3) }

    /// Reads an optional field; `nil` if there is no such field.
    mutating func optional(_ field: Int) -> Bool? {
      switch field {
      // A second product: how both combine, its requirement, family and company (9 for the same one).
      case 1: return digit().map { $0 <= 3 } == true && requirement() && requirementFamily() && company()
      // A third product.
      case 2: return requirement() && requirementFamily() && company()
      // The dates of expiry and of start.
      case 3, 4:
        guard rest.count >= 6 else { return false }
        return ElementReader.date(rest.prefix(6), year: 2000, dayMayBeZero: false) != nil && take(6)
      // A serial number.
      case 5: return sized(0...9, plus: 6)
      // The retailer.
      case 6: return sized(1...7, plus: 6)
      // Miscellaneous: save value code, its product, store coupon, and that it must not be multiplied.
      case 9: return take(4)
      default: return nil
      }
    }

    /// Reads a company prefix with its size, or 9 for that of the first product.
    private mutating func company() -> Bool {
      guard let size = digit() else { return false }
      return size == 9 || size <= 6 && take(size + 6)
    }
  }
}
