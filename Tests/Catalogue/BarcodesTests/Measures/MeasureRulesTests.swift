import Testing

@testable import Barcodes

@Suite struct MeasureRulesTests {
  static func rule(_ name: String, _ prefix: String, _ pattern: String) throws -> MeasureRule {
    try MeasureRule(name: name, prefix: prefix, pattern: pattern, measure: "weight", decimals: 3, unit: "kg")
  }

  /// The rules of one pattern.
  private func rules(_ prefix: String, _ pattern: String) throws -> MeasureRules {
    try MeasureRules([.rule(Self.rule("cheese", prefix, pattern))])
  }

  private func reading(_ digits: String, _ rules: MeasureRules) throws -> MeasureReading {
    try #require(rules.reading(ofDigits: digits)).get()
  }

  @Test func `a number is read by the rule of its prefix`() throws {
    let rules = try MeasureRules([
      .rule(Self.rule("meat", "28", "PPIIIIIVVVVVC")), .rule(Self.rule("cheese", "21", "PPIIIIIVVVVVC")),
    ])
    let reading = try reading("2112345006789", rules)
    #expect(reading.rule.name == "cheese")
    #expect(reading.item == "12345")
    #expect(reading.head == "2112345")
    #expect(reading.amount.description == "0.678")
    #expect(reading.value == .quantity(ExactDecimal(678, decimals: 3), unit: "kg"))
    #expect(reading.field.name == "weight")
    #expect(rules.rules.map(\.name) == ["meat", "cheese"])
    #expect(rules.reading(ofDigits: "2212345006786") == nil)
  }

  @Test func `a price has its currency, and a count neither unit nor currency`() throws {
    let rules = try MeasureRules([.preset("de")])
    #expect(try reading("2212348123459", rules).value == .money(ExactDecimal(12345, decimals: 2), currency: "EUR"))
    #expect(try reading("2512348123450", rules).value == .number(ExactDecimal(12345)))
    #expect(try reading("2512348123450", rules).field.name == "count")
  }

  @Test func `a value of zero and leading zeros are values`() throws {
    let rules = try rules("21", "PPIIIIIVVVVVC")
    let reading = try reading("2100001000004", rules)
    #expect(reading.item == "00001")
    #expect(reading.amount == ExactDecimal(0))
    #expect(reading.itemNumber == reading.gtin)
  }

  @Test(arguments: ["212345067802", "0212345067802", "00212345067802"])
  func `a rule reads every spelling of a number`(digits: String) throws {
    for (prefix, pattern) in [("2", "PIIIIIVVVVVC"), ("02", "PPIIIIIVVVVVC")] {
      let reading = try reading(digits, rules(prefix, pattern))
      #expect(reading.item == "12345")
      #expect(reading.amount.description == "6.78")
    }
  }

  @Test func `an indicator makes another number`() throws {
    let digits = "1211234500678"
    let check = try #require(GTIN.checkDigit(following: digits.utf8))
    #expect(try rules("21", "PPIIIIIVVVVVC").reading(ofDigits: digits + String(Unicode.Scalar(check))) == nil)
  }

  @Test func `eight digits are read only by a rule for eight digits`() throws {
    let short = try rules("2", "PIIVVVVC")
    let reading = try reading("21206788", short)
    #expect(reading.head == "212")
    #expect(reading.amount.description == "0.678")
    #expect(reading.keys.map(\.text) == ["21200007", "212", "21200000", "12"])
    #expect(try rules("21", "PPIIIIIVVVVVC").reading(ofDigits: "21206788") == nil)
    #expect(short.reading(ofDigits: "2112345006789") == nil)
  }

  @Test func `without rules nothing is read`() throws {
    #expect(MeasureRules().isEmpty)
    #expect(try MeasureRules([]) == MeasureRules())
    #expect(MeasureRules().reading(of: try #require(GTIN("2112345006789"))) == nil)
    #expect(MeasureRules().reading(ofDigits: "2112345006789") == nil)
  }

  @Test(arguments: ["", "2", "211234500678", "21123450067891", "211234500678x", "２１１２３４５００６７８９", "4006381333931"])
  func `a text that is not a number of the rule is not read`(text: String) throws {
    #expect(try rules("21", "PPIIIIIVVVVVC").reading(ofDigits: text) == nil)
  }

  @Test func `a wrong check digit is a reason`() throws {
    let result = try #require(try rules("21", "PPIIIIIVVVVVC").reading(ofDigits: "2112345006786"))
    let refusal = #expect(throws: MeasureRefusal.self) { try result.get() }
    #expect(refusal?.reason == .checkDigit(expected: 9, found: 6))
    #expect(refusal?.description == "the check digit is 6, not 9 (rule cheese)")
    #expect(refusal?.explanation == "2112345006786\nPPIIIIIVVVVVC   cheese: the check digit is 6, not 9")
  }

  @Test func `a wrong check digit of the value is a reason`() throws {
    let digits = "281234312345"
    let check = try #require(GTIN.checkDigit(following: digits.utf8))
    let number = digits + String(Unicode.Scalar(check))
    let result = try #require(try MeasureRules([.preset("de")]).reading(ofDigits: number))
    let refusal = #expect(throws: MeasureRefusal.self) { try result.get() }
    #expect(refusal?.reason == .innerCheckDigit(expected: 8, found: 3))
    #expect(refusal?.description == "the check digit of the weight is 3, not 8 (rule de-weight-28)")
  }

  @Test func `digits that do not matter do not`() throws {
    let rules = try rules("21", "PPIIIIXVVVVXC")
    for wild in ["0", "7"] {
      let digits = "211234\(wild)1000\(wild)"
      let check = try #require(GTIN.checkDigit(following: digits.utf8))
      let reading = try reading(digits + String(Unicode.Scalar(check)), rules)
      #expect(reading.amount == ExactDecimal(1))
      #expect(reading.itemNumber == GTIN("2112340000003"))
    }
  }

  @Test func `the number of the item comes first, then its head, then the form without a check digit`() throws {
    let reading = try reading("2112345015002", rules("21", "PPIIIIIVVVVVC"))
    #expect(reading.amount.description == "1.5")
    #expect(
      reading.keys == [
        .itemNumber(try #require(GTIN("2112345000008"))), .text("2112345"), .text("2112345000000"), .text("12345"),
      ]
    )
  }

  @Test func `a number of number system 2 has keys of 12 and of 13 digits`() throws {
    let upc = try reading("299265108631", MeasureRules([.preset("us")]))
    #expect(
      upc.keys.map(\.text) == [
        "299265000003", "299265", "0299265", "299265000000", "0299265000000", "99265",
      ]
    )
    let ean = try reading("299265108631", rules("02", "PPIIIIIVVVVVC"))
    #expect(
      ean.keys.map(\.text) == [
        "299265000003", "0299265", "299265", "0299265000000", "299265000000", "99265",
      ]
    )
  }

  @Test func `a key is not listed twice if the check digit of the item is zero`() throws {
    let reading = try reading("2212348123459", MeasureRules([.preset("de")]))
    #expect(reading.keys.map(\.text) == ["2212340000000", "221234", "1234"])
  }

  @Test func `an explanation aligns the rule with the digits`() throws {
    #expect(
      try reading("02112345006789", rules("21", "PPIIIIIVVVVVC")).explanation == """
        2112345006789
        PPIIIIIVVVVVC   cheese: weight 0.678 kg, item 2112345
        """
    )
    #expect(
      try reading("0299265108631", MeasureRules([.preset("us")])).explanation == """
        299265108631
        PIIIIIKVVVVC   us-price-2: price 8.63 USD, item 299265
        """
    )
    #expect(
      try reading("2512348123450", MeasureRules([.preset("de")])).explanation == """
        2512348123450
        PPIIIIKVVVVVC   de-count-25: count 12345, item 251234
        """
    )
  }

  @Test(arguments: [
    (("21", "PPIIIIIVVVVVC"), ("21", "PPIIIIXVVVVXC")), (("2", "PIIIIIIVVVVVC"), ("21", "PPIIIIIVVVVVC")),
    (("2112", "PPPPIIIVVVVVC"), ("21", "PPIIIIIVVVVVC")), (("02", "PPIIIIIVVVVVC"), ("2", "PIIIIIVVVVVC")),
    (("25", "PPIIIIVVVVVC"), ("025", "PPPIIIIVVVVVC")), (("2", "PIIVVVVC"), ("20", "PPIVVVVC")),
  ])
  func `rules that would read the same number are refused`(
    one: (prefix: String, pattern: String),
    other: (prefix: String, pattern: String)
  ) throws {
    let rules = try [("one", one), ("other", other)].map {
      try MeasureRule(
        name: $0.0,
        prefix: $0.1.prefix,
        pattern: $0.1.pattern,
        measure: "count"
      )
    }
    #expect(throws: MeasureRulesError.self) { try MeasureRules(rules.reversed().map(MeasureRules.Entry.rule)) }
    let error = #expect(throws: MeasureRulesError.self) { try MeasureRules(rules.map(MeasureRules.Entry.rule)) }
    guard case .overlap(let first, let second, let number) = error else {
      Issue.record("not an overlap: \(error as Any)")
      return
    }
    #expect(Set([first, second]) == ["one", "other"])
    for rule in rules { #expect(rule.range.contains(GTIN(number)?.value ?? 0)) }
    #expect(error?.description.contains("'one'") == true)
    #expect(error?.description.contains("'other'") == true)
  }

  @Test func `rules for different prefixes and lengths live together`() throws {
    let pairs = [
      ("21", "PPIIIIIVVVVVC"), ("220", "PPPIIIIVVVVVC"), ("221", "PPPIIIIVVVVVC"), ("2", "PIIIIIVVVVVC"),
      ("04", "PPIIIIIVVVVVC"), ("2", "PIIVVVVC"), ("0", "PIIVVVVC"),
    ]
    let entries = try pairs.enumerated().map {
      MeasureRules.Entry.rule(try Self.rule("rule \($0.offset)", $0.element.0, $0.element.1))
    }
    #expect(try MeasureRules(entries).rules.count == pairs.count)
    #expect(try MeasureRules(entries.reversed()).rules.count == pairs.count)
  }

  @Test func `two presets that overlap are refused, naming a rule of each`() {
    let error = #expect(throws: MeasureRulesError.self) { try MeasureRules([.preset("no"), .preset("se")]) }
    #expect(
      error?.description
        == "the rules 'no-price-20' and 'se-price-20' overlap: both would read 2000000000008; remove one "
        + "of them, or give it a longer prefix"
    )
  }

  @Test func `a name may occur once`() throws {
    let entries = try ["21", "22"].map { MeasureRules.Entry.rule(try Self.rule("cheese", $0, "PPIIIIIVVVVVC")) }
    #expect(throws: MeasureRulesError.duplicateName("cheese")) { try MeasureRules(entries) }
    #expect(throws: MeasureRulesError.duplicateName("de-price-22")) {
      try MeasureRules([.preset("de"), .preset("de")])
    }
  }

  @Test func `an unknown preset is answered with the nearest name and the list`() {
    let error = #expect(throws: MeasureRulesError.self) { try MeasureRules([.preset("DE")]) }
    #expect(error == .unknownPreset(name: "DE", layouts: []))
    let list = MeasurePreset.names.joined(separator: ", ")
    #expect(error?.description == "there is no preset 'DE'; did you mean 'de'? The presets are \(list)")
    let far = MeasureRulesError.unknownPreset(name: "antarctica", layouts: [])
    #expect(far.description == "there is no preset 'antarctica'. The presets are \(list)")
  }

  @Test func `a country with several layouts asks for one of them`() {
    let error = #expect(throws: MeasureRulesError.self) { try MeasureRules([.preset("jp")]) }
    #expect(error?.description == "the preset 'jp' is not one layout; choose 'jp-4', 'jp-5' or 'jp-6'")
    #expect(throws: MeasureRulesError.unknownPreset(name: "cn", layouts: ["cn-price", "cn-weight"])) {
      try MeasureRules([.preset("cn")])
    }
    #expect(throws: MeasureRulesError.unknownPreset(name: "", layouts: [])) { try MeasureRules([.preset("")]) }
  }
}
