import Testing

@testable import Barcodes

@Suite struct DistributorLabelTests {
  private let today = ScanDate(year: 2026, month: 11, day: 23)!

  @Test func `a label of LCSC is read`() throws {
    // InvenTree, tests of supplier barcodes.
    let text =
      "{pbn:PICK2009291337,on:SO2009291337,pc:C312270,pm:ST-1-102-A01-T000-RS,qty:2,mc:,cc:1,pdi:34421807}"
    let label = try #require(Label(text))
    #expect(label.kind == .label)
    #expect(label.parts == ["C312270", "ST-1-102-A01-T000-RS"])
    #expect(label.elements.map(\.ai) == ["pbn", "on", "pc", "pm", "qty", "cc", "pdi"])
    let data = label.data(today: today)
    #expect(data.count == ExactDecimal(2))
    #expect(data["order"] == .text("SO2009291337"))
    #expect(data["pickList"] == .text("PICK2009291337"))
    #expect(data["supplierPart"] == .text("C312270"))
    #expect(data["manufacturerPart"] == .text("ST-1-102-A01-T000-RS"))
    #expect(label.issues(today: today) == [])
  }

  @Test func `commas and colons in a value are text unless a name follows`() throws {
    let label = try #require(Label("{pc:C1,pm:A,B:C/pc:D, E,qty:5}"))
    #expect(label.elements.map(\.value) == ["C1", "A,B:C/pc:D, E", "5"])
  }

  @Test func `blanks around names and values are ignored`() throws {
    let label = try #require(Label("{pm: the-mpn, qty: 1}"))
    #expect(label.elements.map(\.value) == ["the-mpn", "1"])
    #expect(label.parts == ["the-mpn"])
  }

  @Test func `a lost end is reported, and what is there is read`() throws {
    let text = "{pbn:PICK1,pc:C312270,pm:ST-1-102"
    let label = try #require(Label(text))
    #expect(label.parts == ["C312270", "ST-1-102"])
    #expect(label.issues(today: today).map(\.position) == [text.utf8.count - 1])
  }

  @Test func `a quantity that is no number is reported at its name`() throws {
    let label = try #require(Label("{pc:C1,qty:two}"))
    #expect(label.data(today: today).count == nil)
    #expect(label.issues(today: today) == [ScanIssue(ai: "qty", position: 7, reason: "the value is not a number")])
  }

  @Test(arguments: ["{", "{}", "{pc}", "{:}", "{\"pc\":\"C1\"}", "{qty:1}", "{pc:}", "{GS}", "{abcdef:1,pc:2}"])
  func `other texts in braces are no label`(text: String) {
    #expect(Label(text) == nil)
  }

  @Test func `both labels of TME are read`() throws {
    // InvenTree, tests of supplier barcodes.
    let square = try #require(
      Label(
        "QTY:1 PN:WBP-302 PO:19361337/1 CPO:PO-2023-06-08-001337 MFR:WISHERENTERPRISE MPN:WBP-302M RoHS "
          + "https://www.tme.eu/details/WBP-302"))
    let matrix = try #require(Label("PWBP-302 1PMPNWBP-302M Q1 K19361337/1"))
    for label in [square, matrix] {
      #expect(label.kind == .label)
      #expect(label.parts == ["WBP-302", "WBP-302M"])
      let data = label.data(today: today)
      #expect(data.count == ExactDecimal(1))
      #expect(data["supplierPart"] == .text("WBP-302"))
      #expect(data["manufacturerPart"] == .text("WBP-302M"))
      #expect(data["supplierOrder"] == .text("19361337/1"))
      #expect(label.issues(today: today) == [])
    }
    #expect(square.data(today: today)["order"] == .text("PO-2023-06-08-001337"))
    #expect(matrix.elements.map(\.ai) == ["P", "1P", "Q", "K"])
  }

  @Test(arguments: [
    "QTY:1", "PN:", "PN: QTY:1", "QTY:1 Model", "Q1", "Quality first", "PART 1 2 3", "PWBP-302 1PWBP-302 Q1 K1",
    "PWBP-302 1PMPNWBP-302 QX K1", "P 1PMPNX Q1 K1", "PRODUCT A B C",
  ])
  func `texts that only begin like a label of TME are none`(text: String) {
    #expect(Label(text)?.isGuess != false)
  }
}
