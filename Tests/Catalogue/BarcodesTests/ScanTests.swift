import Testing

@testable import Barcodes

@Suite struct ScanTests {
  @Test func `noise is trimmed at both ends and never inside`() {
    let scan = Scan("\u{FEFF}\u{2}\u{A0} \t]d1 AB \u{0}12\u{200B}\u{3}\u{4}\r\n")
    #expect(scan.payload == "AB \u{0}12")
    #expect(scan.symbology == SymbologyIdentifier("]d1"))
    #expect(scan.kind == .text)
  }

  @Test func `separators are neither trimmed nor replaced`() {
    #expect(Array(Scan(" \u{1D}10A\u{1D} ").payload.utf8) == Array("\u{1D}10A\u{1D}".utf8))
  }

  @Test func `only characters that nobody sees are removed`() {
    #expect(Scan("\u{A1}A\u{A1}").payload == "\u{A1}A\u{A1}")
    #expect(Scan("\u{200C}A\u{200C}").payload == "A")
  }

  @Test func `eight digits may be a GTIN-8 and a UPC-E number at once`() throws {
    let both = try #require(
      (0..<1_000_000).lazy.map { number in
        let digits = String(String(10_000_000 + number).dropFirst())
        return digits + String(Unicode.Scalar(GTIN.checkDigit(following: digits.utf8)!))
      }.first { GTIN(upcE: $0) != nil && GTIN(upcE: $0) != GTIN($0) }
    )
    let scan = Scan(both)
    #expect(scan.gtin == GTIN(both))
    #expect(scan.upcE == GTIN(upcE: both))
    #expect(scan.kind == .rcn)
    #expect(Scan("]E4" + both).upcE == nil)
  }

  @Test(arguments: ["00000000", "00000055", "00000079"])
  func `eight digits that name the same item both ways are UPC-E`(digits: String) {
    #expect(GTIN(digits) == GTIN(upcE: digits))
    #expect(Scan(digits).kind == .upcE)
  }

  @Test func `UPC-E is not read from EAN-8 nor from six digits`() {
    #expect(Scan("]E404180831").kind == .text)
    #expect(Scan("]E404180831").checkDigit == .invalid)
    #expect(Scan("418083").upcE == nil)
  }

  @Test(arguments: [
    ("]E3502061803113094867", "5020618031130", "94867"), ("]E3502061803113012", "5020618031130", "12"),
    ("]E303600029145212345", "036000291452", "12345"), ("]E303600029145212", "036000291452", "12"),
    ("]E39638507412345", "96385074", "12345"), ("]E39638507412", "96385074", "12"),
  ])
  func `an add-on is cut off`(text: String, item: String, addOn: String) {
    let scan = Scan(text)
    #expect(scan.payload == String(text.dropFirst(3)))
    #expect(scan.gtin == GTIN(item))
    #expect(scan.addOn == addOn)
    #expect(scan.itemText == item)
  }

  @Test func `an add-on that was not read leaves the number`() {
    let scan = Scan("]E35020618031130")
    #expect(scan.gtin == GTIN("5020618031130"))
    #expect(scan.addOn == nil)
    #expect(scan.itemText == "5020618031130")
  }

  @Test func `a wrong check digit before an add-on is reported`() {
    let scan = Scan("]E3502061803113194867")
    #expect(scan.checkDigit == .invalid)
    #expect(scan.addOn == nil)
  }

  @Test func `an add-on alone is no item`() {
    let scan = Scan("]E112")
    #expect(!scan.canMatch)
    #expect(scan.refusal == .addOnAlone)
  }

  @Test func `separators are recognised as configured`() {
    let configuration = ScanConfiguration(separators: ["", "<GS>", "|"])
    let text = "010890181000042110PLF<GS>21MMM|17300101"
    let scan = Scan(text, configuration: configuration)
    #expect(scan.elements?.description == "(01)08901810000421(10)PLF(21)MMM(17)300101")
    #expect(scan.payload == text)
    #expect(Scan("|10A", configuration: configuration).kind == .gs1)
    #expect(Scan("|10A").kind == .text)
  }

  @Test func `element strings are recognised without an identifier`() {
    #expect(Scan("0107310430000352").kind == .gs1)
    #expect(Scan("0107310430000353").kind == .digits)
    #expect(Scan("010731043000035").kind == .digits)
    #expect(Scan("17300101\u{1D}10A").kind == .gs1)
    #expect(Scan("]E00107310430000352").kind == .digits)
  }

  @Test func `an envelope of ISO/IEC 15434 is a label, and may hold element strings`() {
    let scan = Scan("[)>\u{1E}06\u{1D}PABC\u{1D}S123\u{1E}\u{4}")
    #expect(scan.kind == .label && scan.codeKind == .iso15434)
    #expect(scan.label?.parts == ["ABC"])
    #expect(scan.content(today: ScanDate(daysSince1970: 20_000)).data.serial == "123")
    let embedded = Scan("[)>\u{1E}05\u{1D}010529684939845210KGL\u{1E}\u{4}")
    #expect(embedded.gtin?.digits == "05296849398452" && embedded.codeKind == .iso15434)
    #expect(embedded.content(today: ScanDate(daysSince1970: 20_000)).data.lot == "KGL")
    // A message without the number of a format has separators, but they do not make it GS1 data.
    let damaged = Scan("[)>\u{1E}AB\u{1D}1PA\u{1E}\u{4}")
    #expect(damaged.kind == .text && damaged.label == nil)
  }

  @Test func `ten digits may be an ISBN, which is tried last`() {
    let scan = Scan("0306406152")
    #expect(scan.kind == .digits && scan.gtin == nil && scan.allowsHead)
    #expect(scan.label?.isWeak == true && scan.label?.gtin?.digits == "09780306406157")
    #expect(scan.codeKind == .isbn && scan.codeKindWithoutLabel == .text)
    #expect(Scan("0306406153").label == nil)
    #expect(Scan("978-0-306-40615-7").gtin?.digits == "09780306406157")
  }

  @Test func `texts are allowed where nothing structured speaks against it`() {
    for text in ["S45941WXC99", "5296849399411", "5296849398733", "52968493896655045097674487", "abc\u{1D}d"] {
      #expect(Scan(text).allowsExactText, "\(text)")
      #expect(Scan(text).allowsHead, "\(text)")
    }
    for text in ["", "]C1010087668100172410DDHD9", "https://id.gs1.org/01/00077890558423"] {
      #expect(!Scan(text).allowsExactText, "\(text)")
      #expect(!Scan(text).allowsHead, "\(text)")
    }
    for text in ["]E05296849399411", "(01)05060122034401(10)K7L", "\u{1D}10A", "https://example.com/"] {
      #expect(Scan(text).allowsExactText, "\(text)")
      #expect(!Scan(text).allowsHead, "\(text)")
    }
  }

  @Test func `digits that look like GS1 data by chance may still be a head and a serial number`() {
    #expect(Scan("0107310430000352").allowsHead)
  }

  @Test func `restricted numbers allow a head under an EAN identifier too`() {
    #expect(Scan("]E02147324069097").allowsHead)
    #expect(Scan("02147324069097").headText == "2147324069097")
    #expect(Scan("2147324069097").headText == "2147324069097")
  }

  @Test func `contents are told from the item`() {
    #expect(Scan("]C10205296849393617375").namesContents)
    #expect(!Scan("]C10105296849393617").namesContents)
  }

  @Test func `a damaged item number is not made good by the contents`() {
    let scan = Scan("]C101052968493936180205296849393617")
    #expect(scan.gtin == nil)
    #expect(scan.refusal == .wrongCheckDigitInElements(ai: "01"))
  }

  @Test func `a scan at the greatest length is read and one beyond is noise`() {
    let configuration = ScanConfiguration(maximumLength: 13)
    #expect(Scan("]E05296849399411 ", configuration: configuration).gtin != nil)
    for text in ["05296849399411", "]E005296849399411", "ABCDEFGHIJKLMN"] {
      let scan = Scan(text, configuration: configuration)
      #expect(scan.gtin == nil)
      #expect(!scan.canMatch && !scan.allowsHead)
      #expect(scan.refusal == .tooLong(byteCount: 14, maximum: 13))
    }
  }

  @Test(
    arguments: [
      ("", .empty), ("https://example.com/", .addressWithoutGTIN), ("5296849398733", .wrongCheckDigit),
      ("]C1XX", .unreadableElements(.unknownIdentifier(text: "XX"))),
      ("]C100393884288851153299", .noTradeItem(ai: "00")), ("\u{1D}", .noTradeItem(ai: nil)),
      ("https://id.gs1.org/01/00077890558424", .wrongCheckDigitInElements(ai: "01")),
    ] as [(String, Scan.Refusal)]
  )
  func `the reason for no match is reported`(text: String, refusal: Scan.Refusal) {
    #expect(Scan(text).refusal == refusal)
    #expect(!refusal.description.isEmpty)
  }

  @Test(arguments: ["5296849399411", "S45941WXC99", "418083", "04180831", "(01)05060122034401"])
  func `a sound scan has no reason to be refused`(text: String) {
    #expect(Scan(text).refusal == nil)
    #expect(Scan(text).canMatch)
  }

  @Test func `full-width text is a second reading`() throws {
    let digits = try #require(Scan("４００６３８１３３３９３１").folded)
    #expect(digits.gtin == GTIN("4006381333931"))
    let blanks = try #require(Scan("４　００６３８１　３３３９３１").folded)
    #expect(blanks.gtin == GTIN("4006381333931"))
    let brackets = try #require(Scan("（01）05060122034401").folded)
    #expect(brackets.gtin == GTIN("5060122034401"))
    let letters = try #require(Scan("ＳＧ１２３４").folded)
    #expect(letters.payload == "SG1234")
    let identifier = try #require(Scan("]E0 4 006381 333931").folded)
    #expect(identifier.symbology?.description == "]E0")
    #expect(identifier.gtin == GTIN("4006381333931"))
  }

  @Test func `folding is offered only where it changes something`() {
    #expect(Scan("SG 1234").folded == nil)
    #expect(Scan("4006381333931").folded == nil)
    #expect(Scan("").folded == nil)
    #expect(Scan("４００６", configuration: ScanConfiguration(foldsFullWidth: false)).folded == nil)
  }
}
