extension MeasureRule {
  /// The maximum number of characters in a name and in a unit.
  static let maximumNameLength = 64

  static func checkName(_ name: String) throws(MeasureRulesError.Fault) {
    guard !name.isEmpty, name.count <= maximumNameLength, isVisible(name) else { throw .name }
  }

  static func checkPrefix(_ prefix: String, _ layout: Layout) throws(MeasureRulesError.Fault) {
    guard let run = DigitRun(prefix.utf8), run.count > 0 else { throw .prefixNotDigits(prefix) }
    guard run.count == layout.prefixCount else {
      throw .prefixLength(digits: run.count, letters: layout.prefixCount)
    }
    let starts = MeasureRulesError.Fault.restrictedPrefixes(digitCount: layout.digitCount)
    guard starts.contains(where: prefix.hasPrefix) else {
      throw .unrestrictedPrefix(prefix, digitCount: layout.digitCount)
    }
  }

  static func measure(named name: String) throws(MeasureRulesError.Fault) -> Measure {
    guard let measure = Measure(rawValue: name) else { throw .unknownMeasure(name) }
    return measure
  }

  static func checkedDecimals(
    _ decimals: Int?,
    _ measure: Measure,
    _ value: DigitField
  ) throws(MeasureRulesError.Fault) -> Int {
    guard let decimals = decimals ?? (measure == .count ? 0 : nil) else { throw .noDecimals(measure) }
    guard measure != .count || decimals == 0 else { throw .decimalsOfCount(decimals) }
    guard (0...value.count).contains(decimals) else {
      throw .decimals(decimals, valueDigits: value.count)
    }
    return decimals
  }

  static func checkedUnit(_ unit: String?, _ measure: Measure) throws(MeasureRulesError.Fault) -> String? {
    guard measure == .weight else {
      if unit != nil { throw .unexpectedUnit(measure) }
      return nil
    }
    guard let unit, !unit.isEmpty, unit.count <= maximumNameLength, isVisible(unit) else { throw .noUnit }
    return unit
  }

  static func checkedCurrency(_ currency: String?, _ measure: Measure) throws(MeasureRulesError.Fault) -> String? {
    guard measure == .price else {
      if currency != nil { throw .unexpectedCurrency(measure) }
      return nil
    }
    guard let currency else { throw .noCurrency }
    let isCode = currency.utf8.count == 3 && currency.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    guard isCode else { throw .currency(currency) }
    return currency
  }

  static func innerCheck(
    named name: String?,
    _ layout: Layout
  ) throws(MeasureRulesError.Fault) -> InnerCheckDigit? {
    guard let name else {
      if layout.innerCheck != nil { throw .noInnerCheck(valueDigits: layout.value.count) }
      return nil
    }
    guard let check = InnerCheckDigit(rawValue: name) else { throw .unknownInnerCheck(name) }
    guard layout.innerCheck != nil else { throw .noInnerCheckDigit(check) }
    guard check.digitCount == layout.value.count else {
      throw .innerCheckLength(check, valueDigits: layout.value.count)
    }
    return check
  }

  static func checkedSecond(
    _ second: SecondValue?,
    _ measure: Measure,
    _ layout: Layout
  ) throws(MeasureRulesError.Fault) -> SecondValue? {
    guard let field = layout.second else {
      if second != nil { throw .unexpectedSecond }
      return nil
    }
    guard let second else { throw .noSecond }
    guard second.measure != measure else { throw .sameMeasure(measure) }
    _ = try checkedDecimals(second.decimals, second.measure, field)
    return second
  }

  /// Whether a text has only characters that print, so that it cannot break a line of output.
  private static func isVisible(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: false
      default: true
      }
    }
  }
}
