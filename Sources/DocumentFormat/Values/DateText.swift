import Foundation

/// Conversion between dates and text: ISO 8601 in UTC for the years 1 to 9999; `@` and the seconds since 1970 for all
/// other dates, and for dates that need more than nine decimals of a second. Parsing restores the exact date, to the
/// last bit.
public enum DateText {
  /// The shortest text that ``date(_:)`` parses as `date`.
  public static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSince1970
    // 0001-01-01 and 10000-01-01.
    guard seconds >= -62_135_596_800, seconds < 253_402_300_800 else { return "@\(seconds)" }
    for digits in [0, 3, 6, 9] {
      let scale = digits == 0 ? 1 : digits == 3 ? 1_000 : digits == 6 ? 1_000_000 : 1_000_000_000
      let floor = seconds.rounded(.down)
      var second = Int(floor)
      var fraction = Int(((seconds - floor) * Double(scale)).rounded())
      if fraction == scale { (second, fraction) = (second + 1, 0) }
      let text = iso(second, fraction, digits)
      if self.date(text)?.timeIntervalSince1970 == seconds { return text }
    }
    return "@\(seconds)"
  }

  /// Parses a date: `2026-01-02` or `2026-01-02T03:04:05`, with optional decimals of a second and an optional `Z` or
  /// `+02:00` (UTC if omitted), or `@` and the seconds since 1970. `nil` for any other text.
  public static func date(_ text: String) -> Date? {
    if text.first == "@" { return Double(text.dropFirst()).map(Date.init(timeIntervalSince1970:)) }
    var rest = Array(text.utf8)[...]
    guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
      let day = number(&rest, 2), year >= 1, (1...12).contains(month), day >= 1, day <= days(in: month, of: year)
    else { return nil }
    var seconds = Double(dayNumber(year, month, day) * 86400)
    if rest.isEmpty { return Date(timeIntervalSince1970: seconds) }
    guard take(&rest, "T") || take(&rest, " "), let hour = number(&rest, 2), take(&rest, ":"),
      let minute = number(&rest, 2), take(&rest, ":"), let second = number(&rest, 2), hour < 24, minute < 60,
      second < 60
    else { return nil }
    seconds += Double(hour * 3600 + minute * 60 + second)
    if take(&rest, ".") {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty, digits.count <= 9, let numerator = number(&rest, digits.count) else { return nil }
      var denominator = 1
      for _ in digits { denominator *= 10 }
      seconds += Double(numerator) / Double(denominator)
    }
    if !rest.isEmpty, !take(&rest, "Z") {
      let isEast = take(&rest, "+")
      guard isEast || take(&rest, "-"), let hours = number(&rest, 2), take(&rest, ":"), let minutes = number(&rest, 2),
        hours < 24, minutes < 60
      else { return nil }
      seconds -= Double((hours * 3600 + minutes * 60) * (isEast ? 1 : -1))
    }
    return rest.isEmpty ? Date(timeIntervalSince1970: seconds) : nil
  }

  private static func iso(_ second: Int, _ fraction: Int, _ digits: Int) -> String {
    let dayNumber = (second >= 0 ? second : second - 86399) / 86400
    let time = second - dayNumber * 86400
    let (year, month, day) = date(ofDay: dayNumber)
    var text = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
    text += "T\(pad(time / 3600, 2)):\(pad(time / 60 % 60, 2)):\(pad(time % 60, 2))"
    if digits > 0 { text += ".\(pad(fraction, digits))" }
    return text + "Z"
  }

  private static func pad(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: Int) -> Int? {
    guard rest.count >= digits else { return nil }
    var value = 0
    for byte in rest.prefix(digits) {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    rest.removeFirst(digits)
    return value
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, _ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func days(in month: Int, of year: Int) -> Int {
    month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// The number of days from 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is the
  /// last day of the year, and are counted within an era of 400 years.
  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The inverse of `dayNumber`, for days from the year 1 on.
  private static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
  }
}
