/// The text by which rows are ordered in time, and which clients send back as their cursor.
///
/// Stamps are compared byte by byte, as the protocol compares them; those of the form `yyyy-MM-dd HH:mm:ss`
/// thereby sort as times. Text of any other form is a stamp as well: it is compared like the rest and can be
/// followed.
public struct Stamp: Hashable, Comparable, Sendable {
  let text: ByteText

  public init(_ text: String) { self.text = ByteText(text) }

  init(_ text: ByteText) { self.text = text }

  /// The time as `yyyy-MM-dd HH:mm:ss`, for the years 0000 to 9999; times beyond are moved to the nearest
  /// end.
  public init(secondsSince1970: Int64) {
    self.init(ByteText(bytes: Self.bytes(secondsSince1970)))
  }

  public static func < (one: Stamp, other: Stamp) -> Bool { one.text < other.text }

  public var string: String { text.string }
  public var isEmpty: Bool { text.bytes.isEmpty }

  /// The first stamp that is later than this one and not earlier than `now`.
  func next(now: Stamp) -> Stamp { now > self ? now : successor }

  /// The time of a stamp in the usual form, or `nil`.
  var secondsSince1970: Int64? {
    let bytes = text.bytes
    guard bytes.count == 19 else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      bytes[range].reduce(0) { number, byte in
        guard let number, (0x30...0x39).contains(byte) else { return nil }
        return number * 10 + Int64(byte - 0x30)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19)
    else { return nil }
    let days = Calendar.daysSince1970(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    // Writing it again finds every 31st of February, every 25th hour and every wrong separator.
    return Self.bytes(seconds) == bytes ? seconds : nil
  }

  /// A stamp that is later than this one, by one second where the form allows it. Other text, and the last
  /// second of the year 9999, is followed by itself with a counter: whatever is longer sorts behind its own
  /// beginning.
  private var successor: Stamp {
    if let seconds = secondsSince1970, seconds < Self.lastSecond {
      return Stamp(secondsSince1970: seconds + 1)
    }
    var bytes = text.bytes
    let counterStart = bytes.count - Self.counterWidth
    if counterStart > 0, bytes[counterStart - 1] == UInt8(ascii: "~"),
      let count = Int(String(decoding: bytes[counterStart...], as: UTF8.self)), count >= 0,
      count < 999_999_999_999
    {
      bytes.removeSubrange(counterStart...)
      return Stamp(ByteText(bytes: bytes + Self.decimal(Int64(count) + 1, width: Self.counterWidth)))
    }
    return Stamp(ByteText(bytes: bytes + [UInt8(ascii: "~")] + Self.decimal(1, width: Self.counterWidth)))
  }

  /// Wide enough that it never runs over at one change a second.
  private static let counterWidth = 12
  private static let firstSecond = Calendar.daysSince1970(year: 0, month: 1, day: 1) * 86_400
  private static let lastSecond = Calendar.daysSince1970(year: 10_000, month: 1, day: 1) * 86_400 - 1

  private static func bytes(_ secondsSince1970: Int64) -> [UInt8] {
    let seconds = min(max(secondsSince1970, firstSecond), lastSecond)
    // Rounds down before 1970 as well.
    let days = seconds >= 0 ? seconds / 86_400 : -((-seconds + 86_399) / 86_400)
    let second = seconds - days * 86_400
    let date = Calendar.date(daysSince1970: days)
    return decimal(date.year, width: 4) + [UInt8(ascii: "-")] + decimal(date.month, width: 2)
      + [UInt8(ascii: "-")] + decimal(date.day, width: 2) + [UInt8(ascii: " ")]
      + decimal(second / 3_600, width: 2) + [UInt8(ascii: ":")] + decimal(second / 60 % 60, width: 2)
      + [UInt8(ascii: ":")] + decimal(second % 60, width: 2)
  }

  private static func decimal(_ number: Int64, width: Int) -> [UInt8] {
    var digits = [UInt8](repeating: 0x30, count: width)
    var rest = number
    for index in digits.indices.reversed() {
      digits[index] += UInt8(rest % 10)
      rest /= 10
    }
    return digits
  }
}

/// The Gregorian calendar, extended over the years from 0: a year is counted from March, so that the leap day
/// comes last, and 400 of them are an era of 146 097 days (after H. Hinnant, *chrono-Compatible Low-Level
/// Date Algorithms*).
private enum Calendar {
  /// Days from 0000-03-01 to 1970-01-01.
  private static let epoch: Int64 = 719_468

  static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let era = marchYear >= 0 ? marchYear / 400 : (marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - epoch
  }

  static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let days = daysSince1970 + epoch
    let era = days >= 0 ? days / 146_097 : (days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}
