/// The order of the digits of a date. A letter is a digit: `Y` of the year, `M` of the month, `D` of the day, `J` of
/// the day of the year, `h` of the hour, `m` of the minute.
///
/// A day of zero means the last day of the month (ANSI MH10.8.2 leaves it open; the IFA coding system and GS1 define
/// it), and so does a date without a day.
enum LabelDateFormat: String, Hashable, Sendable {
  case yearMonthDay = "YYMMDD"
  case dayMonthYear = "DDMMYY"
  case monthDayYear = "MMDDYY"
  case monthYear = "MMYY"
  case yearDay = "YYJJJ"
  case yearMonthDayHour = "YYMMDDhh"
  case yearDayHour = "YYJJJhh"
  case fullYearMonthDay = "YYYYMMDD"
  case dayMonthFullYear = "DDMMYYYY"
  case fullYearMonthDayTime = "YYYYMMDDhhmm"

  /// The number of digits.
  var count: Int { rawValue.utf8.count }

  /// Returns the date that `value` denotes; `nil` if it has another form or the calendar has no such date.
  func date(_ value: [UInt8], today: ScanDate) -> ScanDate? {
    read(value, today: today)?.date
  }

  /// Returns the date and time that `value` denotes; `nil` if there is no such date or time.
  func dateTime(_ value: [UInt8], today: ScanDate) -> ScanDateTime? {
    guard let (date, hour, minute) = read(value, today: today) else { return nil }
    return ScanDateTime(date: date, hour: hour, minute: minute)
  }

  private func read(_ value: [UInt8], today: ScanDate) -> (date: ScanDate, hour: Int, minute: Int)? {
    guard value.count == count else { return nil }
    var (year, month, day, dayOfYear, hour, minute) = (0, 0, 0, 0, 0, 0)
    var yearDigitCount = 0
    for (letter, byte) in zip(rawValue.utf8, value) {
      guard ASCII.isDigit(byte) else { return nil }
      let digit = Int(byte - UInt8(ascii: "0"))
      switch letter {
      case UInt8(ascii: "Y"):
        year = 10 * year + digit
        yearDigitCount += 1
      case UInt8(ascii: "M"): month = 10 * month + digit
      case UInt8(ascii: "D"): day = 10 * day + digit
      case UInt8(ascii: "J"): dayOfYear = 10 * dayOfYear + digit
      case UInt8(ascii: "h"): hour = 10 * hour + digit
      default: minute = 10 * minute + digit
      }
    }
    if yearDigitCount == 2 { year = ScanDate.year(ofTwoDigits: year, in: today.year) }
    return date(year: year, month: month, day: day, dayOfYear: dayOfYear).map { ($0, hour, minute) }
  }

  private func date(year: Int, month: Int, day: Int, dayOfYear: Int) -> ScanDate? {
    switch self {
    case .yearDay, .yearDayHour:
      guard dayOfYear >= 1, let first = ScanDate(year: year, month: 1, day: 1), year < 9999 else { return nil }
      let date = ScanDate(daysSince1970: first.daysSince1970 + dayOfYear - 1)
      return date.year == year ? date : nil
    default:
      guard day == 0 else { return ScanDate(year: year, month: month, day: day) }
      return (0..<9999).contains(year) ? ScanDate.end(of: month, year: year) : nil
    }
  }
}
