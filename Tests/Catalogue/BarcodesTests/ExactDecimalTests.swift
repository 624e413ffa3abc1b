import RandomTestSupport
import Testing

@testable import Barcodes

/// Decimal numbers without rounding.
@Suite struct ExactDecimalTests {
  @Test(arguments: [
    (1250, 3, "1.25"), (0, 5, "0"), (5, 3, "0.005"), (-1850, 2, "-18.5"), (100, 0, "100"), (1000, 3, "1"),
    (-5, 1, "-0.5"),
    (Int64.max, 18, "9.223372036854775807"), (Int64.min, 0, "-9223372036854775808"),
  ])
  func `a number prints in its shortest form`(coefficient: Int64, decimals: Int, text: String) {
    #expect(ExactDecimal(coefficient, decimals: decimals).description == text)
  }

  @Test func `numbers compare by value`() {
    #expect(ExactDecimal(1250, decimals: 3) == ExactDecimal(125, decimals: 2))
    #expect(Set([ExactDecimal(10, decimals: 1), ExactDecimal(1)]).count == 1)
    #expect(ExactDecimal(1, decimals: 1) != ExactDecimal(1))
  }

  @Test func `digits are read with their decimal point`() {
    #expect(ExactDecimal(digits: "001250".utf8, decimals: 3)?.description == "1.25")
    for (text, decimals) in [("", 0), ("1A", 0), ("1234567890123456789", 0), ("1", 19), ("1", -1)] {
      #expect(ExactDecimal(digits: text.utf8, decimals: decimals) == nil)
    }
  }

  @Test func `the text of a number reads back as the same number`() {
    var random = SeededGenerator(for: "ExactDecimalTests")
    for _ in 0..<1000 {
      let number = ExactDecimal(
        Int64.random(in: -999_999...999_999, using: &random), decimals: Int.random(in: 0...9, using: &random))
      let parts = number.description.split(separator: ".")
      let digits = parts.joined().filter { $0 != "-" }
      let back = ExactDecimal(digits: digits.utf8, decimals: parts.count > 1 ? parts[1].count : 0)
      #expect(back.map { number.coefficient < 0 ? ExactDecimal(-$0.coefficient, decimals: $0.decimals) : $0 } == number)
    }
  }
}
