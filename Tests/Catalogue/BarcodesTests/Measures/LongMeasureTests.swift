import Testing

@testable import Barcodes

/// Numbers of 18 digits with two values, which scales print.
@Suite struct LongMeasureTests {
  private static let number = "261234501999007501"

  private func rule(
    _ pattern: String = "PPIIIIIVVVVVWWWWWC", second: MeasureRule.SecondValue?
  ) throws -> MeasureRule {
    try MeasureRule(
      name: "scale", prefix: "26", pattern: pattern, measure: "price", decimals: 2, currency: "CNY", second: second)
  }

  private func weight() throws -> MeasureRule.SecondValue {
    try MeasureRule.SecondValue(measure: "weight", decimals: 3, unit: "kg")
  }

  @Test func `both values are read`() throws {
    let rules = try MeasureRules([.rule(rule(second: weight())), .preset("de")])
    let reading = try #require(try rules.reading(ofDigits: Self.number)?.get())
    #expect(reading.gtin == nil && reading.head == "2612345" && reading.amount.description == "19.99")
    #expect(reading.secondField == ScanData.Field("weight", .quantity(ExactDecimal(750, decimals: 3), unit: "kg")))
    #expect(reading.keys.map(\.text) == ["2612345000003", "2612345", "12345"])
    #expect(reading.explanation.hasSuffix("scale: price 19.99 CNY, weight 0.75 kg, item 2612345"))
    // Numbers of other lengths are those of other rules.
    #expect(rules.reading(ofDigits: "2612345678900") != rules.reading(ofDigits: Self.number))
  }

  @Test func `a wrong check digit is told, unless the rule has none`() throws {
    let wrong = Self.number.dropLast() + "2"
    let checked = try MeasureRules([.rule(rule(second: weight()))])
    guard case .failure(let refusal) = checked.reading(ofDigits: wrong) else { throw Expected() }
    #expect(refusal.reason == .checkDigit(expected: 1, found: 2))
    let unchecked = try MeasureRules([.rule(rule("PPIIIIIVVVVVWWWWWX", second: weight()))])
    #expect(try unchecked.reading(ofDigits: wrong)?.get().amount.description == "19.99")
  }

  private struct Expected: Error {}

  @Test func `one value may be read too`() throws {
    let rules = try MeasureRules([.rule(rule("PPIIIIIVVVVVXXXXXC", second: nil))])
    let reading = try #require(try rules.reading(ofDigits: Self.number)?.get())
    #expect(reading.secondField == nil && reading.amount.description == "19.99")
  }

  @Test func `mistakes are refused with what to do`() throws {
    func message(_ body: () throws -> MeasureRule) -> String {
      do {
        _ = try body()
        return ""
      } catch { return "\(error)" }
    }
    #expect(message { try rule(second: nil) }.contains("the pattern has a W; add second"))
    #expect(message { try rule("PPIIIIIVVVVVXXXXXC", second: weight()) }.contains("second is given"))
    #expect(message { try rule(second: .init(measure: "price", decimals: 2, currency: "EUR")) }.contains("both values"))
    #expect(message { try rule(second: .init(measure: "weight", decimals: 6, unit: "kg")) }.contains("6 decimals"))
    #expect(message { try rule("PPIIIIIWWVVVVVWWWC", second: weight()) }.contains("not next to each other"))
    #expect(message { try rule("PPIIIIIVVVVVWWWWWWX", second: weight()) }.contains("19 letters"))
    #expect(throws: MeasureRulesError.Fault.self) { try MeasureRule.SecondValue(measure: "mass") }
    let twice = try MeasureRule(
      name: "other", prefix: "2612", pattern: "PPPPIIIVVVVVXXXXXC", measure: "count")
    let error = #expect(throws: MeasureRulesError.self) {
      try MeasureRules([.rule(rule(second: weight())), .rule(twice)])
    }
    #expect(error?.description.contains("both would read 261200000000000000") == true)
  }
}
