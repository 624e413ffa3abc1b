import TextFormat

/// The `Retry-After` header field (RFC 9110, 10.2.3): seconds, or a date in one of the three forms of 5.6.7.
package enum RetryAfter {
  /// The time to wait; zero for a date that has passed, `nil` for text that is neither a number nor a date.
  ///
  /// - Parameters:
  ///   - date: The response's `Date`. What is left until a date is measured by the server's own clock, because this
  ///     machine's may be wrong; `nil` if there is none.
  ///   - now: Seconds since 1970 UTC, for a response without a `Date` that can be read.
  package static func duration(_ text: String, sent date: String? = nil, now: Int64) -> Duration? {
    let text = text.drop { $0 == " " || $0 == "\t" }
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // Longer waits are clamped to a century, so that a large number does not overflow.
      return .seconds(min(Int64(text) ?? .max, 3_155_760_000))
    }
    guard let end = secondsSince1970(String(text)) else { return nil }
    return .seconds(max(0, end - (date.flatMap(secondsSince1970) ?? now)))
  }

  /// The time of a date in one of the three forms of HTTP, in seconds since 1970; `nil` for other text:
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
  package static func secondsSince1970(_ text: String) -> Int64? {
    let words = text.split { " ,-\t".contains($0) }
    let day: Int64?
    let month: Substring
    var year: Int64?
    let time: Substring
    switch words.count {
    case 6 where words[5] == "GMT":
      (day, month, year, time) = (Int64(words[1]), words[2], Int64(words[3]), words[4])
      // The obsolete form has two digits; the pivot is POSIX's.
      if words[3].utf8.count == 2 { year = year.map { $0 < 70 ? $0 + 2000 : $0 + 1900 } }
    case 5:
      (day, month, year, time) = (Int64(words[2]), words[1], Int64(words[4]), words[3])
    default:
      return nil
    }
    let clock = time.split(separator: ":").compactMap { Int64($0) }
    guard let day, let year, let monthIndex = CalendarDate.monthNames.firstIndex(of: String(month)), clock.count == 3,
      (1...31).contains(day), (1970...9999).contains(year), (0...23).contains(clock[0]),
      (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    let date = CalendarDate(year: Int(year), month: monthIndex + 1, day: Int(day))
    return Int64(date.daysSince1970) * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
  }
}
