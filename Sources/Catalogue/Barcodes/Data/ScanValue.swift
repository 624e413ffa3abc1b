/// A typed value that a label states.
public indirect enum ScanValue: Hashable, Sendable {
  /// A text: a lot, a serial number, a key with its leading zeros.
  case text(String)
  /// A number without a unit: a count, points, percent.
  case number(ExactDecimal)
  /// Yes or no.
  case flag(Bool)
  /// A date.
  case date(ScanDate)
  /// A date and a time of day.
  case dateTime(ScanDateTime)
  /// A number with its unit, for example 1.25 `kg`.
  case quantity(ExactDecimal, unit: String)
  /// An amount of money. The currency is its ISO 4217 letters, for example `EUR`; `nil` if the label states none.
  case money(ExactDecimal, currency: String?)
  /// Several values in order.
  case list([ScanValue])
  /// Several named values in order, for example a location by its role.
  case fields([ScanData.Field])
}
