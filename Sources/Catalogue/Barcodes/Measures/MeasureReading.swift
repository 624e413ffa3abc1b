/// A restricted number as a rule reads it: an item, and its weight, price or count.
public struct MeasureReading: Hashable, Sendable {
  /// The rule.
  public let rule: MeasureRule
  /// The number.
  public let gtin: GTIN

  /// The digits of the item with their leading zeros, without the prefix.
  public var item: String { rule.itemField.digits(in: gtin.value) }

  /// The prefix and the digits of the item: the number's head, by which catalogues list the item.
  public var head: String { rule.prefix + item }

  /// The weight, price or count as an exact number.
  public var amount: ExactDecimal {
    // A value has at most ten digits, and never more decimals than digits.
    ExactDecimal(Int64(rule.valueField.value(in: gtin.value)), decimals: rule.decimals)
  }

  /// The value with its unit or currency.
  public var value: ScanValue {
    switch rule.measure {
    case .weight: .quantity(amount, unit: rule.unit ?? "")
    case .price: .money(amount, currency: rule.currency)
    case .count: .number(amount)
    }
  }

  /// The value under the name of its measure: `weight`, `price` or `count`.
  public var field: ScanData.Field { ScanData.Field(rule.measure.rawValue, value) }

  /// The number of the item itself: the value and its check digit are zero, and the check digit of the number is
  /// computed anew.
  public var itemNumber: GTIN { rule.number(item: rule.itemField.value(in: gtin.value), value: 0) }
}
