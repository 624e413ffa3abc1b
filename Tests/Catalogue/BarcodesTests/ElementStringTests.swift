import Testing

@testable import Barcodes

@Suite struct ElementStringTests {
  @Test func `fields of predefined length need no separator`() {
    let read = ElementString(separated: "0105296849398452173002073103001234")
    #expect(read.description == "(01)05296849398452(17)300207(3103)001234")
    #expect(read.fault == nil)
    #expect(read.gtin == GTIN("5296849398452"))
    #expect(read["17"] == "300207")
    #expect(read["10"] == nil)
  }

  @Test func `other fields end at a separator or at the end`() {
    let read = ElementString(separated: "10KGL\u{1D}21AEJ8C-3\u{1D}0105296849398452")
    #expect(read.description == "(10)KGL(21)AEJ8C-3(01)05296849398452")
    #expect(read.fault == nil)
  }

  @Test func `superfluous separators are passed over`() {
    let read = ElementString(separated: "\u{1D}\u{1D}0105296849398452\u{1D}10KGL\u{1D}\u{1D}")
    #expect(read.description == "(01)05296849398452(10)KGL")
    #expect(read.fault == nil)
  }

  @Test func `a missing separator after a field of fixed length is forgiven`() {
    let read = ElementString(separated: "42238010KGL")
    #expect(read.description == "(422)380(10)KGL")
  }

  @Test func `an unknown identifier stays raw`() {
    let unknown = ElementString(separated: "01052968493984520512345\u{1D}10KGL")
    #expect(unknown.description == "(01)05296849398452(05)12345(10)KGL")
    #expect(unknown.fault == .unknownIdentifier(text: "0512"))
  }

  @Test func `reading goes on after the separator that follows a field that cannot be one`() {
    let short = ElementString(separated: "0105296849398452173002")
    #expect(short.description == "(01)05296849398452")
    #expect(short.fault == .tooShort(ai: "17"))

    let cut = ElementString(separated: "17300\u{1D}10KGL")
    #expect(cut.description == "(10)KGL")
    #expect(cut.fault == .tooShort(ai: "17"))

    let long = ElementString(separated: "010529684939845210ABCDEFGHIJKLMNOPQRSTU")
    #expect(long.description == "(01)05296849398452")
    #expect(long.fault == .tooLong(ai: "10"))

    let letters = ElementString(separated: "01ABCDEFGHIJKLMN")
    #expect(letters.fault == .wrongCharacter(ai: "01"))

    let empty = ElementString(separated: "10\u{1D}0105296849398452")
    #expect(empty.fault == .tooShort(ai: "10"))
    #expect(empty.description == "(01)05296849398452")
  }

  @Test func `a field is right at its greatest length and wrong one beyond`() {
    let lot = "ABCDEFGHIJKLMNOPQRST"
    #expect(ElementString(separated: "10" + lot)["10"] == lot)
    #expect(ElementString(separated: "10" + lot + "\u{1D}21X")["21"] == "X")
    #expect(ElementString(separated: "10" + lot + "U").fault == .tooLong(ai: "10"))
    #expect(ElementString(separated: "10" + lot + " ").fault == .tooLong(ai: "10"))
    #expect(ElementString(bracketed: "(10)" + lot + "U").fault == .tooLong(ai: "10"))
  }

  @Test func `a wrong check digit is read but is no GTIN`() {
    let read = ElementString(separated: "3103137335" + "0190044946084090")
    #expect(read.description == "(3103)137335(01)90044946084090")
    #expect(read.gtin == nil)
    #expect(read.fault == .wrongCheckDigit(ai: "01"))
  }

  @Test func `contents of a logistic unit are not the unit`() {
    let read = ElementString(separated: "0205296849393617375")
    #expect(read.gtin == nil)
    #expect(read.contentGTIN == GTIN("5296849393617"))
    #expect(read["37"] == "5")
  }

  @Test func `brackets name the identifiers`() {
    let read = ElementString(bracketed: "(01)05060122034401(10)K7L")
    #expect(read.gtin == GTIN("5060122034401"))
    #expect(read["10"] == "K7L")
    #expect(ElementString(bracketed: "(01) 05060122034401 (10) K7L ") == read)
  }

  @Test func `broken brackets leave what stood before them`() {
    let read = ElementString(bracketed: "(01)05296849394928(10")
    #expect(read.description == "(01)05296849394928")
    #expect(read.fault == .brokenBrackets)
    #expect(ElementString(bracketed: "(01)ABCDEFGHIJKLMN").elements.isEmpty)
    #expect(ElementString(bracketed: "01)").fault == .brokenBrackets)
  }

  @Test func `a bracket inside a value is text unless it opens an identifier`() {
    #expect(ElementString(bracketed: "(10)A(B)C")["10"] == "A(B)C")
    #expect(ElementString(bracketed: "(10)A(21)C")["21"] == "C")
    #expect(ElementString(bracketed: "(10)A\\(21)C")["10"] == "A(21)C")
  }

  @Test func `a value that looks like an identifier survives being written`() {
    let read = ElementString(separated: "10A(21)C")
    #expect(read.description == "(10)A\\(21)C")
    #expect(ElementString(bracketed: read.description) == read)
  }

  @Test(arguments: [
    ("00", "393884288851153299"), ("03", "05296849398452"), ("20", "01"), ("235", "TPX"), ("242", "123456"),
    ("253", "4006381333931AB"), ("3105", "000001"), ("3375", "000001"), ("3699", ""), ("3922", "1299"),
    ("3932", "9781299"), ("3943", "0010"), ("402", "12345678901234560"), ("414", "6689201623825"),
    ("421", "276D10115"), ("427", "BY"), ("4307", "DE"), ("4333", "000250-"), ("7003", "2512312359"),
    ("7040", "1ABC"), ("717", "X"), ("7239", "EMX"), ("8003", "01234567890128X"),
    ("8006", "052968493984520102"), ("8013", "1987654Ad4X4bL5ttr2310c2K"), ("8030", "A_-"), ("8112", "X"),
    ("8200", "https://example.com/"), ("90", "X"), ("99", "X"),
  ])
  func `the table of identifiers holds`(ai: String, value: String) {
    let read = ElementString(separated: ai + value)
    // Measures have at most five decimals.
    #expect(read[ai] == (ai == "3699" ? nil : value))
    #expect(ElementString(bracketed: "(\(ai))\(value)").elements == read.elements)
  }

  @Test(arguments: [
    "04", "05", "09", "14", "18", "19", "23", "29", "38", "236", "3106", "3170", "3699", "718", "8300",
  ])
  func `numbers without a meaning are no identifiers`(ai: String) {
    #expect(ElementString(separated: ai + "123456789").elements.isEmpty)
  }

  @Test func `a long source without separators is read in linear time`() {
    let read = ElementString(separated: String(repeating: "17300207", count: 100_000))
    #expect(read.elements.count == 100_000)
    let brackets = ElementString(bracketed: "(10)" + String(repeating: "(", count: 1_000_000))
    #expect(brackets.elements.isEmpty)
  }
}
