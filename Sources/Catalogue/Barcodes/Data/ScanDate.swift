import TextFormat

/// A date on a label, in the Gregorian calendar and without a time zone.
public struct ScanDate: Hashable, Sendable {
  /// The year, 0 to 9999.
  public let year: Int
  /// The month, 1 to 12.
  public let month: Int
  /// The day of the month, from 1.
  public let day: Int

  /// Creates a date; `nil` if the calendar has no such date.
  public init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), CalendarDate(year: year, month: month, day: day).isValid else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the date that is this number of days after 1970-01-01.
  ///
  /// - Precondition: The date is in the years 0 to 9999.
  public init(daysSince1970 days: Int) {
    let date = CalendarDate(daysSince1970: days)
    precondition((0...9999).contains(date.year), "the year must have four digits")
    year = date.year
    month = date.month
    day = date.day
  }

  /// The number of days since 1970-01-01.
  public var daysSince1970: Int { CalendarDate(year: year, month: month, day: day).daysSince1970 }

  /// The last day of a month of a year; `nil` if there is no such month.
  static func end(of month: Int, year: Int) -> ScanDate? {
    guard (1...12).contains(month) else { return nil }
    let next = CalendarDate(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
    return ScanDate(daysSince1970: next.daysSince1970 - 1)
  }

  /// The year that two digits denote in the year `currentYear`: at most 49 years back and at most 50 years ahead (GS1
  /// General Specifications, determination of century in dates).
  static func year(ofTwoDigits digits: Int, in currentYear: Int) -> Int {
    let difference = digits - currentYear % 100
    let century = currentYear - currentYear % 100
    if difference >= 51 { return century - 100 + digits }
    if difference <= -50 { return century + 100 + digits }
    return century + digits
  }
}

extension ScanDate: Comparable {
  /// Compares by time.
  public static func < (left: ScanDate, right: ScanDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

extension ScanDate: CustomStringConvertible {
  /// The date in ISO 8601, `2026-12-31`.
  public var description: String {
    var bytes: [UInt8] = []
    bytes.append(CalendarDate(year: year, month: month, day: day))
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A date with a time of day on a label, without a time zone: the local time of the place where it was printed.
public struct ScanDateTime: Hashable, Sendable {
  /// The date.
  public let date: ScanDate
  /// The hour, 0 to 23.
  public let hour: Int
  /// The minute, 0 to 59.
  public let minute: Int
  /// The second, 0 to 59; `nil` if the label states none.
  public let second: Int?

  /// Creates a date and time; `nil` if there is no such time of day.
  public init?(date: ScanDate, hour: Int, minute: Int = 0, second: Int? = nil) {
    guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second ?? 0) else { return nil }
    self.date = date
    self.hour = hour
    self.minute = minute
    self.second = second
  }
}

extension ScanDateTime: CustomStringConvertible {
  /// The date and time in ISO 8601, `2026-12-31T23:59` or `2026-12-31T23:59:59`.
  public var description: String {
    var bytes: [UInt8] = []
    for number in [hour, minute] + (second.map { [$0] } ?? []) {
      bytes.append(UInt8(ascii: bytes.isEmpty ? "T" : ":"))
      bytes.append(number, digits: 2)
    }
    return date.description + String(decoding: bytes, as: UTF8.self)
  }
}
