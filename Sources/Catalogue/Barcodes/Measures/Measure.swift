/// What the digits inside a restricted number measure.
public enum Measure: String, CaseIterable, Hashable, Sendable {
  /// The weight of the package.
  case weight
  /// The price of the package, not of a unit.
  case price
  /// The number of pieces in the package.
  case count
}
