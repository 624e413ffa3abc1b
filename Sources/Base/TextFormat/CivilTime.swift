/// A UTC time in the Gregorian calendar, for formatting.
///
/// Foundation's formatters write the same text for years from 1583, but take longer than a lookup in a catalogue: each
/// answer of the daemon contains two times, and each line of its log one.
package struct CivilTime: Sendable, Equatable {
  /// The first and the last millisecond of the years 1 to 9999, in milliseconds since 1970.
  package static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

  /// The date, in the years 1 to 9999.
  package let date: CalendarDate
  /// The day of the week; 0 is Sunday.
  package let weekday: Int
  /// The number of milliseconds since midnight.
  package let millisecondOfDay: Int

  /// - Parameter milliseconds: The time in milliseconds since 1970. A time outside ``range`` is clamped to it.
  package init(milliseconds: Int64) {
    let total = Int(min(max(milliseconds, Self.range.lowerBound), Self.range.upperBound))
    let days = total.dividedRoundingDown(by: 86_400_000)
    millisecondOfDay = total - days * 86_400_000
    date = CalendarDate(daysSince1970: days)
    weekday = CalendarDate.weekday(daysSince1970: days)
  }

  /// RFC 3339 with milliseconds: `2026-01-31T23:59:59.123Z`.
  package var text: String { text(withMilliseconds: true) }

  /// RFC 3339 without a fraction, which is truncated: `2026-01-31T23:59:59Z`.
  package var secondsText: String { text(withMilliseconds: false) }

  private func text(withMilliseconds: Bool) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    bytes.append(date)
    bytes.append(UInt8(ascii: "T"))
    bytes.appendClock(second: millisecondOfDay / 1000)
    if withMilliseconds {
      bytes.append(UInt8(ascii: "."))
      bytes.append(millisecondOfDay % 1000, digits: 3)
    }
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The time in the format of the HTTP `Date` header (RFC 9110, 5.6.7): `Sat, 31 Jan 2026 23:59:59 GMT`.
  package var httpText: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(29)
    bytes += CalendarDate.weekdayNames[weekday].utf8
    bytes += ", ".utf8
    bytes.append(date.day, digits: 2)
    bytes.append(UInt8(ascii: " "))
    bytes += CalendarDate.monthNames[date.month - 1].utf8
    bytes.append(UInt8(ascii: " "))
    bytes.append(date.year, digits: 4)
    bytes.append(UInt8(ascii: " "))
    bytes.appendClock(second: millisecondOfDay / 1000)
    bytes += " GMT".utf8
    return String(decoding: bytes, as: UTF8.self)
  }
}
