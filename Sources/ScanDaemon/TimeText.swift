import TextFormat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }

  /// As programs read it, `2026-01-31T23:59:59.123Z`: RFC 3339 with milliseconds. What has no year of four digits is brought to the
  /// nearest moment that has.
  var precise: String {
    // A date is a fraction that may lie just below the millisecond that it was made of: microseconds first.
    let milliseconds = ((timeIntervalSince1970 * 1e6).rounded() / 1000).rounded(.down)
    // NaN is in no range, and becomes the beginning.
    let nearest: Int64 = milliseconds > 0 ? .max : .min
    return CivilTime(milliseconds: Int64(exactly: milliseconds) ?? nearest).text
  }
}
