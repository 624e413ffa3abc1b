import Essentials
import TextFormat

extension Date {
  /// The date in RFC 3339 with milliseconds, for programs: `2026-01-31T23:59:59.123Z`. A date whose year does not have
  /// four digits is clamped to the nearest one whose year does.
  var precise: String {
    // A date is a floating-point number that may be just below its exact millisecond, so round to microseconds first.
    let milliseconds = ((timeIntervalSince1970 * 1e6).rounded() / 1000).rounded(.down)
    // NaN is in no range, and becomes the earliest date.
    let nearest: Int64 = milliseconds > 0 ? .max : .min
    return CivilTime(milliseconds: Int64(exactly: milliseconds) ?? nearest).text
  }
}
