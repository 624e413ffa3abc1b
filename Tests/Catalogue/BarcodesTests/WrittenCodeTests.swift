import RandomTestSupport
import Testing

@testable import Barcodes

@Suite struct WrittenCodeTests {
  private static let cases: [(text: String, state: WrittenCode.State, normalized: String)] = [
    ("4006381333931", .sound, "4006381333931"), ("96385074", .sound, "96385074"), ("01234565", .sound, "01234565"),
    ("036000291452", .sound, "036000291452"), ("10012345678902", .sound, "10012345678902"),
    ("2000000000008", .sound, "2000000000008"),
    // Zeros that were lost.
    ("36000291452", .lostZero, "036000291452"), ("9800895007", .lostZero, "009800895007"),
    // Seven digits may be any number of one's own, and ten an old number of a book, whatever their last digit.
    ("6385078", .text, "6385078"), ("9638507", .text, "9638507"), ("36000291453", .text, "36000291453"),
    // Exponents: repaired only if no digit is lost.
    ("4,00638E+12", .exponent, "4,00638E+12"), ("4.00638E+12", .exponent, "4.00638E+12"),
    ("4.006381333931E12", .exponent, "4006381333931"), ("4.006381333931e+12", .exponent, "4006381333931"),
    ("4.0063813339310E+12", .exponent, "4006381333931"), ("4.00638133393E+12", .exponent, "4.00638133393E+12"),
    ("3.6000291452E10", .exponent, "036000291452"), ("4.006381333932E12", .exponent, "4.006381333932E12"),
    ("'4.00638E+12", .exponent, "'4.00638E+12"), ("4E+12", .exponent, "4E+12"), ("12E5", .text, "12E5"),
    ("1E400", .text, "1E400"), ("4.00638E+999", .exponent, "4.00638E+999"),
    // What is added to a code.
    ("4006381333931.0", .decorated, "4006381333931"), ("4006381333931,00", .decorated, "4006381333931"),
    ("36000291452.0", .decorated, "036000291452"), ("'4006381333931", .decorated, "4006381333931"),
    ("’4006381333931", .decorated, "4006381333931"), ("'4006381333931'", .decorated, "4006381333931"),
    ("=\"4006381333931\"", .decorated, "4006381333931"), ("\"4006381333931\"", .decorated, "4006381333931"),
    (" 4006381333931", .decorated, "4006381333931"), ("4006381333931\u{A0}", .decorated, "4006381333931"),
    ("\u{FEFF}4006381333931", .decorated, "4006381333931"), ("4 006381 333931", .decorated, "4006381333931"),
    ("4\u{202F}006381\u{200B}333931", .decorated, "4006381333931"), ("4.006.381.333.931", .decorated, "4006381333931"),
    ("4,006,381,333,931", .decorated, "4006381333931"), ("978-3-16-148410-0", .decorated, "9783161484100"),
    ("978–3–16–148410–0", .decorated, "9783161484100"), ("3-16-148410-X", .decorated, "9783161484100"),
    ("0-36000-29145-2", .decorated, "036000291452"), ("４００６３８１３３３９３１", .decorated, "4006381333931"),
    ("12345.0", .decorated, "12345"), ("'ABC-1", .decorated, "ABC-1"), (" ABC-1 ", .decorated, "ABC-1"),
    ("#N/A", .decorated, ""), ("#NV", .decorated, ""), ("#REF!", .decorated, ""), ("#DIV/0!", .decorated, ""),
    ("#NAME?", .decorated, ""), ("#WERT!", .decorated, ""), ("#4711", .text, "#4711"), ("#A1", .text, "#A1"),
    // Several.
    ("4006381333931;4006381333948", .several, "4006381333931;4006381333948"),
    ("4006381333931, 036000291452", .several, "4006381333931, 036000291452"),
    ("4006381333931|ABC-1", .several, "4006381333931|ABC-1"), ("4006381333931;", .several, "4006381333931;"),
    ("4006381333931\n4006381333948", .several, "4006381333931\n4006381333948"),
    ("4006381333931 4006381333948", .several, "4006381333931 4006381333948"),
    ("4006381333931 / 4006381333948", .several, "4006381333931 / 4006381333948"),
    ("https://id.gs1.org/01/04006381333931", .text, "https://id.gs1.org/01/04006381333931"),
    ("ABC;DEF", .text, "ABC;DEF"), ("see box 4006381333931, or ask", .text, "see box 4006381333931, or ask"),
    // Wrong check digits are not corrected.
    ("4006381333932", .wrongCheckDigit, "4006381333932"), ("96385075", .wrongCheckDigit, "96385075"),
    ("4006381333932.0", .wrongCheckDigit, "4006381333932"),
    ("978-3-16-148410-1", .wrongCheckDigit, "978-3-16-148410-1"),
    ("10012345678903", .wrongCheckDigit, "10012345678903"), ("036000291453", .wrongCheckDigit, "036000291453"),
    // Others.
    ("ABC-1", .text, "ABC-1"), ("12-345", .text, "12-345"), ("007", .text, "007"),
    ("0000000000000", .text, "0000000000000"),
    ("SG5216N01JVSLVEBPT", .text, "SG5216N01JVSLVEBPT"), ("1.5", .text, "1.5"), ("1,234", .text, "1,234"),
    ("123456789012345", .text, "123456789012345"), ("-", .text, "-"), ("'", .none, ""), ("", .none, ""),
    ("  ", .none, ""),
    ("\u{A0}\t", .none, ""),
  ]

  @Test(arguments: cases) func `what happened to a code is told, and taken back without a guess`(
    text: String, state: WrittenCode.State, normalized: String
  ) {
    let code = WrittenCode(text)
    #expect(code.state == state && code.normalized == normalized, "\(text.debugDescription): \(code)")
    #expect(WrittenCode.state(of: Array(text.utf8).span) == state)
    // What is normalised stays as it is.
    #expect(WrittenCode(code.normalized).normalized == code.normalized)
  }

  @Test func `a GTIN is recognised through whatever is around it, and through nothing that changes it`() throws {
    var random = SeededGenerator(for: "WrittenCodeTests")
    for _ in 0..<20_000 {
      let length = [8, 12, 13, 14].randomElement(using: &random)!
      var digits = (1..<length).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }
      digits.append(try #require(GTIN.checkDigit(following: digits)))
      let gtin = String(decoding: digits, as: UTF8.self)
      guard try #require(GTIN(gtin)).value > 0 else { continue }
      #expect(WrittenCode(gtin).state == .sound && WrittenCode.key(gtin) == GTIN(gtin)?.digits)
      for around in ["'X", "X.0", " X", "X\u{A0}", "=\"X\"", "\tX "] {
        let code = WrittenCode(around.replacing("X", with: gtin))
        #expect(code.state == .decorated && code.normalized == gtin, "\(around), \(gtin)")
      }
      // Another last digit is never taken for the right one.
      var wrong = digits
      wrong[length - 1] = (wrong[length - 1] - 0x30 + UInt8.random(in: 1...9, using: &random)) % 10 + 0x30
      let other = WrittenCode(String(decoding: wrong, as: UTF8.self))
      #expect(other.normalized.utf8.elementsEqual(wrong) && other.gtin == nil)
    }
  }

  @Test func `any text has a state, and normalising it twice changes nothing more`() {
    var random = SeededGenerator(for: "WrittenCodeTests any")
    let alphabet = Array("0123456789'\"=.,;-/ #NAE+\u{A0}é４\n")
    for _ in 0..<50_000 {
      let text = String(
        (0..<Int.random(in: 0...16, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
      let code = WrittenCode(text)
      #expect(WrittenCode.state(of: Array(text.utf8).span) == code.state, "\(text.debugDescription)")
      let again = WrittenCode(code.normalized)
      #expect(again.normalized == code.normalized, "\(text.debugDescription): \(code), \(again)")
    }
  }

  @Test(arguments: [
    ("https://id.gs1.org/01/04006381333931/21/7", Scan.Unscannable.address as Scan.Unscannable?),
    ("ABC\nDEF", .lineEnd),
    ("]C1ABC", .symbologyIdentifier), (String(repeating: "A", count: 5000), .length), ("ABC-1", nil),
    ("(01)04006381333931", nil),
    ("ABC\u{1D}DEF", nil), ("größe 5", nil), (" ABC ", nil), ("", nil), ("4006381333931;4006381333948", nil),
  ]) func `a text that no scan looks up is told, with the reason`(text: String, reason: Scan.Unscannable?) {
    #expect(Scan.unscannable(text) == reason, "\(text.prefix(40))")
  }

  @Test func `a text of plain characters is looked up as it is`() {
    var random = SeededGenerator(for: "WrittenCodeTests plain")
    let alphabet = Array("0123456789ABCXYZabcxyz-.")
    for _ in 0..<50_000 {
      let text = String(
        (0..<Int.random(in: 1...64, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
      let scan = Scan(text)
      #expect(Scan.isPlain(text.utf8.span) && scan.allowsExactText && scan.payload == text, "\(text)")
    }
  }
}
