import Testing

@testable import Barcodes

/// Codes that scanners send in another form than usual.
@Suite struct ScanReadingsTests {
  private let today = ScanDate(year: 2026, month: 11, day: 27)!

  // MARK: Add-ons

  @Test(arguments: [
    ("]E34719999000019" + "12345", "12345"), ("]E0471999900001912345", "12345"), ("]E0471999900001912", "12"),
    ("]E00123456789051" + "2", "12"), ("4719999000019 12345", "12345"), ("4719999000019+12", "12"),
    ("4719999000019 + 12", "12"), ("]E04719999000019]E112", "12"), ("]E04719999000019]E200211", "00211"),
    ("4719999000019]E200211", "00211"), ("]E496385074]E112", "12"), ("96385074 12", "12"),
    ("012345678905 12345", "12345"),
  ])
  func `an add-on is told from its number`(code: String, addOn: String) {
    let scan = Scan(code)
    #expect(scan.addOn == addOn && scan.gtin != nil && scan.checkDigit == .valid)
    #expect(scan.gtin == GTIN(scan.itemText), "\(scan.itemText)")
    #expect(scan.payload.hasPrefix(scan.itemText) && scan.payload.hasSuffix(addOn))
  }

  @Test(arguments: [
    "4719999000018 12", "4719999000019 123", "4719999000019-12", "4719999000019]E1123", "4719999000019]E21234",
    "471999900001 12", "4719999000019    12", "]C1" + "4719999000019 12", "4719999000019 1A",
  ])
  func `other rests are no add-ons`(code: String) { #expect(Scan(code).addOn == nil) }

  @Test func `an add-on by label type is told too`() {
    let symbology = SymbologyIdentifier(named: "LABEL-TYPE-EAN13")
    #expect(Scan("471999900001912345", symbology: symbology).addOn == "12345")
    #expect(Scan("01234567890512345", symbology: SymbologyIdentifier(named: "UPC_A")).addOn == "12345")
  }

  @Test func `digits that may be a number and an add-on say so`() throws {
    let reading = try #require(Scan("01234567890512345").possibleAddOn)
    #expect(reading.item.digits == "00012345678905" && reading.itemDigitCount == 12 && reading.addOn == "12345")
    #expect(Scan("471999900001912345").possibleAddOn?.itemDigitCount == 13)
    #expect(Scan("471999900001912").possibleAddOn?.addOn == "12")
    // Also if the 14 digits have a right check digit by chance.
    #expect(Scan("]E081125702092131").possibleAddOn?.addOn == "31")
    for code in [
      "471999900001812345", "4719999000019", "4719999000019123", "]E0471999900001912345", "47199990000191234A",
    ] {
      #expect(Scan(code).possibleAddOn == nil, "\(code)")
    }
  }

  // MARK: Several codes

  @Test(arguments: [
    ("47199990000194719999000026", ["4719999000019", "4719999000026"]),
    ("4719999000019 4719999000026", ["4719999000019", "4719999000026"]),
    ("4719999000019\r\n4719999000026", ["4719999000019", "4719999000026"]),
    ("]E04719999000019]E04719999000026", ["4719999000019", "4719999000026"]),
    ("9638507496385074", ["96385074", "96385074"]), ("0123456789059638507" + "4", ["012345678905", "96385074"]),
    ("471999900001947199990000264719999000019", ["4719999000019", "4719999000026", "4719999000019"]),
    ("1471999900001" + "6" + "4719999000026", ["14719999000016", "4719999000026"]),
    ("4719999000019,4719999000026", ["4719999000019", "4719999000026"]),
    ("4719999000019<CR>4719999000026", ["4719999000019", "4719999000026"]),
    ("4719999000019\u{200E}4719999000026", ["4719999000019", "4719999000026"]),
    ("4719999000019\u{3000}4719999000026", ["4719999000019", "4719999000026"]),
    ("47199990000190104719999000026", ["4719999000019", "0104719999000026"]),
    ("]d20104719999000019]d20104719999000026", ["0104719999000019", "]d20104719999000026"]),
    ("(01)04719999000019(01)04719999000026", ["04719999000019", "04719999000026"]),
    (
      "https://x.org/01/04719999000019https://x.org/01/04719999000026",
      ["https://x.org/01/04719999000019", "https://x.org/01/04719999000026"]
    ),
  ])
  func `numbers in one transmission are told apart`(code: String, codes: [String]) {
    #expect(Scan(code).possibleGluedCodes.contains(codes))
  }

  @Test func `other texts are one code`() {
    for code in [
      "4719999000019", "47199990000194719999000027", "47199990000191234567", "4719999000019X4719999000026", "A",
    ] {
      #expect(Scan(code).possibleGluedCodes.isEmpty, "\(code)")
    }
    // The effort is bounded whatever the digits are.
    #expect(Scan(String(repeating: "0", count: 512)).possibleGluedCodes.count <= 16)
    #expect(Scan(String(repeating: "0", count: 513)).possibleGluedCodes.isEmpty)
  }

  // MARK: Elements

  @Test(arguments: [
    ("(01)4719999000019", "04719999000019"), ("(01)4719999000019(10)AB", "04719999000019"),
    ("(01)012345678905", "00012345678905"), ("(01)96385074", "00000096385074"),
    ("]C1014719999000019", "04719999000019"), ("]C1014719999000019\u{1D}10AB", "04719999000019"),
    ("(02)4719999000019(37)5", "04719999000019"),
  ])
  func `a GTIN of less than 14 digits is read with the zeros that it lacks`(code: String, gtin: String) {
    let scan = Scan(code)
    #expect(scan.gtin?.digits == gtin)
    let issues = scan.content(today: today).issues
    #expect(issues.count == 1 && issues.first?.reason.contains("leading zeros") == true)
  }

  @Test func `a short GTIN with a wrong check digit is none`() {
    #expect(Scan("(01)4719999000018").gtin == nil && Scan("(01)471999900001").gtin == nil)
  }

  // MARK: Labels

  @Test(arguments: [
    ("[)>\u{1E}06\u{1D}1plm358\u{1D}q10\u{1E}", "LM358"), ("+a99912345/$$52001510x33", "A99912345"),
    ("qty:1 pn:wbp-302 mpn:wbp-302", "WBP-302"), ("{PBN:pick1,ON:so1,PC:c312270,PM:st-1,QTY:2}", "C312270"),
  ])
  func `a label that was typed with caps lock on is read`(code: String, part: String) throws {
    let scan = Scan(code)
    #expect(scan.label?.parts.contains(part) == true)
    #expect(scan.content(today: today).issues.first?.reason.contains("caps lock") == true)
  }

  @Test func `3P of a text is a part`() throws {
    let text = try #require(Scan("[)>\u{1E}06\u{1D}3PABC-1\u{1D}Q1\u{1E}\u{4}").label)
    #expect(text.parts == ["ABC-1"] && text.gtin == nil)
    #expect(text.data(today: today)["part"] == .text("ABC-1"))
    #expect(text.data(today: today)["gtin"] == nil)
    let number = try #require(Scan("[)>\u{1E}06\u{1D}3P4719999000019\u{1D}Q1\u{1E}\u{4}").label)
    #expect(number.gtin?.digits == "04719999000019" && number.data(today: today)["gtin"] == .text("4719999000019"))
  }

  @Test(arguments: [("1PLM358BIDDFR", "LM358BIDDFR"), ("P296-6501-1-ND", "296-6501-1-ND"), ("30PX-1", "X-1")])
  func `a part number with its data identifier is a weak label`(code: String, part: String) throws {
    let label = try #require(Scan(code).label)
    #expect(label.isWeak && label.isGuess && label.parts == [part])
    #expect(Scan(code).kind == .text && Scan(code).allowsHead && Scan(code).refusal == nil)
  }

  @Test func `a quantity is no product`() throws {
    let scan = Scan("Q10")
    #expect(scan.refusal?.description == "a quantity, not a product")
    #expect(scan.content(today: today).data.count == ExactDecimal(10))
    for text in ["Q", "Q10A", "QUALITY", "PRODUCT A", "P", "1P", "S1234", "Q1234567890"] {
      #expect(Scan(text).label == nil, "\(text)")
    }
  }

  // MARK: Symbologies

  @Test(arguments: [
    ("123450", "UPCE", "00012000003455"), ("123450", "LABEL-TYPE-UPCE0", "00012000003455"),
    ("0123450", "UPC_E", "00012000003455"), ("1234505", "UPC-E", "00012000003455"),
    ("01234505", "UPC-E", "00012000003455"), ("123450", "UPCE1", "00112000003452"),
  ])
  func `UPC-E comes with or without number system and check digit`(code: String, name: String, gtin: String) throws {
    let symbology = try #require(SymbologyIdentifier(named: name))
    let scan = Scan(code, symbology: symbology)
    #expect([scan.gtin?.digits, scan.upcE?.digits].contains(gtin) && scan.kind == .upcE)
    if code.utf8.count < 8 { #expect(Scan(code).gtin == nil && Scan("]E0" + code).gtin == nil) }
  }

  @Test func `the letters that start and stop Codabar are left out in a second reading`() throws {
    let symbology = try #require(SymbologyIdentifier(named: "NW-7"))
    #expect(Scan("A12345B", symbology: symbology).folded?.payload == "12345")
    #expect(Scan("]F0d12-34t").folded?.payload == "12-34")
    #expect(Scan("A12345B").folded == nil && Scan("]F012345").folded == nil && Scan("]F0AB").folded == nil)
  }

  @Test func `a plain number after the identifier of GS1 data has a second reading`() {
    #expect(Scan("]e04719999000019").folded?.gtin?.digits == "04719999000019")
    #expect(Scan("]e04719999000018").folded == nil)
  }

  @Test(arguments: [
    ("RSS_EXPANDED", "]e0"), ("RSS_14", "]e0"), ("DataBarExpanded", "]e0"), ("DataBar Limited", "]e0"),
    ("DataBarStkOmni", "]e0"), ("JAN13", "]E0"), ("JAN-8", "]E4"), ("EAN_13", "]E0"), ("UPC_A", "]E0"),
    ("QR_CODE", "]Q1"), ("DATA_MATRIX", "]d1"), ("PDF_417", "]L0"), ("CODE_128", "]C0"), ("FORMAT_EAN_8", "]E4"),
    ("org.gs1.EAN-13", "]E0"), ("org.iso.Code128", "]C0"), ("VNBarcodeSymbologyQR", "]Q1"), ("MAXICODE", "]U0"),
    ("BarcodeFormat.CODE_39", "]A0"), ("ITF14", "]I1"), ("NW7", "]F0"), ("AztecCode", "]z0"),
  ])
  func `symbologies have the names of other software`(name: String, identifier: String) {
    #expect(SymbologyIdentifier(named: name)?.description == identifier)
  }

  @Test func `a web address may be a barcode, letter for letter`() {
    let scan = Scan("https://example.com/Item/7")
    #expect(scan.allowsExactText && scan.distinguishesCase && !scan.allowsHead && scan.refusal == .addressWithoutGTIN)
    #expect(!Scan("https://id.gs1.org/01/00077890558423").allowsExactText)
  }

  @Test func `characters that nobody sees inside a text are left out in a second reading`() {
    #expect(Scan("SG\u{200B}12\u{AD}34").folded?.payload == "SG1234")
    #expect(Scan("47199990\u{200E}00019").folded?.gtin?.digits == "04719999000019")
    #expect(Scan("SG\t1234").folded == nil)
  }
}
