extension MeasureReading {
  /// Two lines for users: the digits, and below them the letters of the pattern with the rule and what it read.
  ///
  ///     2112345006789
  ///     PPIIIIIVVVVVC   cheese: weight 0.678 kg, item 2112345
  public var explanation: String {
    var values = "\(rule.measure.rawValue) \(amount)\(Self.suffix(rule.unit, rule.currency))"
    if let second = rule.second, let field = rule.secondField {
      let amount = ExactDecimal(Int64(field.value(in: number)), decimals: second.decimals)
      values += ", \(second.measure.rawValue) \(amount)\(Self.suffix(second.unit, second.currency))"
    }
    return Self.aligned(rule, number, "\(values), item \(head)")
  }

  /// The digits of `number`, and below them the pattern, the name of `rule` and a text.
  static func aligned(_ rule: MeasureRule, _ number: UInt64, _ text: String) -> String {
    let digits = DigitField(place: 0, count: rule.digitCount).digits(in: number)
    return "\(digits)\n\(rule.pattern)   \(rule.name): \(text)"
  }

  /// The unit or the currency after a blank; empty for a count.
  private static func suffix(_ unit: String?, _ currency: String?) -> String {
    (unit ?? currency).map { " " + $0 } ?? ""
  }
}
