import HTTPServer
import Testing

@Suite struct HTTPDateTests {
  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
  ])
  func `a date is written as RFC 9110 has it`(second: Int64, text: String) {
    #expect(HTTPDate().text(at: second) == text)
  }

  @Test func `it moves on`() {
    let date = HTTPDate()
    #expect(date.text(at: 59).hasSuffix("00:00:59 GMT"))
    #expect(date.text(at: 60).hasSuffix("00:01:00 GMT"))
  }
}
