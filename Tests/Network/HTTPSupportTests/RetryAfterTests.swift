import Testing

@testable import HTTPSupport

@Suite struct RetryAfterTests {
  @Test(arguments: [
    ("0", 0), ("120", 120), (" 7", 7), ("99999999999999999999", 3_155_760_000),
    ("Fri, 02 Jan 2026 03:05:05 GMT", 60), ("Friday, 02-Jan-26 03:05:05 GMT", 60),
    ("Fri Jan  2 03:05:05 2026", 60), ("Fri, 02 Jan 2026 03:04:00 GMT", 0),
  ])
  func `seconds and the three forms of a date are understood`(text: String, seconds: Int64) {
    #expect(RetryAfter.duration(text, now: 1_767_323_045) == .seconds(seconds))
  }

  @Test func `a date is measured by the clock of the server that sent it`() {
    let date = "Fri, 02 Jan 2026 03:05:05 GMT"
    for now: Int64 in [0, 1_767_323_045, 3_124_137_600] {
      #expect(RetryAfter.duration(date, sent: "Fri, 02 Jan 2026 03:04:55 GMT", now: now) == .seconds(10))
      #expect(RetryAfter.duration(date, sent: "Fri, 02 Jan 2026 03:06:00 GMT", now: now) == .zero)
      #expect(RetryAfter.duration("7", sent: "Fri, 02 Jan 2026 03:06:00 GMT", now: now) == .seconds(7))
    }
    #expect(RetryAfter.duration(date, sent: "yesterday", now: 1_767_323_045) == .seconds(60))
  }

  @Test(arguments: [
    "", "-1", "1.5", "soon", "Fri, 32 Jan 2026 03:05:05 GMT", "Fri, 02 Jan 2026 03:05 GMT", "a b c d e",
  ])
  func `other text says nothing`(text: String) {
    #expect(RetryAfter.duration(text, now: 0) == nil)
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
  ])
  func `a date is seconds since 1970`(text: String, seconds: Int64) {
    #expect(RetryAfter.secondsSince1970(text) == seconds)
  }
}
