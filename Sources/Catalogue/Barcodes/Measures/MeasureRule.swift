/// A rule that says where a restricted number contains an item, and a weight, a price or a count.
///
/// Numbers that start with 2, 02 or 04 are assigned by a country or a store, so the layout of their digits is data:
///
///     prefix "28", pattern "PPIIIIKVVVVVC", weight with 3 decimals in kg
///
///     2812348123451
///     PPIIIIKVVVVVC    item 1234, check digit of the weight 8, weight 12.345 kg
///
/// The letters of a pattern:
///
/// - term `P`: The prefix, at the start.
/// - term `I`: The item.
/// - term `V`: The value.
/// - term `W`: A second value, see ``MeasureRule/SecondValue``.
/// - term `K`: The check digit of the value, see ``InnerCheckDigit``.
/// - term `X`: Digits that do not matter, for example a department or a check digit that scales fill in arbitrarily.
/// - term `C`: The check digit of the number, at the end.
///
/// A pattern has 13 letters (EAN-13), 12 (UPC-A), 8 (GTIN-8), or 18 for scales that print a weight and a price in one
/// number, which is no GTIN. A number with 12 digits is the same as the one with 13
/// that starts with 0, and as the one with 14 that starts with 00, so rules apply to all spellings.
///
/// Invariants: the fields agree with each other as ``MeasureRulesError/Fault`` requires, and every number that starts
/// with ``prefix`` is restricted; see ``GTIN/isRestricted``.
public struct MeasureRule: Hashable, Sendable {
  /// The name by which answers refer to the rule.
  public let name: String
  /// The first digits of the numbers to which the rule applies.
  public let prefix: String
  /// The meaning of each digit.
  public let pattern: String
  /// What the value measures.
  public let measure: Measure
  /// The number of digits of the value after the decimal point.
  public let decimals: Int
  /// The unit of a weight; `nil` for other measures.
  public let unit: String?
  /// The currency of a price in ISO 4217 letters; `nil` for other measures.
  public let currency: String?
  /// The algorithm of the check digit `K`; `nil` if the pattern has none.
  public let innerCheck: InnerCheckDigit?

  /// The second value; `nil` if the pattern has no `W`.
  public let second: SecondValue?

  let itemField: DigitField
  let valueField: DigitField
  let innerCheckField: DigitField?
  /// The field of the second value.
  let secondField: DigitField?
  /// Whether the last digit is the check digit of the number. Only a number of 18 digits may have none.
  let hasCheckDigit: Bool
  /// The numbers, written with 14 digits, or with 18 for a pattern of 18 letters, that start with the prefix.
  let range: Range<UInt64>

  /// Creates a rule from the texts of a setting.
  ///
  /// - Parameters:
  ///   - name: The name, which no other rule of a set may have. At most 64 characters.
  ///   - prefix: The first digits: a prefix of restricted numbers for the length of the pattern. With 13 digits it starts
  ///     with 2, 02 or 04; with 12 digits with 2 or 4; with 8 digits with 0 or 2.
  ///   - pattern: The letters of the digits; see ``MeasureRule``.
  ///   - measure: `weight`, `price` or `count`.
  ///   - decimals: The number of digits of the value after the decimal point. Needed for a weight and a price.
  ///   - unit: The unit of a weight, for example `kg`. Needed for a weight, and given only for a weight.
  ///   - currency: The currency of a price, for example `EUR`. Needed for a price, and given only for a price.
  ///   - innerCheck: `4-digit price` or `5-digit price`. Needed if the pattern has a `K`, and given only then.
  ///   - second: The second value, of another measure. Needed if the pattern has a `W`, and given only then.
  /// - Throws: ``MeasureRulesError/invalidRule(name:_:)`` for the first fault in the order of the parameters.
  public init(
    name: String,
    prefix: String,
    pattern: String,
    measure: String,
    decimals: Int? = nil,
    unit: String? = nil,
    currency: String? = nil,
    innerCheck: String? = nil,
    second: SecondValue? = nil
  ) throws(MeasureRulesError) {
    do throws(MeasureRulesError.Fault) {
      try Self.checkName(name)
      let layout = try Layout(pattern)
      try Self.checkPrefix(prefix, layout)
      let measure = try Self.measure(named: measure)
      self.name = name
      self.prefix = prefix
      self.pattern = pattern
      self.measure = measure
      self.decimals = try Self.checkedDecimals(decimals, measure, layout.value)
      self.unit = try Self.checkedUnit(unit, measure)
      self.currency = try Self.checkedCurrency(currency, measure)
      self.innerCheck = try Self.innerCheck(named: innerCheck, layout)
      self.second = try Self.checkedSecond(second, measure, layout)
      itemField = layout.item
      valueField = layout.value
      innerCheckField = layout.innerCheck
      secondField = layout.second
      hasCheckDigit = layout.hasCheckDigit
      range = Self.range(of: prefix, digitCount: layout.digitCount)
    } catch {
      throw .invalidRule(name: name, error)
    }
  }

  /// A second value in a number, as in `26XXXXXMMMMMWWWWWC`: a price and a weight.
  public struct SecondValue: Hashable, Sendable {
    /// What the value measures. It is another measure than that of the first value.
    public let measure: Measure
    /// The number of digits of the value after the decimal point.
    public let decimals: Int
    /// The unit of a weight; `nil` for other measures.
    public let unit: String?
    /// The currency of a price in ISO 4217 letters; `nil` for other measures.
    public let currency: String?

    /// Creates a description. Whether it is right is checked with the rule.
    ///
    /// - Throws: ``MeasureRulesError/Fault/unknownMeasure(_:)``.
    public init(
      measure: String, decimals: Int? = nil, unit: String? = nil, currency: String? = nil
    ) throws(MeasureRulesError.Fault) {
      self.measure = try MeasureRule.measure(named: measure)
      guard let decimals = decimals ?? (self.measure == .count ? 0 : nil) else { throw .noDecimals(self.measure) }
      self.decimals = decimals
      self.unit = try MeasureRule.checkedUnit(unit, self.measure)
      self.currency = try MeasureRule.checkedCurrency(currency, self.measure)
    }
  }

  /// The number of digits in which the rule is written: 13, 12, 8 or 18.
  public var digitCount: Int { pattern.utf8.count }

  /// The number of letters of a pattern whose numbers are no GTINs.
  static let longDigitCount = 18

  /// The numbers, written with 14 digits, that start with `prefix` if they are written with `digitCount` digits.
  private static func range(of prefix: String, digitCount: Int) -> Range<UInt64> {
    let first = DigitRun(prefix.utf8)?.value ?? 0
    let power = DigitField.powerOfTen(digitCount - prefix.utf8.count)
    return first * power..<(first + 1) * power
  }

  /// An example of the numbers that the rule reads, for messages.
  var example: String {
    if digitCount == Self.longDigitCount {
      return DigitField(place: 0, count: digitCount).digits(in: range.lowerBound)
    }
    return String(number(item: 0, value: 0).digits.suffix(13))
  }

  /// The number with this item and this value, with all check digits computed and zeros for the digits `X`.
  ///
  /// - Parameters:
  ///   - item: The item. Digits that do not fit are dropped.
  ///   - value: The value without its decimal point. Digits that do not fit are dropped.
  func number(item: UInt64, value: UInt64) -> GTIN {
    var number = range.lowerBound + itemField.placing(item) + valueField.placing(value)
    if let innerCheck, let innerCheckField {
      number += innerCheckField.placing(UInt64(innerCheck.checkDigit(of: value)))
    }
    return GTIN(completing: number / 10)
  }
}

extension GTIN {
  /// Creates the GTIN that consists of a number of up to 13 digits and its check digit. Further digits are dropped.
  init(completing number: UInt64) {
    let number = number % DigitField.powerOfTen(13)
    var sum: UInt64 = 0
    var rest = number
    while rest > 0 {
      sum += 3 * (rest % 10) + rest / 10 % 10
      rest /= 100
    }
    value = number * 10 + (10 - sum % 10) % 10
  }
}
