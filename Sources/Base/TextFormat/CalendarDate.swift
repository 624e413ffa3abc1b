/// A date of the proleptic Gregorian calendar.
package struct CalendarDate: Sendable, Equatable {
  package var year: Int
  /// The month, 1 to 12.
  package var month: Int
  /// The day, 1 to 31.
  package var day: Int

  package init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": a year begins in March, so that the leap day is the
  // last one, and an era is 400 years, which always have 146,097 days.
  private static let daysOfEra = 146_097
  /// The number of days from 0000-03-01, when an era begins, to 1970-01-01.
  private static let epoch = 719_468

  /// Creates the date that is this number of days after 1970-01-01.
  package init(daysSince1970: Int) {
    let days = daysSince1970 + Self.epoch
    let era = days.dividedRoundingDown(by: Self.daysOfEra)
    let dayOfEra = days - era * Self.daysOfEra
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  /// The number of days from 1970-01-01 to this date. A day after the end of its month counts into the next month.
  package var daysSince1970: Int {
    let marchYear = month > 2 ? year : year - 1
    let era = marchYear.dividedRoundingDown(by: 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * Self.daysOfEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.epoch
  }

  /// Whether the calendar has this date: there is no 31st of April.
  package var isValid: Bool {
    (1...12).contains(month) && (1...31).contains(day) && CalendarDate(daysSince1970: daysSince1970) == self
  }

  /// The day of the week of the date that is this number of days after 1970-01-01; 0 is Sunday.
  package static func weekday(daysSince1970 days: Int) -> Int {
    // 1970-01-01 was a Thursday.
    (days + 4) - (days + 4).dividedRoundingDown(by: 7) * 7
  }

  /// The names of the months in HTTP (RFC 9110, 5.6.7).
  package static let monthNames = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  /// The names of the days in HTTP, from Sunday.
  package static let weekdayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
}

extension Int {
  /// The quotient, rounded down: −1 divided by 7 is −1.
  ///
  /// - Parameter divisor: The divisor, greater than 0.
  package func dividedRoundingDown(by divisor: Int) -> Int {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

extension [UInt8] {
  /// Appends the last digits of a number, padded with zeros.
  ///
  /// - Parameter value: The number, which must not be negative.
  package mutating func append(_ value: Int, digits: Int) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends a date as `2026-01-31`.
  ///
  /// - Parameter date: A date of the years 0 to 9999.
  package mutating func append(_ date: CalendarDate) {
    append(date.year, digits: 4)
    append(UInt8(ascii: "-"))
    append(date.month, digits: 2)
    append(UInt8(ascii: "-"))
    append(date.day, digits: 2)
  }

  /// Appends a time of day as `23:59:59`.
  ///
  /// - Parameter second: The number of seconds since midnight, less than a day.
  package mutating func appendClock(second: Int) {
    append(second / 3600, digits: 2)
    append(UInt8(ascii: ":"))
    append(second / 60 % 60, digits: 2)
    append(UInt8(ascii: ":"))
    append(second % 60, digits: 2)
  }
}
