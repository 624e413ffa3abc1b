#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Moments as programs read them, `2026-01-31T23:59:59.123Z`: RFC 3339 with milliseconds.
///
/// Made by hand because each answer has two of them, and a format style of Foundation takes longer than the lookup.
enum TimeText {
  /// What has no year of four digits is brought to the nearest moment that has.
  static func text(_ date: Date) -> String {
    // A date is a fraction that may lie just below the millisecond that it was made of: microseconds first.
    let milliseconds = ((date.timeIntervalSince1970 * 1e6).rounded() / 1000).rounded(.down)
    // NaN is in no range, and becomes the beginning.
    let isWithin = (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds)
    let total = isWithin ? Int(milliseconds) : milliseconds > 0 ? 253_402_300_799_999 : -62_135_596_800_000
    return text(milliseconds: total)
  }

  private static func text(milliseconds total: Int) -> String {
    let day = total.floorDivided(by: 86_400_000)
    let rest = total - day * 86_400_000
    let (year, month, dayOfMonth) = civil(day)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    bytes.append(year, digits: 4)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(month, digits: 2)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(dayOfMonth, digits: 2)
    bytes.append(UInt8(ascii: "T"))
    bytes.append(rest / 3_600_000, digits: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(rest / 60_000 % 60, digits: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(rest / 1000 % 60, digits: 2)
    bytes.append(UInt8(ascii: "."))
    bytes.append(rest % 1000, digits: 3)
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Year, month and day of a day since 1970-01-01, in the Gregorian calendar. Years are counted from March, so that the leap
  /// day is the last one; 400 of them have 146,097 days, whichever they are.
  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = shifted.floorDivided(by: 146_097)
    let ofEra = shifted - era * 146_097
    let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * ofYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension Date {
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }

  /// As programs read it, with milliseconds.
  var precise: String { TimeText.text(self) }
}

extension Duration {
  /// In seconds.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

  /// In nanoseconds, cut to what 64 bits hold.
  var nanoseconds: Int64 {
    let (product, overflows) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? (components.seconds < 0 ? .min : .max) : product + components.attoseconds / 1_000_000_000
  }
}

extension Int {
  fileprivate func floorDivided(by divisor: Int) -> Int {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
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
}
