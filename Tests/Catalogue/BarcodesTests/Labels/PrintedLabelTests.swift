import Testing

@testable import Barcodes

@Suite struct PrintedLabelTests {
  private let today = ScanDate(year: 2026, month: 11, day: 23)!

  @Test(arguments: [
    // ISBN Users' Manual: the two forms of one number.
    ("3-16-148410-X", "9783161484100"), ("ISBN 3-16-148410-X", "9783161484100"),
    ("978-3-16-148410-0", "9783161484100"), ("ISBN: 978-3-16-148410-0", "9783161484100"),
    ("isbn 978 3 16 148410 0", "9783161484100"), ("ISBN-13: 978-3-16-148410-0", "9783161484100"),
    ("ISBN-10 0-306-40615-2", "9780306406157"), ("ISBN9780306406157", "9780306406157"), ("080442957X", "9780804429573"),
    ("0-8044-2957-x", "9780804429573"), ("0306406152", "9780306406157"),
    ("978\u{2010}3\u{2013}16-148410-0", "9783161484100"),
    ("979-10-90636-07-1", "9791090636071"),
  ])
  func `an ISBN is a GTIN`(text: String, gtin: String) throws {
    let label = try #require(Label(text))
    #expect(label.kind == .isbn)
    #expect(label.gtin == GTIN(gtin))
    #expect(label.data(today: today)["isbn"] == .text(gtin))
    #expect(label.parts.first == gtin)
    #expect(label.parts.count == (gtin.hasPrefix("978") ? 2 : 1))
    #expect(label.issues(today: today) == [])
  }

  @Test func `an ISBN of ten characters is among the texts to look up`() throws {
    #expect(try #require(Label("978-0-8044-2957-3")).parts == ["9780804429573", "080442957X"])
  }

  @Test func `only the ISBN-10 and the ISSN without their names are weak`() throws {
    for text in ["0306406152", "3-16-148410-X", "080442957X", "0317-8471", "M230671187"] {
      #expect(try #require(Label(text)).isWeak, "\(text)")
    }
    for text in ["ISBN 0306406152", "978-3-16-148410-0", "ISSN 0317-8471", "979-0-2306-7118-7", "ISMN M230671187"] {
      #expect(try !#require(Label(text)).isWeak, "\(text)")
    }
  }

  @Test(arguments: [
    ("ISBN 3-16-148410-0", "ISBN"), ("978-3-16-148410-1", "ISBN"), ("ISSN 0317-8472", "ISSN"),
    ("ISMN M-2306-7118-8", "ISMN"), ("979-0-2306-7118-8", "ISMN"),
  ])
  func `a wrong check digit is reported where the form is certain`(text: String, name: String) throws {
    let label = try #require(Label(text))
    #expect(label.gtin == nil && label.parts.isEmpty && label.data(today: today).isEmpty)
    #expect(label.issues(today: today).map(\.ai) == [name])
    #expect(!label.elements.isEmpty)
  }

  @Test(arguments: ["0317-8471", "ISSN 0317-8471", "ISSN: 03178471", "issn0317-8471"])
  func `an ISSN is a GTIN with 977`(text: String) throws {
    // ISSN Manual, bar codes.
    let label = try #require(Label(text))
    #expect(label.kind == .issn)
    #expect(label.gtin == GTIN("9770317847001"))
    #expect(label.parts == ["0317-8471", "03178471"])
    #expect(label.data(today: today)["issn"] == .text("0317-8471"))
  }

  @Test func `an ISSN may end in X`() throws {
    let label = try #require(Label("ISSN 2434-561x"))
    #expect(label.parts == ["2434-561X", "2434561X"])
    #expect(label.gtin != nil)
  }

  @Test(arguments: ["M-2306-7118-7", "M230671187", "979-0-2306-7118-7", "ISMN 979-0-2306-7118-7", "ISMN M-2306-7118-7"])
  func `an ISMN is a GTIN with 9790`(text: String) throws {
    // ISMN Users' Manual.
    let label = try #require(Label(text))
    #expect(label.kind == .ismn)
    #expect(label.gtin == GTIN("9790230671187"))
    #expect(label.parts == ["9790230671187", "M230671187"])
    #expect(label.data(today: today)["ismn"] == .text("9790230671187"))
  }

  @Test(arguments: [
    "4006381333931", "9783161484100", "9790230671187", "3161484101", "3-16-148410-1", "031-78471", "0317-8472",
    "M230671188", "123456789", "12345678901", "97831614841", "1-2-3", "3--16-148410-0", "3-16-148410-0-", "ISBN",
    "ISBN ",
    "ISSN 1234", "IS", "M", "Model 5", "96385074", "036000291452", "2024-11-23", "978-3-16-148410-00000", "316148410M",
  ])
  func `other numbers and texts are none of them`(text: String) {
    #expect(Label(text) == nil)
  }
}
