/// A moment of UTC by the Gregorian calendar, which is extended to the years before it was made.
///
/// Foundation's formatters say the same for the years from 1583 on, and take longer than a lookup in a catalogue: each answer of
/// the daemon has two moments, and each of its log lines one.
public struct CivilTime: Sendable, Equatable {
  /// The first and the last moment of the years 1 to 9999, in milliseconds since 1970.
  public static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

  /// The first of March of the year −400, in milliseconds since 1970: no moment is before it.
  private static let firstEra = -(719_468 + 146_097) * 86_400_000

  /// 1 to 9999.
  public let year: Int
  /// 1 to 12.
  public let month: Int
  /// 1 to 31.
  public let day: Int
  /// From 0, a Sunday.
  public let weekday: Int
  /// Since midnight.
  public let millisecondOfDay: Int

  /// - Parameter milliseconds: since 1970; a moment outside ``range`` is taken for the nearest one inside.
  public init(milliseconds: Int64) {
    let total = Int(min(max(milliseconds, Self.range.lowerBound), Self.range.upperBound))
    let days = (total - Self.firstEra) / 86_400_000
    millisecondOfDay = (total - Self.firstEra) % 86_400_000
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": a year is counted from March, so that the leap day is the
    // last one, and 400 of them are an era of 146,097 days, whichever they are. `days` counts from 0000-03-01 less one era, so
    // nothing is negative; that day is a Wednesday, as are all that begin an era.
    let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = (era - 1) * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    weekday = (days + 3) % 7
  }

  /// RFC 3339 with milliseconds: `2026-01-31T23:59:59.123Z`.
  public var text: String { text(withMilliseconds: true) }

  /// RFC 3339 without a fraction, which is cut off: `2026-01-31T23:59:59Z`.
  public var secondsText: String { text(withMilliseconds: false) }

  private func text(withMilliseconds: Bool) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    bytes.append(year, digits: 4)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(month, digits: 2)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(day, digits: 2)
    bytes.append(UInt8(ascii: "T"))
    bytes.appendClock(millisecondOfDay)
    if withMilliseconds {
      bytes.append(UInt8(ascii: "."))
      bytes.append(millisecondOfDay % 1000, digits: 3)
    }
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// As in the `Date` of HTTP (RFC 9110, 5.6.7): `Sat, 31 Jan 2026 23:59:59 GMT`.
  public var httpText: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(29)
    bytes += Self.weekdays[weekday].utf8
    bytes += ", ".utf8
    bytes.append(day, digits: 2)
    bytes.append(UInt8(ascii: " "))
    bytes += Self.months[month - 1].utf8
    bytes.append(UInt8(ascii: " "))
    bytes.append(year, digits: 4)
    bytes.append(UInt8(ascii: " "))
    bytes.appendClock(millisecondOfDay)
    bytes += " GMT".utf8
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}

extension [UInt8] {
  /// Appends the last digits of a number that is not negative.
  fileprivate mutating func append(_ value: Int, digits: Int) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends hours, minutes and seconds with colons between them.
  fileprivate mutating func appendClock(_ millisecondOfDay: Int) {
    append(millisecondOfDay / 3_600_000, digits: 2)
    append(UInt8(ascii: ":"))
    append(millisecondOfDay / 60_000 % 60, digits: 2)
    append(UInt8(ascii: ":"))
    append(millisecondOfDay / 1000 % 60, digits: 2)
  }
}
