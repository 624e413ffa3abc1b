import RandomTestSupport
import Testing

@testable import Barcodes

/// Random rules, values and digits: what is written is read back, and nothing traps.
@Suite struct MeasureFuzz {
  /// A random sound rule.
  private func rule(using random: inout SeededGenerator) throws -> MeasureRule {
    let digitCount = [13, 13, 12, 8].randomElement(using: &random)!
    let starts = MeasureRulesError.Fault.restrictedPrefixes(digitCount: digitCount)
    var prefix = starts.randomElement(using: &random)!
    for _ in 0..<Int.random(in: 0...2, using: &random) { prefix += String(Int.random(in: 0...9, using: &random)) }
    let free = digitCount - 1 - prefix.count
    let check = free > 6 ? [InnerCheckDigit.fourDigitPrice, .fiveDigitPrice, nil].randomElement(using: &random)! : nil
    let valueCount = check?.digitCount ?? Int.random(in: 1...(free - 1), using: &random)
    let itemCount = Int.random(in: 1...(free - valueCount - (check == nil ? 0 : 1)), using: &random)
    var fields = [String(repeating: "I", count: itemCount), String(repeating: "V", count: valueCount)]
    if check != nil { fields.append("K") }
    while fields.reduce(0, { $0 + $1.count }) < free { fields.append("X") }
    fields.shuffle(using: &random)
    let measure = Measure.allCases.randomElement(using: &random)!
    return try MeasureRule(
      name: "random",
      prefix: prefix,
      pattern: String(repeating: "P", count: prefix.count) + fields.joined() + "C",
      measure: measure.rawValue,
      decimals: measure == .count ? nil : Int.random(in: 0...valueCount, using: &random),
      unit: measure == .weight ? "kg" : nil,
      currency: measure == .price ? "EUR" : nil,
      innerCheck: check?.rawValue
    )
  }

  @Test func `what a rule writes it reads back`() throws {
    var random = SeededGenerator(for: "MeasureFuzz, written and read back")
    for _ in 0..<3_000 * depth {
      let rule = try rule(using: &random)
      let rules = try MeasureRules([.rule(rule)])
      let label = Comment(rawValue: "\(rule.prefix) \(rule.pattern)")
      for _ in 0..<5 {
        let item = UInt64.random(in: 0..<DigitField.powerOfTen(rule.itemField.count), using: &random)
        let value = UInt64.random(in: 0..<DigitField.powerOfTen(rule.valueField.count), using: &random)
        let gtin = rule.number(item: item, value: value)
        #expect(gtin.isRestricted, label)
        #expect(GTIN(value: gtin.value) == gtin, label)
        let digits = String(gtin.digits.suffix(rule.digitCount))
        #expect(digits.hasPrefix(rule.prefix), label)
        let reading = try #require(rules.reading(ofDigits: digits), label).get()
        #expect(reading.gtin == gtin, label)
        #expect(reading.amount == ExactDecimal(Int64(value), decimals: rule.decimals), label)
        #expect(UInt64(reading.item) == item, label)
        #expect(reading.item.count == rule.itemField.count, label)
        #expect(reading.itemNumber == rule.number(item: item, value: 0), label)
        #expect(reading.keys.first == .itemNumber(reading.itemNumber), label)
        #expect(reading.keys.last == .text(reading.item), label)
        #expect(Set(reading.keys).count == reading.keys.count, label)
        #expect(reading.explanation.hasPrefix(digits + "\n" + rule.pattern), label)
      }
    }
  }

  @Test func `a changed digit never changes the value without notice`() throws {
    var random = SeededGenerator(for: "MeasureFuzz, changed digits")
    for _ in 0..<3_000 * depth {
      let rule = try rule(using: &random)
      let rules = try MeasureRules([.rule(rule)])
      let value = UInt64.random(in: 0..<DigitField.powerOfTen(rule.valueField.count), using: &random)
      var digits = Array(rule.number(item: 1, value: value).digits.suffix(rule.digitCount).utf8)
      let place = Int.random(in: rule.prefix.count..<digits.count, using: &random)
      digits[place] = (digits[place] - 0x30 + UInt8.random(in: 1...9, using: &random)) % 10 + 0x30
      let result = try #require(rules.reading(ofDigits: String(decoding: digits, as: UTF8.self)))
      let refusal = #expect(throws: MeasureRefusal.self) { try result.get() }
      #expect(refusal?.description.isEmpty == false)
    }
  }

  @Test func `arbitrary digits never trap`() throws {
    var random = SeededGenerator(for: "MeasureFuzz, arbitrary digits")
    let presets = try MeasurePreset.all.map { try MeasureRules([.preset($0.name)]) }
    for _ in 0..<20_000 * depth {
      let count = [8, 12, 13, 14, Int.random(in: 0...20, using: &random)].randomElement(using: &random)!
      var text = ["2", "02", "04", "", "002"].randomElement(using: &random)!
      while text.count < count { text += String(Int.random(in: 0...9, using: &random)) }
      if let body = GTIN.checkDigit(following: text.dropLast().utf8), Bool.random(using: &random) {
        text = text.dropLast() + String(Unicode.Scalar(body))
      }
      let rules = presets.randomElement(using: &random)!
      let result = rules.reading(ofDigits: text)
      let gtin = GTIN(text)
      if let gtin { #expect(rules.reading(of: gtin) == result, "\(text)") }
      switch result {
      case .success(let reading): #expect(reading.gtin == gtin && gtin?.isRestricted == true, "\(text)")
      case .failure(let refusal): #expect(refusal.explanation.contains(refusal.rule.pattern), "\(text)")
      case nil: break
      }
    }
  }

  @Test func `arbitrary texts of a rule never trap, and a rule that is accepted reads its own numbers`() {
    var random = SeededGenerator(for: "MeasureFuzz, arbitrary rules")
    func text(_ alphabet: String, _ counts: ClosedRange<Int>) -> String {
      String((0..<Int.random(in: counts, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
    }
    var accepted = 0
    for _ in 0..<20_000 * depth {
      // A sound pattern, half the time with a letter changed.
      var pattern = Array(
        ["PPIIIIIVVVVVC", "PPIIIIKVVVVVC", "PIIIIIKVVVVC", "PIIVVVVC", "PXIIIIIXVVVVC"].randomElement(using: &random)!
      )
      if Bool.random(using: &random) {
        pattern[pattern.indices.randomElement(using: &random)!] = "PIVKXCé".randomElement(using: &random)!
      }
      let measure = ["weight", "price", "count", text("we", 0...3)].randomElement(using: &random)!
      let fits = Bool.random(using: &random)
      let rule = try? MeasureRule(
        name: text("aü\n\u{202E}", 0...2),
        prefix: text("0222", 0...3) + text("٣x1", 0...1),
        pattern: String(pattern),
        measure: measure,
        decimals: [nil, 0, 2, Int.random(in: .min ... .max, using: &random)].randomElement(using: &random)!,
        unit: fits ? (measure == "weight" ? "kg" : nil) : [nil, "kg", ""].randomElement(using: &random)!,
        currency: fits ? (measure == "price" ? "EUR" : nil) : [nil, "EUR", "E"].randomElement(using: &random)!,
        innerCheck: fits
          ? (pattern.contains("K") ? (pattern.count == 13 ? "5-digit price" : "4-digit price") : nil)
          : [nil, "4-digit price", "5-digit price", "x"].randomElement(using: &random)!
      )
      guard let rule, let rules = try? MeasureRules([.rule(rule)]) else { continue }
      accepted += 1
      let gtin = rule.number(
        item: .random(in: 0 ... .max, using: &random), value: .random(in: 0 ... .max, using: &random))
      #expect(gtin.isRestricted, "\(rule)")
      #expect((try? rules.reading(of: gtin)?.get()) != nil, "\(rule)")
    }
    #expect(accepted > 20)
  }
}
