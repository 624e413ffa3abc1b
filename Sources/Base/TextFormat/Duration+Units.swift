extension Duration {
  /// The duration in seconds, rounded to the nearest double.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

  /// The duration in microseconds, truncated towards zero and clamped to 64 bits.
  package var microseconds: Int64 { count(perSecond: 1_000_000) }

  /// The duration in nanoseconds, truncated towards zero and clamped to 64 bits.
  package var nanoseconds: Int64 { count(perSecond: 1_000_000_000) }

  private func count(perSecond units: Int64) -> Int64 {
    let (seconds, attoseconds) = components
    let (product, hasOverflowed) = seconds.multipliedReportingOverflow(by: units)
    let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / units))
    return hasOverflowed || isTooLarge ? (seconds < 0 ? .min : .max) : sum
  }
}
