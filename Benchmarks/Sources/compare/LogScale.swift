#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A logarithmic axis: from powers of ten around the values to places on the drawing.
struct LogScale {
  /// Exponents of the two ends.
  let first: Int
  let last: Int
  private let start: Double
  private let end: Double

  /// An axis for `values`, all of them positive, from the place `start` to the place `end`.
  init(_ values: [Double], from start: Double, to end: Double) {
    let low = values.min() ?? 1
    let high = values.max() ?? 10
    first = Int(floor(log10(low)))
    last = max(first + 1, Int(ceil(log10(high))))
    self.start = start
    self.end = end
  }

  func place(_ value: Double) -> Double {
    start + (log10(value) - Double(first)) / Double(last - first) * (end - start)
  }

  /// The powers of ten.
  var ticks: [Double] { (first...last).map { pow(10, Double($0)) } }

  /// Two and five times each power, for thinner lines.
  var minorTicks: [Double] { ticks.dropLast().flatMap { [2 * $0, 5 * $0] } }
}
