import Testing

@testable import Barcodes

@Suite struct InnerCheckDigitTests {
  @Test(arguments: [("2875", 9), ("1234", 9), ("0863", 1), ("1995", 7), ("0345", 3), ("0000", 0)])
  func `the check digit of four digits is as published`(digits: String, expected: Int) throws {
    #expect(InnerCheckDigit.fourDigitPrice.checkDigit(of: try #require(UInt64(digits))) == expected)
  }

  @Test(arguments: [("14685", 6), ("12345", 8), ("00000", 0)])
  func `the check digit of five digits is as published`(digits: String, expected: Int) throws {
    #expect(InnerCheckDigit.fiveDigitPrice.checkDigit(of: try #require(UInt64(digits))) == expected)
  }

  /// The sums were computed with biip 5.2, whose check digits are looked up in the tables of the General
  /// Specifications.
  @Test func `all check digits together are those of another implementation`() {
    let four = (0..<10_000).reduce(0) { $0 + InnerCheckDigit.fourDigitPrice.checkDigit(of: UInt64($1)) * ($1 + 1) }
    let five = (0..<100_000).reduce(0) { $0 + InnerCheckDigit.fiveDigitPrice.checkDigit(of: UInt64($1)) * ($1 + 1) }
    #expect(four == 225_022_500)
    #expect(five == 22_500_225_000)
  }

  @Test func `a wrong digit changes the check digit`() {
    for check in InnerCheckDigit.allCases {
      for place in 0..<check.digitCount {
        let digits = (0...9).map { check.checkDigit(of: UInt64($0) * DigitField.powerOfTen(place)) }
        #expect(Set(digits).count == 10, "\(check), position \(place) from the right")
      }
    }
  }

  @Test func `digits beyond the field do not count`() {
    #expect(InnerCheckDigit.fourDigitPrice.checkDigit(of: 72_875) == 9)
    #expect((0...9).contains(InnerCheckDigit.fiveDigitPrice.checkDigit(of: .max)))
  }
}
