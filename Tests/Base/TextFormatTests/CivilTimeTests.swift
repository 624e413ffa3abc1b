import Foundation
import RandomTestSupport
import Testing
import TextFormat

@Suite struct CivilTimeTests {
  @Test func `texts are those of Foundation`() {
    var generator = SeededGenerator(for: "times")
    let precise = Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt)
    let plain = Date.ISO8601FormatStyle(timeZone: .gmt)
    for _ in 0..<2000 * depth {
      // Before 1583 Foundation has Julian dates; RFC 3339 has none.
      let milliseconds = Int64.random(in: -12_212_553_600_000...253_402_300_799_999, using: &generator)
      // Half a millisecond keeps the one formatter and the other from rounding to different sides.
      let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
      let time = CivilTime(milliseconds: milliseconds)
      #expect(time.text == date.formatted(precise), "\(generator)")
      #expect(time.secondsText == date.formatted(plain), "\(generator)")
    }
  }

  @Test func `each day follows the day before it`() {
    func daysOf(_ month: Int, _ year: Int) -> Int {
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
    // 1 January of the year 1 was a Monday.
    var (year, month, day, weekday) = (1, 1, 1, 1)
    var isRight = true
    for number in 0..<146_097 * 2 {
      let time = CivilTime(milliseconds: CivilTime.range.lowerBound + Int64(number) * 86_400_000)
      isRight =
        isRight && time.date == CalendarDate(year: year, month: month, day: day) && time.weekday == weekday
        && time.millisecondOfDay == 0
      weekday = (weekday + 1) % 7
      day += 1
      if day > daysOf(month, year) { (day, month) = (1, month + 1) }
      if month > 12 { (month, year) = (1, year + 1) }
    }
    #expect(isRight && year == 801)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    (951_782_400_001, "2000-02-29T00:00:00.001Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (CivilTime.range.lowerBound, "0001-01-01T00:00:00.000Z"), (.min, "0001-01-01T00:00:00.000Z"),
    (CivilTime.range.upperBound, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
  ])
  func `moments without a year of four digits become the nearest with one`(milliseconds: Int64, text: String) {
    #expect(CivilTime(milliseconds: milliseconds).text == text)
  }

  @Test func `HTTP has a form of its own`() {
    // The example of RFC 9110.
    #expect(CivilTime(milliseconds: 784_111_777_000).httpText == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(CivilTime(milliseconds: .max).httpText == "Fri, 31 Dec 9999 23:59:59 GMT")
  }
}
