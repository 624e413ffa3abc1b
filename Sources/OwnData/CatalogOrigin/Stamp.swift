import TextFormat

/// The text that orders rows in time, and that clients send back as their cursor.
///
/// Stamps are compared byte by byte, as in the protocol, so stamps of the form `yyyy-MM-dd HH:mm:ss` sort as times.
/// Text of any other form is a valid stamp too: it is compared in the same way and has a successor.
package struct Stamp: Hashable, Comparable, Sendable {
  let text: ByteText

  /// Creates a stamp from any text, such as a row's `updateTime`.
  package init(_ text: String) { self.text = ByteText(text) }

  init(_ text: ByteText) { self.text = text }

  /// The time as `yyyy-MM-dd HH:mm:ss`, for the years 0000 to 9999; times outside are clamped to that range.
  package init(secondsSince1970: Int64) {
    self.init(ByteText(bytes: Self.bytes(secondsSince1970)))
  }

  /// Whether `one` precedes `other` in the order of their UTF-8 bytes.
  package static func < (one: Stamp, other: Stamp) -> Bool { one.text < other.text }

  /// The stamp as clients send it back.
  package var string: String { text.string }
  /// Whether the stamp is the empty text: the cursor of a client that has nothing.
  package var isEmpty: Bool { text.bytes.isEmpty }

  /// The first stamp that is later than this one and not earlier than `now`.
  func next(now: Stamp) -> Stamp { now > self ? now : successor }

  /// The time of a stamp in the usual form; `nil` for any other text.
  var secondsSince1970: Int64? {
    let bytes = text.bytes
    guard bytes.count == 19 else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(0) { number, byte in
        guard let number, (0x30...0x39).contains(byte) else { return nil }
        return number * 10 + Int(byte - 0x30)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19)
    else { return nil }
    let days = CalendarDate(year: year, month: month, day: day).daysSince1970
    let seconds = Int64(days * 86_400 + hour * 3_600 + minute * 60 + second)
    // Formatting it again detects every 31st of February, every 25th hour and every wrong separator.
    return Self.bytes(seconds) == bytes ? seconds : nil
  }

  /// A stamp that is later than this one, by one second if the form allows it. The successor of other text, and of the
  /// last second of the year 9999, is the text followed by a counter: a longer text sorts after its own prefix.
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
      return Stamp(ByteText(bytes: bytes + Self.counter(count + 1)))
    }
    return Stamp(ByteText(bytes: bytes + [UInt8(ascii: "~")] + Self.counter(1)))
  }

  /// Wide enough not to overflow at one change a second.
  private static let counterWidth = 12
  private static let firstSecond = Int64(CalendarDate(year: 0, month: 1, day: 1).daysSince1970 * 86_400)
  private static let lastSecond = Int64(CalendarDate(year: 10_000, month: 1, day: 1).daysSince1970 * 86_400 - 1)

  private static func counter(_ count: Int) -> [UInt8] {
    var digits: [UInt8] = []
    digits.append(count, digits: counterWidth)
    return digits
  }

  private static func bytes(_ secondsSince1970: Int64) -> [UInt8] {
    let second = Int(min(max(secondsSince1970, firstSecond), lastSecond))
    let day = second.dividedRoundingDown(by: 86_400)
    var bytes: [UInt8] = []
    bytes.append(CalendarDate(daysSince1970: day))
    bytes.append(UInt8(ascii: " "))
    bytes.appendClock(second: second - day * 86_400)
    return bytes
  }
}
