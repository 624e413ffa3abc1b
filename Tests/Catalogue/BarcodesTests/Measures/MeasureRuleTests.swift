import Testing

@testable import Barcodes

@Suite struct MeasureRuleTests {
  /// The texts of a rule. Each test changes one of them.
  struct Texts: Sendable {
    var name = "cheese"
    var prefix = "21"
    var pattern = "PPIIIIIVVVVVC"
    var measure = "weight"
    var decimals: Int? = 3
    var unit: String? = "kg"
    var currency: String?
    var innerCheck: String?

    init(_ change: (inout Texts) -> Void = { _ in }) { change(&self) }

    func rule() throws(MeasureRulesError) -> MeasureRule {
      try MeasureRule(
        name: name,
        prefix: prefix,
        pattern: pattern,
        measure: measure,
        decimals: decimals,
        unit: unit,
        currency: currency,
        innerCheck: innerCheck
      )
    }

    static func price(_ change: (inout Texts) -> Void = { _ in }) -> Texts {
      Texts {
        ($0.measure, $0.decimals, $0.unit, $0.currency) = ("price", 2, nil, "EUR")
        change(&$0)
      }
    }
  }

  @Test func `a rule has the texts of its setting`() throws {
    let rule = try Texts.price {
      $0.pattern = "PPIIIIKVVVVVC"
      $0.innerCheck = "5-digit price"
    }.rule()
    #expect(rule.name == "cheese")
    #expect(rule.prefix == "21")
    #expect(rule.pattern == "PPIIIIKVVVVVC")
    #expect(rule.measure == .price)
    #expect(rule.decimals == 2)
    #expect(rule.unit == nil)
    #expect(rule.currency == "EUR")
    #expect(rule.innerCheck == .fiveDigitPrice)
    #expect(rule.digitCount == 13)
  }

  @Test(arguments: [
    Texts { $0.prefix = "02" }, Texts { $0.prefix = "04" },
    Texts { ($0.prefix, $0.pattern) = ("2", "PIIIIIVVVVVC") },
    Texts { ($0.prefix, $0.pattern) = ("4", "PIIIIIVVVVVC") },
    Texts { ($0.prefix, $0.pattern) = ("2", "PIIVVVVC") }, Texts { ($0.prefix, $0.pattern) = ("0", "PIIVVVVC") },
    Texts { ($0.prefix, $0.pattern) = ("21234", "PPPPPIIVVVVVC") }, Texts { $0.pattern = "PPXVVVVVIIIXC" },
    Texts { ($0.measure, $0.decimals, $0.unit) = ("count", nil, nil) }, Texts { $0.decimals = 0 },
    Texts { $0.decimals = 5 }, Texts { $0.name = String(repeating: "ä", count: 64) }, Texts { $0.unit = "市斤" },
  ])
  func `a sound rule is accepted`(texts: Texts) throws {
    _ = try texts.rule()
  }

  @Test(arguments: [
    (Texts { $0.name = "" }, MeasureRulesError.Fault.name),
    (Texts { $0.name = "a\nb" }, .name),
    (Texts { $0.name = String(repeating: "a", count: 65) }, .name),
    (Texts { $0.prefix = "" }, .prefixNotDigits("")),
    (Texts { $0.prefix = "2x" }, .prefixNotDigits("2x")),
    (Texts { $0.prefix = "２１" }, .prefixNotDigits("２１")),
    (Texts { $0.prefix = "2" }, .prefixLength(digits: 1, letters: 2)),
    (Texts { $0.prefix = "212345678901234567" }, .prefixLength(digits: 18, letters: 2)),
    (Texts { $0.prefix = "30" }, .unrestrictedPrefix("30", digitCount: 13)),
    (Texts { ($0.prefix, $0.pattern) = ("0", "PIIIIIIVVVVVC") }, .unrestrictedPrefix("0", digitCount: 13)),
    (Texts { ($0.prefix, $0.pattern) = ("02", "PPIIIIVVVVVC") }, .unrestrictedPrefix("02", digitCount: 12)),
    (Texts { ($0.prefix, $0.pattern) = ("4", "PIIVVVVC") }, .unrestrictedPrefix("4", digitCount: 8)),
    (Texts { $0.pattern = "" }, .patternLength(0)),
    (Texts { $0.pattern = "PPIIIIIVVVVVVC" }, .patternLength(14)),
    (Texts { $0.pattern = "PPIIIIIVVVVVc" }, .unknownLetter("c", position: 13)),
    (Texts { $0.pattern = "PPÏIIIIVVVVVC" }, .unknownLetter("Ï", position: 3)),
    (Texts { $0.pattern = "PPIIVVIIVVVVC" }, .separatedLetters("I")),
    (Texts { $0.pattern = "PPIIVVXVVVVVC" }, .separatedLetters("V")),
    (Texts { $0.pattern = "PIPIIIIVVVVVC" }, .separatedLetters("P")),
    (Texts { $0.pattern = "IIIIIVVVVVPPC" }, .prefixNotFirst),
    (Texts { $0.pattern = "PPIIIIIVVVVCV" }, .separatedLetters("V")),
    (Texts { $0.pattern = "PPIIIIICVVVVV" }, .checkDigitNotLast),
    (Texts { $0.pattern = "PPIIIIIVVVVCC" }, .checkDigitNotLast),
    (Texts { $0.pattern = "PPIIIIIVVVVVV" }, .checkDigitNotLast),
    (Texts { $0.pattern = "PPVVVVVVVVVVC" }, .noItem),
    (Texts { $0.pattern = "PPIIIIIIIIIIC" }, .noValue),
    (Texts { $0.pattern = "PPIIIIIKKVVVC" }, .severalInnerCheckDigits),
    (Texts { $0.measure = "length" }, .unknownMeasure("length")),
    (Texts { $0.decimals = nil }, .noDecimals(.weight)),
    (Texts { $0.decimals = -1 }, .decimals(-1, valueDigits: 5)),
    (Texts { $0.decimals = 6 }, .decimals(6, valueDigits: 5)),
    (Texts { $0.decimals = .max }, .decimals(.max, valueDigits: 5)),
    (Texts { ($0.measure, $0.unit) = ("count", nil) }, .decimalsOfCount(3)),
    (Texts { $0.unit = nil }, .noUnit),
    (Texts { $0.unit = "" }, .noUnit),
    (Texts { ($0.measure, $0.decimals) = ("count", 0) }, .unexpectedUnit(.count)),
    (Texts.price { $0.unit = "kg" }, .unexpectedUnit(.price)),
    (Texts.price { $0.currency = nil }, .noCurrency),
    (Texts.price { $0.currency = "eur" }, .currency("eur")),
    (Texts.price { $0.currency = "978" }, .currency("978")),
    (Texts { $0.currency = "EUR" }, .unexpectedCurrency(.weight)),
    (Texts { $0.pattern = "PPIIIIKVVVVVC" }, .noInnerCheck(valueDigits: 5)),
    (Texts { $0.pattern = "PPIIIKVVVVVVC" }, .noInnerCheck(valueDigits: 6)),
    (Texts { $0.innerCheck = "5-digit price" }, .noInnerCheckDigit(.fiveDigitPrice)),
    (Texts { $0.innerCheck = "price" }, .unknownInnerCheck("price")),
    (
      Texts { ($0.pattern, $0.innerCheck) = ("PPIIIIKVVVVVC", "4-digit price") },
      .innerCheckLength(.fourDigitPrice, valueDigits: 5)
    ),
  ])
  func `a rule that contradicts itself is refused with the reason`(texts: Texts, fault: MeasureRulesError.Fault) {
    #expect(throws: MeasureRulesError.invalidRule(name: texts.name, fault)) { try texts.rule() }
    // The message says what to do.
    #expect("\(fault)".contains { ";:,".contains($0) }, "\(fault)")
  }

  @Test(arguments: [
    (
      Texts { $0.prefix = "30" },
      "rule 'cheese': numbers of 13 digits that start with 30 identify products everywhere; "
        + "use a prefix that starts with 2, 02 or 04"
    ),
    (
      Texts { $0.prefix = "2" },
      "rule 'cheese': the prefix has 1 digit, but the pattern has 2 letters P; make both equal"
    ),
    (
      Texts { $0.measure = "mass\n" },
      "rule 'cheese': the measure 'mass\\n' does not exist; choose 'weight', 'price' or "
        + "'count'"
    ),
    (
      Texts { $0.pattern = "PPIIIIKVVVVVC" },
      "rule 'cheese': the pattern has a K; add innerCheck '5-digit price', or "
        + "write X if the digit is not to be checked"
    ),
    (
      Texts { $0.pattern = "PPIIIKVVVVVVC" },
      "rule 'cheese': no check digit K is defined for a value of 6 digits, only "
        + "for 4 or 5; write X instead of K"
    ),
  ])
  func `a message names the rule, what is wrong and what to do`(texts: Texts, message: String) {
    let error = #expect(throws: MeasureRulesError.self) { try texts.rule() }
    #expect(error?.description == message)
  }
}
