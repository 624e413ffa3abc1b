import Testing
import TextFormat

@Suite struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b+c", "a%20b%2Bc"), ("/?#%&=", "%2F%3F%23%25%26%3D"), ("你", "%E4%BD%A0"),
    ("2026-01-02 03:04:05", "2026-01-02%2003%3A04%3A05"), ("\0\u{7F}", "%00%7F"),
  ])
  func `everything but unreserved characters is encoded`(text: String, encoded: String) {
    #expect(PercentEncoding.encoded(text) == encoded)
    #expect(PercentEncoding.decodedText(encoded[...]) == text)
    #expect(PercentEncoding.decodedText(encoded[...], plusIsBlank: true) == text)
  }

  @Test func `digits are read in upper and lower case`() {
    #expect(PercentEncoding.decodedText("%e4%BD%a0") == "你")
  }

  @Test func `a plus is a blank only where the caller says so`() {
    #expect(PercentEncoding.decodedText("1+2%2B3") == "1+2+3")
    #expect(PercentEncoding.decodedText("1+2%2B3", plusIsBlank: true) == "1 2+3")
  }

  @Test(arguments: ["%", "%1", "a%2", "%zz", "%g1", "%+1", "%1 "])
  func `a percent sign without two digits is refused`(text: String) {
    #expect(PercentEncoding.decoded(text.utf8.span) == nil)
    #expect(PercentEncoding.decodedText(text[...]) == nil)
  }

  @Test(arguments: ["%ff", "%c0%80", "%ed%a0%80", "%e4%bd"])
  func `bytes that are not UTF-8 are no text`(text: String) {
    #expect(PercentEncoding.decoded(text.utf8.span) != nil)
    #expect(PercentEncoding.decodedText(text[...]) == nil)
  }

  @Test func `every byte comes back`() {
    let bytes = (UInt8.min...UInt8.max).map { $0 }
    var encoded: [UInt8] = []
    for byte in bytes { PercentEncoding.append(byte, to: &encoded) }
    #expect(PercentEncoding.decoded(encoded.span) == bytes)
  }
}
