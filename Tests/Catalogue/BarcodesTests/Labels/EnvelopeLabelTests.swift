import Testing

@testable import Barcodes

@Suite struct EnvelopeLabelTests {
  private let today = ScanDate(year: 2026, month: 11, day: 23)!

  /// A label of DigiKey (InvenTree, tests of supplier barcodes).
  private static let digiKey =
    "[)>\u{1E}06\u{1D}P296-LM358BIDDFRCT-ND\u{1D}1PLM358BIDDFR\u{1D}K\u{1D}1K72991337\u{1D}10K85781337\u{1D}11K1"
    + "\u{1D}4LPH\u{1D}Q10\u{1D}11ZPICK\u{1D}12Z15221337\u{1D}13Z361337\u{1D}20Z" + String(repeating: "0", count: 20)

  @Test func `a label of DigiKey is read`() throws {
    let label = try #require(Label(Self.digiKey))
    #expect(label.kind == .iso15434)
    #expect(label.parts == ["296-LM358BIDDFRCT-ND", "LM358BIDDFR"])
    #expect(label.elements.map(\.ai) == ["P", "1P", "1K", "10K", "11K", "4L", "Q", "11Z", "12Z", "13Z", "20Z"])
    let data = label.data(today: today)
    #expect(data.count == ExactDecimal(10))
    #expect(data["customerPart"] == .text("296-LM358BIDDFRCT-ND"))
    #expect(data["supplierPart"] == .text("LM358BIDDFR"))
    #expect(data["supplierOrder"] == .text("72991337"))
    #expect(data["invoice"] == .text("85781337"))
    #expect(data["packingList"] == .text("1"))
    #expect(data["origin"] == .text("PH"))
    #expect(data["order"] == nil)
    #expect(label.issues(today: today) == [])
    #expect(label.gtin == nil && !label.isWeak)
  }

  @Test func `a newer label of DigiKey names its own part with 30P`() throws {
    // InvenTree, issue 7637.
    let text =
      "[)>\u{1E}06\u{1D}P182\u{1D}1PS3B-PH-K-S\u{1D}30P455-1720-ND\u{1D}K\u{1D}1K87684816\u{1D}10K105867004\u{1D}9D2022-05"
      + "\u{1D}1TS30784-17\u{1D}11K1\u{1D}4LMY\u{1D}Q2\u{1D}11ZPICK\u{1E}\u{4}"
    let label = try #require(Label(text))
    #expect(label.parts == ["182", "455-1720-ND", "S3B-PH-K-S"])
    let data = label.data(today: today)
    #expect(data["dateCode"] == .text("2022-05"))
    #expect(data["supplierPart1"] == .text("455-1720-ND"))
    #expect(data.lot == "S30784-17")
  }

  @Test func `labels of Mouser are read`() throws {
    // InvenTree, tests of supplier barcodes.
    let new = try #require(
      Label(
        "[)>\u{1E}06\u{1D}KP0-1337\u{1D}14K011\u{1D}1PMC34063ADR\u{1D}Q3\u{1D}11K073121337\u{1D}4LMX\u{1D}1VTI\u{1E}\u{4}"
      ))
    #expect(new.kind == .iso15434)
    let old = try #require(
      Label(
        ">[)>06\u{1D}K21421337\u{1D}14K033\u{1D}1PLDK320ADU33R\u{1D}Q32\u{1D}11K060931337\u{1D}4LCN\u{1D}1VSTMicro"))
    #expect(old.kind == .label)
    #expect(old.parts == ["LDK320ADU33R"])
    let data = old.data(today: today)
    #expect(data.count == ExactDecimal(32))
    #expect(data["order"] == .text("21421337"))
    #expect(data["orderLine"] == .text("033"))
    #expect(data["manufacturer"] == .text("STMicro"))
    #expect(old.issues(today: today) == [])
  }

  @Test func `a label of Würth Elektronik is read as a scanner sends it, without RS and EOT`() throws {
    // Part-DB, issue 1290.
    let label = try #require(Label("[)>06␝1P875105242006␝Q20␝1T317010012523270␝16D20250629"))
    #expect(label.parts == ["875105242006"])
    let data = label.data(today: today)
    #expect(data.lot == "317010012523270" && data.count == ExactDecimal(20))
    #expect(data.production == ScanDate(year: 2025, month: 6, day: 29))
    #expect(label.issues(today: today) == [])
  }

  @Test(arguments: [
    ("<RS>", "<GS>", "<EOT>"), ("{RS}", "{GS}", "{EOT}"), ("[RS]", "[GS]", "[EOT]"), ("␞", "␝", "␄"),
    ("^^", "^]", "^D"), ("^", "]", "^D"), ("^", "]", "^d"), ("~d030", "~d029", "~d004"), ("^030", "^029", "^004"),
    ("\\x1e", "\\x1d", "\\x04"), ("\\u001E", "\\u001D", "\\u0004"), ("\u{F70C}", "\u{F70B}", "\u{F704}"),
    ("\u{1E}", "\u{1D}", ""), ("", "\u{1D}", ""), ("", "<GS>", ""), ("", "^]", ""), ("", "|", ""), ("", "/", ""),
  ])
  func `separators are read as scanners type them`(record: String, group: String, end: String) throws {
    // The last RS of the form whose control key was lost is part of its end.
    let last = end.hasPrefix("^") && record == "^" ? end : record + end
    let text = "[)>\(record)06\(group)1PRC0402\(group)Q25\(group)1TL.1\(last)"
    let label = try #require(Label(text))
    #expect(label.elements.map(\.ai) == ["1P", "Q", "1T"])
    #expect(label.elements.map(\.value) == ["RC0402", "25", "L.1"])
    #expect(label.issues(today: today) == [])
  }

  @Test func `lost separators are reported, as the fields cannot be told apart`() throws {
    // InvenTree, pull request 5509.
    for text in ["[)>06KINC-2023-03-28-0000114K0111PMC34063ADRQ3", ">[)>06K2142055214K0331PLDK320ADU33RQ32"] {
      let label = try #require(Label(text))
      #expect(label.elements.isEmpty && label.parts.isEmpty)
      let issue = try #require(label.issues(today: today).first)
      #expect(issue.reason.contains("separators"))
      #expect(issue.position == text.utf8.count - text.drop { $0 != "K" }.utf8.count)
    }
  }

  @Test func `values are typed by their identifiers`() throws {
    let text =
      "[)>\u{1E}06\u{1D}Q2.50\u{1D}7Q1.5KG\u{1D}12Q10.20EUR\u{1D}13Q2/5\u{1D}14D20270131\u{1D}16D20260102\u{1D}D260229"
      + "\u{1D}6D20261001011\u{1D}S77\u{1D}T5\u{1D}2PB\u{1D}4LXYZ\u{1D}22D202610012359\u{1E}\u{4}"
    let label = try #require(Label(text))
    let data = label.data(today: today)
    #expect(data.count == ExactDecimal(25, decimals: 1))
    #expect(data["quantity"] == .quantity(ExactDecimal(15, decimals: 1), unit: "KG"))
    #expect(data["price"] == .money(ExactDecimal(102, decimals: 1), currency: "EUR"))
    #expect(data["pieces.total"] == .number(ExactDecimal(5)))
    #expect(data.expiry == ScanDate(year: 2027, month: 1, day: 31))
    #expect(data.production == ScanDate(year: 2026, month: 1, day: 2))
    #expect(data["date"] == .date(ScanDate(year: 2026, month: 10, day: 1)!))
    #expect(
      data["recordTime"]
        == .dateTime(ScanDateTime(date: ScanDate(year: 2026, month: 10, day: 1)!, hour: 23, minute: 59)!))
    #expect(data.serial == "77")
    #expect(data["customerLot"] == .text("5"))
    #expect(data["version"] == .text("B"))
    #expect(data["origin"] == nil)
    let issues = label.issues(today: today)
    #expect(issues.map(\.ai) == ["D", "4L"])
    for issue in issues {
      let rest = Array(text.utf8)[issue.position...]
      #expect(rest.starts(with: (issue.ai ?? "?").utf8))
    }
  }

  @Test func `the same identifier with two values is reported, and the first counts`() throws {
    let label = try #require(Label("[)>\u{1E}06\u{1D}1TA\u{1D}1TB\u{1D}Q1\u{1D}Q1\u{1E}\u{4}"))
    #expect(label.data(today: today).lot == "A")
    #expect(label.issues(today: today).map(\.ai) == ["1T"])
  }

  @Test func `element strings in format 05 are handed over with their offset`() throws {
    // GS1 General Specifications, ISO/IEC 15434 format 05.
    for group in ["\u{1D}", "<GS>"] {
      let record = group == "<GS>" ? "<RS>" : "\u{1E}"
      let text = "[)>\(record)05\(group)0104012345123456\(group)10LOT\(group)21S\(record)\u{4}"
      let label = try #require(Label(text))
      let strings = try #require(label.elementStrings)
      #expect(label.elements.isEmpty)
      let read = ElementString(separated: strings.bytes, from: strings.start)
      #expect(read.description == "(01)04012345123456(10)LOT(21)S")
      #expect(Array(text.utf8)[strings.start...].starts(with: "0104012345123456".utf8))
    }
  }

  @Test func `several formats are read, and those that are not are named`() throws {
    let text = "[)>\u{1E}12\u{1D}MFR 123\u{1E}06\u{1D}1PA\u{1E}05\u{1D}10B\u{1E}06\u{1D}Q1\u{1E}\u{4}"
    let label = try #require(Label(text))
    #expect(label.elements.map(\.ai) == ["1P", "Q"])
    #expect(label.elementStrings != nil)
    #expect(label.issues(today: today).map(\.reason) == ["format 12 of ISO/IEC 15434 is not read"])
    let other = try #require(Label("[)>\u{1E}06\u{1D}1PA\u{1E}XY\u{1E}\u{4}"))
    #expect(other.issues(today: today).count == 1)
  }

  @Test func `a field without an identifier is reported, and the others are read`() throws {
    let text = "[)>\u{1E}06\u{1D}1PA\u{1D}???\u{1D}Q1\u{1E}\u{4}"
    let label = try #require(Label(text))
    #expect(label.elements.map(\.ai) == ["1P", "Q"])
    #expect(label.issues(today: today).map(\.position) == [11])
  }

  @Test func `a medicine is found by the PZN in its PPN, and D is its expiry`() throws {
    // IFA, securPharm coding rules.
    let text = "[)>\u{1E}06\u{1D}9N110375286414\u{1D}1T12345ABCD\u{1D}D150600\u{1D}S12345ABCDEF98765\u{1E}\u{4}"
    let label = try #require(Label(text))
    #expect(label.kind == .iso15434)
    #expect(label.gtin == GTIN("4150037528643"))
    #expect(label.parts == ["03752864", "3752864", "-03752864", "-3752864"])
    let data = label.data(today: today)
    #expect(data["ppn"] == .text("110375286414"))
    #expect(data.expiry == ScanDate(year: 2015, month: 6, day: 30))
    #expect(data.lot == "12345ABCD")
    #expect(data.serial == "12345ABCDEF98765")
  }

  @Test func `a PPN with wrong check digits is reported and finds nothing`() throws {
    let label = try #require(Label("[)>\u{1E}06\u{1D}9N110375286415\u{1E}\u{4}"))
    #expect(label.gtin == nil && label.parts.isEmpty)
    #expect(label.data(today: today).isEmpty)
    #expect(label.issues(today: today).map(\.ai) == ["9N"])
  }

  @Test func `a GTIN in 3P or 8P is a key if its check digit is right`() throws {
    let sound = try #require(Label("[)>\u{1E}06\u{1D}8P04012345123456\u{1E}\u{4}"))
    #expect(sound.gtin == GTIN("4012345123456"))
    let wrong = try #require(Label("[)>\u{1E}06\u{1D}3P4012345123457\u{1E}\u{4}"))
    #expect(wrong.gtin == nil)
    #expect(wrong.issues(today: today).map(\.reason) == ["the check digit is wrong"])
  }

  @Test(arguments: ["[", "[)", "[)>", "[)>\u{1E}", "[)>\u{1E}0", "[)>ABC", ">", ">[)>", "[)>\u{1E}AB\u{1D}1PA", "[06]"])
  func `other texts with brackets are no messages`(text: String) {
    #expect(Label(text) == nil)
  }

  @Test func `each known identifier has a name, a title and a form`() {
    for row in DataIdentifier.table {
      let bytes = Array(row.identifier.utf8)
      #expect(DataIdentifier.length(at: bytes[...]) == bytes.count, "\(row.identifier)")
      #expect(!row.title.isEmpty && row.name.first?.isLowercase == true, "\(row.identifier)")
    }
    #expect(Set(DataIdentifier.parts).count == DataIdentifier.parts.count)
    for part in DataIdentifier.parts { #expect(DataIdentifier.listed(part) != nil, "\(part)") }
  }

  @Test func `a label of a thousand parts has few texts to look up`() throws {
    let fields = (0..<1_000).map { "\u{1D}1P\($0)" }.joined()
    let label = try #require(Label("[)>\u{1E}06" + fields + "\u{1E}\u{4}"))
    #expect(label.elements.count == 1_000)
    #expect(label.parts.count == Label.maximumPartCount)
    #expect(label.issues(today: today).count == 999)
  }
}
