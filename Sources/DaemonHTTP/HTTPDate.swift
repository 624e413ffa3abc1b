import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The `Date` header (RFC 9110, 5.6.7), written once a second.
final class HTTPDate: Sendable {
  private let last = Mutex((second: Int64.min, text: ""))

  /// - Parameter second: seconds since 1970.
  func text(at second: Int64 = Int64(Date().timeIntervalSince1970)) -> String {
    last.withLock { last in
      if last.second != second { last = (second, Self.text(second)) }
      return last.text
    }
  }

  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func text(_ second: Int64) -> String {
    let clamped = min(max(second, 0), 253_402_300_799)  // the end of the year 9999
    let (day, time) = clamped.quotientAndRemainder(dividingBy: 86_400)
    // Days since 1 March of the year 0, in eras of 400 years: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    let shifted = day + 719_468
    let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    let calendarMonth = month < 10 ? month + 2 : month - 10
    let year = era * 400 + yearOfEra + (calendarMonth < 2 ? 1 : 0)
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
    let date = "\(padded(dayOfMonth, 2)) \(months[Int(calendarMonth)]) \(padded(year, 4))"
    return "\(days[Int(day % 7)]), \(date) \(clock) GMT"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
