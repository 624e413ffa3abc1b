/// A restricted number as a rule reads it: an item, and its weight, price or count.
public struct MeasureReading: Hashable, Sendable {
  /// The rule.
  public let rule: MeasureRule
  /// The digits of the number as a number.
  let number: UInt64

  /// The number, unless it has 18 digits.
  public var gtin: GTIN? { GTIN(value: number) }

  /// The digits of the item with their leading zeros, without the prefix.
  public var item: String { rule.itemField.digits(in: number) }

  /// The prefix and the digits of the item: the number's head, by which catalogues list the item.
  public var head: String { rule.prefix + item }

  /// The weight, price or count as an exact number.
  public var amount: ExactDecimal {
    // A value has at most fifteen digits, and never more decimals than digits.
    ExactDecimal(Int64(rule.valueField.value(in: number)), decimals: rule.decimals)
  }

  /// The value with its unit or currency.
  public var value: ScanValue { Self.value(amount, rule.measure, rule.unit, rule.currency) }

  /// The second value under the name of its measure; `nil` if the rule has none.
  public var secondField: ScanData.Field? {
    guard let second = rule.second, let field = rule.secondField else { return nil }
    let amount = ExactDecimal(Int64(field.value(in: number)), decimals: second.decimals)
    return ScanData.Field(
      second.measure.rawValue, Self.value(amount, second.measure, second.unit, second.currency))
  }

  private static func value(_ amount: ExactDecimal, _ measure: Measure, _ unit: String?, _ currency: String?)
    -> ScanValue
  {
    switch measure {
    case .weight: .quantity(amount, unit: unit ?? "")
    case .price: .money(amount, currency: currency)
    case .count: .number(amount)
    }
  }

  /// The value under the name of its measure: `weight`, `price` or `count`.
  public var field: ScanData.Field { ScanData.Field(rule.measure.rawValue, value) }

  /// The number of the item itself: the value and its check digit are zero, and the check digit of the number is
  /// computed anew. For a number of 18 digits, it is prefix and item, then zeros, with 13 digits.
  public var itemNumber: GTIN {
    guard rule.digitCount == MeasureRule.longDigitCount else {
      return rule.number(item: rule.itemField.value(in: number), value: 0)
    }
    let head = head
    let value = DigitRun(head.utf8.prefix(12))?.value ?? 0
    return GTIN(completing: value * DigitField.powerOfTen(12 - head.utf8.count))
  }
}
