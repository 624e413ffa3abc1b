import Testing

@testable import Barcodes

@Suite struct PZNLabelTests {
  private let today = ScanDate(year: 2026, month: 11, day: 23)!

  @Test(arguments: [
    // IFA, PPN Technical Specifications: the PZN of the example.
    "-03752864", "-3752864", "PZN-03752864", "PZN - 03752864", "PZN 3752864", "pzn:03752864", "PZN03752864",
  ])
  func `a PZN is a National Trade Item Number`(text: String) throws {
    let label = try #require(Label(text))
    #expect(label.kind == .pzn)
    #expect(label.gtin == GTIN("4150037528643"))
    #expect(label.parts == ["03752864", "3752864", "-03752864", "-3752864"])
    #expect(label.data(today: today)["pzn"] == .text("03752864"))
    #expect(label.issues(today: today) == [])
  }

  @Test func `a hyphen alone is weak evidence, except in Code 39`() throws {
    #expect(try #require(Label("-03752864")).isWeak)
    #expect(try !#require(Label("-03752864", symbology: SymbologyIdentifier("]A0"))).isWeak)
    #expect(try !#require(Label("PZN 03752864")).isWeak)
  }

  @Test(arguments: ["-03752865", "PZN-3752865", "PZN 12345670"])
  func `a wrong check digit is reported and finds nothing`(text: String) throws {
    let label = try #require(Label(text))
    #expect(label.gtin == nil && label.parts.isEmpty && label.data(today: today).isEmpty)
    #expect(label.issues(today: today).map(\.ai) == ["PZN"])
  }

  @Test func `a number without a leading zero has no short form`() throws {
    // The check digit of 1234562 is 8: 1 + 4 + 9 + 16 + 25 + 36 + 14 = 105, and 105 modulo 11 is 6.
    let label = try #require(Label("PZN 12345626"))
    #expect(label.parts == ["12345626", "-12345626"])
  }

  @Test func `check digits of a PPN are verified`() throws {
    let ppn = try #require(PharmacyProductNumber("110375286414".utf8))
    #expect(ppn.agency == "11" && ppn.pzn?.digits == "03752864")
    for wrong in ["110375286415", "110375286441", "11037528641", "1114", "", "11 375286414"] {
      #expect(PharmacyProductNumber(wrong.utf8) == nil, "\(wrong)")
    }
  }

  @Test(arguments: [
    "-", "-1", "-123456", "-123456789", "-0375286X", "PZN", "PZN ", "PZN 123", "P", "PART", "Pzn-abcdefgh",
  ])
  func `other texts are no PZN`(text: String) {
    #expect(Label(text)?.isGuess != false)
  }

  @Test(arguments: ["]C1", "]E0", "]d2"])
  func `the carriers of GS1 contain none of these labels`(symbology: String) {
    #expect(Label("PZN 03752864", symbology: SymbologyIdentifier(symbology)) == nil)
  }
}
