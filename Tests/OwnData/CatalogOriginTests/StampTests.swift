import Testing

@testable import CatalogOrigin

@Suite struct StampTests {
  @Test(arguments: [
    (0, "1970-01-01 00:00:00"), (1_767_323_045, "2026-01-02 03:04:05"),
    (1_709_251_199, "2024-02-29 23:59:59"),
    (-1, "1969-12-31 23:59:59"), (-62_167_219_200, "0000-01-01 00:00:00"),
    (253_402_300_799, "9999-12-31 23:59:59"),
    (951_782_400, "2000-02-29 00:00:00"), (4_107_542_400, "2100-03-01 00:00:00"),
  ])
  func `a time has one form and is read back`(seconds: Int64, text: String) {
    #expect(Stamp(secondsSince1970: seconds).string == text)
    #expect(Stamp(text).secondsSince1970 == seconds)
  }

  @Test func `times outside of four-digit years are moved to the ends`() {
    #expect(Stamp(secondsSince1970: .max).string == "9999-12-31 23:59:59")
    #expect(Stamp(secondsSince1970: .min).string == "0000-01-01 00:00:00")
  }

  @Test(arguments: [
    "", "2026-02-29 00:00:00", "2026-01-02T03:04:05", "2026-01-02 24:00:00", "2026-01-02 03:04:5",
    "2026-00-02 03:04:05", "+026-01-02 03:04:05", "2026-01-02 03:04:05Z", "soon",
  ])
  func `other text is no time`(text: String) {
    #expect(Stamp(text).secondsSince1970 == nil)
  }

  @Test(arguments: [
    ("2026-01-02 03:04:05", "2026-01-02 03:04:09", "2026-01-02 03:04:09"),
    ("2026-01-02 03:04:05", "2026-01-02 03:04:05", "2026-01-02 03:04:06"),
    ("2026-12-31 23:59:59", "2026-01-01 00:00:00", "2027-01-01 00:00:00"),
    ("9999-12-31 23:59:59", "2026-01-01 00:00:00", "9999-12-31 23:59:59~000000000001"),
    ("zoon", "2026-01-01 00:00:00", "zoon~000000000001"),
    ("zoon~000000000009", "2026-01-01 00:00:00", "zoon~000000000010"),
    ("zoon~999999999999", "2026-01-01 00:00:00", "zoon~999999999999~000000000001"),
    ("~000000000001", "2026-01-01 00:00:00", "~000000000002"),
    ("2026-01-02T03:04:05", "2026-01-02 09:00:00", "2026-01-02T03:04:05~000000000001"),
    ("", "2026-01-01 00:00:00", "2026-01-01 00:00:00"),
  ])
  func `the next stamp is now or just after`(stamp: String, now: String, expected: String) {
    let next = Stamp(stamp).next(now: Stamp(now))
    #expect(next.string == expected)
    #expect(next > Stamp(stamp))
  }

  @Test func `a stamp has followers for ever`() {
    var stamp = Stamp("9999-12-31 23:59:58")
    for _ in 0..<100 {
      let next = stamp.next(now: Stamp("2026-01-01 00:00:00"))
      #expect(next > stamp)
      stamp = next
    }
    #expect(stamp.string == "9999-12-31 23:59:59~000000000099")
  }

  @Test func `stamps compare by bytes`() {
    #expect(Stamp("\u{E9}") != Stamp("e\u{301}"))
    #expect(Stamp("Z") < Stamp("a"))
    #expect(Stamp("a") < Stamp("a "))
  }
}
