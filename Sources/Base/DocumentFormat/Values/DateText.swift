public import Essentials
import TextFormat

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
      let day = number(&rest, 2), year >= 1
    else { return nil }
    let calendarDate = CalendarDate(year: year, month: month, day: day)
    guard calendarDate.isValid else { return nil }
    var seconds = Double(calendarDate.daysSince1970 * 86_400)
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
    let day = second.dividedRoundingDown(by: 86_400)
    var text: [UInt8] = []
    text.append(CalendarDate(daysSince1970: day))
    text.append(UInt8(ascii: "T"))
    text.appendClock(second: second - day * 86_400)
    if digits > 0 {
      text.append(UInt8(ascii: "."))
      text.append(fraction, digits: digits)
    }
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
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
}
