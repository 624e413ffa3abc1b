import TextFormat

/// When devices switch to a state: an instant, or what the clock on the wall of each device says.
///
/// As a text it is `2026-12-31T22:00:00Z`, with `+01:00` in place of `Z` for another zone, or without a zone. There may
/// be a space in place of `T`, and no seconds.
package enum ActivationTime: Sendable, Equatable {
  /// Seconds since 1970-01-01 00:00 UTC.
  case instant(Int)
  /// Seconds since 1970-01-01 00:00 of the local time.
  case local(Int)

  /// Returns `nil` for a text that is no date with a time.
  package init?(_ text: String) {
    var bytes = Array(text.utf8)[...]
    func number(_ digits: Int) -> Int? {
      guard bytes.count >= digits else { return nil }
      var number = 0
      for byte in bytes.prefix(digits) {
        guard (0x30...0x39).contains(byte) else { return nil }
        number = number * 10 + Int(byte - 0x30)
      }
      bytes = bytes.dropFirst(digits)
      return number
    }
    func take(_ characters: String) -> Bool {
      guard let first = bytes.first, characters.utf8.contains(first) else { return false }
      bytes = bytes.dropFirst()
      return true
    }
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), take("T "),
      let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60
    else { return nil }
    var second = 0
    if take(":") {
      guard let number = number(2), number < 60 else { return nil }
      second = number
    }
    let date = CalendarDate(year: year, month: month, day: day)
    guard date.isValid, year >= 1 else { return nil }
    let local = ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
    if bytes.isEmpty {
      self = .local(local)
      return
    }
    if take("Z") {
      guard bytes.isEmpty else { return nil }
      self = .instant(local)
      return
    }
    let isWest = bytes.first == UInt8(ascii: "-")
    guard take("+-"), let hours = number(2), hours <= 14, take(":"), let minutes = number(2), minutes < 60,
      bytes.isEmpty
    else { return nil }
    let offset = (hours * 60 + minutes) * 60
    self = .instant(isWest ? local + offset : local - offset)
  }
}
