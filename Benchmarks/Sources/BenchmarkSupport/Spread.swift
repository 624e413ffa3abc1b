/// Median and extremes of several measurements.
package struct Spread {
  package let median: Double
  package let least: Double
  package let most: Double
  private let sorted: [Double]

  package init(_ values: [Double]) {
    precondition(!values.isEmpty, "a spread needs values")
    sorted = values.sorted()
    median = sorted[sorted.count / 2]
    least = sorted[0]
    most = sorted[sorted.count - 1]
  }

  package var percentile95: Double { percentile(95) }

  /// The value that `percent` of all do not exceed.
  package func percentile(_ percent: Double) -> Double {
    sorted[min(sorted.count - 1, Int(Double(sorted.count) * percent / 100))]
  }
}
