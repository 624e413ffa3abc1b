import Foundation
import RandomTestSupport
import Testing
import TextFormat

@Suite struct CalendarDateTests {
  @Test(arguments: [
    (0, 1970, 1, 1), (-1, 1969, 12, 31), (59, 1970, 3, 1), (11_016, 2000, 2, 29), (47_541, 2100, 3, 1),
    (-719_468, 0, 3, 1), (-719_469, 0, 2, 29), (-719_528, 0, 1, 1), (2_932_897, 10_000, 1, 1),
  ])
  func `days since 1970 name a date`(days: Int, year: Int, month: Int, day: Int) {
    let date = CalendarDate(year: year, month: month, day: day)
    #expect(CalendarDate(daysSince1970: days) == date)
    #expect(date.daysSince1970 == days)
    #expect(date.isValid)
  }

  @Test func `a date has the days that it was made of`() {
    var generator = SeededGenerator(for: "dates")
    for _ in 0..<2000 * depth {
      let days = Int.random(in: -800_000...3_000_000, using: &generator)
      let date = CalendarDate(daysSince1970: days)
      #expect(date.daysSince1970 == days && date.isValid, "\(generator)")
    }
  }

  @Test(arguments: [
    (2025, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32),
    (2026, 99, 99),
  ])
  func `what the calendar does not have is no date`(year: Int, month: Int, day: Int) {
    #expect(!CalendarDate(year: year, month: month, day: day).isValid)
  }

  @Test func `a day after the end of its month counts on into the next`() {
    let days = CalendarDate(year: 2026, month: 2, day: 31).daysSince1970
    #expect(CalendarDate(daysSince1970: days) == CalendarDate(year: 2026, month: 3, day: 3))
  }

  @Test(arguments: [(0, 4), (-4, 0), (-5, 6), (3, 0), (20_000, 5)])
  func `a date has a day of the week`(days: Int, weekday: Int) {
    #expect(CalendarDate.weekday(daysSince1970: days) == weekday)
  }
}
