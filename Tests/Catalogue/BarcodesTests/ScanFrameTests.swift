import RandomTestSupport
import Testing

@testable import Barcodes

/// What stands around a code, and was not meant.
@Suite struct ScanFrameTests {
  private static let plain = "4719999000019"
  private let today = ScanDate(year: 2026, month: 11, day: 27)!

  private static let invisible: [String] =
    [
      0x01, 0x05, 0x06, 0x17, 0x1B, 0x1C, 0x1E, 0x1F, 0x7F, 0x85, 0xAD, 0x2003, 0x200C, 0x200E, 0x200F, 0x2028, 0x202A,
      0x2060, 0x2066, 0x3000, 0xE0001,
    ].map { String(Unicode.Scalar($0)!) }

  @Test(arguments: invisible)
  func `characters that nobody sees are no part of a code, and an issue names them`(character: String) {
    for (before, after) in [(character, ""), ("", character), (character, character), (" ", character + "\r\n")] {
      for identifier in ["", "]E0"] {
        let scan = Scan(before + identifier + Self.plain + after)
        #expect(scan.payload == Self.plain && scan.gtin?.digits == "0" + Self.plain)
        #expect(scan.kind == .gtin && scan.addOn == nil)
        let issues = scan.content(today: today).issues
        let sides = [before, after].filter { $0.contains(character) }.count
        #expect(
          issues.count == sides && issues.allSatisfy { $0.reason.contains("left out") && $0.reason.contains("U+") })
      }
      let text = Scan(before + "SG12 34" + after)
      #expect(text.payload == "SG12 34" && text.exactTexts.count == 2 && text.exactTexts[1] == "SG12 34")
    }
  }

  @Test(arguments: ["\r\n", " ", "\u{2}", "\u{3}", "\u{4}", "\u{0}", "\t", "\u{FEFF}", "\u{A0}", "\u{200B}"])
  func `noise that every reader sends is removed without a word`(noise: String) {
    let scan = Scan(noise + Self.plain + noise)
    #expect(scan.payload == Self.plain && scan.issuesOfFrame.isEmpty && scan.hasOneExactText)
  }

  @Test(arguments: ["\u{1D}", "\u{1D}\u{1D}", "\u{1D}\r\n", "\u{1E}\u{1D}"])
  func `separators around a plain code are no GS1 data`(separators: String) {
    for code in [separators + Self.plain, Self.plain + separators, separators + Self.plain + separators] {
      let scan = Scan(code)
      #expect(scan.payload == Self.plain && scan.kind == .gtin && scan.elements == nil)
      #expect(scan.issuesOfFrame.first?.reason.contains("U+001D") == true)
    }
    #expect(Scan("]E0" + Self.plain + separators).kind == .gtin)
    #expect(Scan("SG1234" + separators).payload == "SG1234")
    #expect(Scan("SG1234" + separators).kind == .text)
    #expect(Scan(separators + "]E0" + Self.plain).gtin?.digits == "0" + Self.plain)
    // The check digit is wrong, so nothing says that it is a number.
    #expect(Scan("4719999000018" + separators).payload == "4719999000018")
  }

  @Test(arguments: ["<GS>", "{GS}", "^]", "%1D", "<FNC1>", "\u{241D}"])
  func `typed separators around a plain code are none either`(token: String) {
    for code in [Self.plain + token, token + Self.plain, "]E0" + Self.plain + token, token + "96385074"] {
      let scan = Scan(code)
      #expect(scan.kind == .gtin && scan.elements == nil && scan.issuesOfFrame.first?.reason.contains(token) == true)
    }
    #expect(Scan("A100" + token).payload == "A100")
    #expect(Scan("\(token)\u{0}]E0" + Self.plain).gtin?.digits == "0" + Self.plain)
    #expect(Scan("\(token)]C1\u{FFFD}000").symbology?.description == "]C1")
    #expect(Scan("\(token)0104719999000019").kind == .gs1)
    let label = Scan("[)>\u{1E}06\u{1D}1PLM358\(token)Q10\u{1E}\u{4}")
    #expect(label.content(today: today).issues.contains { $0.ai == "1P" && $0.reason.contains("'\(token)'") })
  }

  @Test func `separators around GS1 data have their meaning`() {
    for code in ["\u{1D}0104719999000019", "\u{1D}10A", "10ABC\u{1D}", "0104719999000019\u{1D}"] {
      let scan = Scan(code)
      #expect(scan.kind == .gs1 && scan.payload == code && scan.issuesOfFrame.isEmpty)
    }
    #expect(Scan("10ABC\u{1D}").exactTexts == ["10ABC\u{1D}", "10ABC"])
    #expect(Scan("]C1" + Self.plain + "\u{1D}").kind == .gs1Bad)
  }

  @Test func `positions of issues count the bytes of the text with everything around it`() {
    let scan = Scan("\u{200E}]C1\u{1}01047199990000191726133210A\u{1D}\u{1F}")
    let issues = scan.content(today: today).issues
    #expect(issues.map(\.position) == [0, 6, 23, 35])
    #expect(issues[2].ai == "17")
  }

  @Test func `a message of ISO 15434 ends with control characters`() {
    let scan = Scan("[)>\u{1E}06\u{1D}1PA-1\u{1D}Q10\u{1E}\u{4}")
    #expect(scan.label?.parts == ["A-1"] && scan.content(today: today).issues.isEmpty)
  }

  @Test func `any text with anything around it is read as without`() {
    var random = SeededGenerator(for: "ScanFrameTests, anything around")
    let codes = [Self.plain, "SG1234-7", "0104719999000019", "(01)04719999000019(10)A", "96385074", "]E0" + Self.plain]
    for _ in 0..<(2000 * depth) {
      let code = codes.randomElement(using: &random)!
      let around = (0..<2).map { _ in
        (0..<Int.random(in: 0...3, using: &random)).map { _ in Self.invisible.randomElement(using: &random)! }.joined()
      }
      let (scan, bare) = (Scan(around[0] + code + around[1]), Scan(code))
      #expect(scan.payload == bare.payload && scan.kind == bare.kind && scan.gtin == bare.gtin, "\(around) \(code)")
      #expect(scan.elements == bare.elements && scan.symbology == bare.symbology)
      #expect(scan.issuesOfFrame.isEmpty == (around[0] + around[1]).isEmpty)
    }
  }

  // MARK: Separators as text

  @Test(arguments: [
    "<GS>", "(GS)", "{GS}", "[GS]", "%1D", "%1d", "<FNC1>", "{FNC1}", "^]", "~d029", "^029", "\\x1D", "\\u001d",
    "\\029",
    "\u{241D}", "\u{2194}", "<gs>",
  ])
  func `what scanners type for a separator is one without a setting`(token: String) {
    for (prefix, identifier) in [("", ""), ("]C1", ""), ("", token)] {
      let scan = Scan("\(prefix)\(identifier)010471999900001910AB\(token)21XYZ")
      #expect(scan.kind == .gs1 && scan.elements?["10"] == "AB" && scan.elements?["21"] == "XYZ")
      #expect(scan.content(today: today).issues.isEmpty)
    }
    // A scanner that sends GS sends no other text for it.
    let mixed = Scan("010471999900001910AB\(token)CD\u{1D}21XYZ")
    #expect(mixed.elements?["10"] == "AB\(token)CD" || mixed.elements?["10"] == nil)
    #expect(mixed.elements?["21"] == "XYZ")
    let late = Scan("010471999900001910AB\(token)17261332")
    #expect(late.content(today: today).issues.map(\.position) == [20 + token.utf8.count])
    // Without a GTIN at the start, only data that can be read are GS1 data.
    #expect(Scan("10AB\(token)21XYZ").elements?["21"] == "XYZ")
    #expect(Scan("KFR-35\(token)GW").kind == .text && Scan("KFR-35\(token)GW").allowsHead)
  }

  @Test func `pictures of control characters separate a message of ISO 15434`() {
    for (record, group, end) in [("▲", "↔", "♦"), ("▲", "↔", ""), ("%1E", "%1D", "%04")] {
      let scan = Scan("[)>\(record)06\(group)1PA-1\(group)Q10\(record)\(end)")
      #expect(scan.label?.parts == ["A-1"], "\(record)")
      #expect(scan.label?.data(today: today).count == ExactDecimal(10))
    }
  }

  @Test func `a token inside a value is an issue`() {
    let link = Scan("https://example.org/01/04719999000019?10=AB%3CGS%3E21XYZ")
    #expect(link.content(today: today).issues.contains { $0.ai == "10" && $0.reason.contains("'<GS>'") })
  }

  @Test(arguments: [
    ("010471999900001910AC21XY", "10", "21XY"), ("010471999900001910ABC17261231", "10", "17261231"),
    ("01047199990000191012341726123121X7", "10", "1726123121X7"), ("010471999900001921SN10AB", "21", "10AB"),
    ("010471999900001910AB3103001250", "10", "3103001250"), ("010471999900001910L11270101", "10", "11270101"),
    ("010471999900001910L123421XY", "10", "21XY"), ("010471999900001910AC121XY", "10", "21XY"),
    ("010471999900001910A1B221123456789", "10", "21123456789"),
    ("010471999900001910ABC70032612311200", "10", "70032612311200"),
    ("010471999900001910AB0104719999000026", "10", "0104719999000026"),
  ])
  func `a value that swallows what looks like another element is an issue`(code: String, ai: String, text: String) {
    let issues = Scan(code).content(today: today).issues
    #expect(issues.count == 1 && issues.first?.ai == ai && issues.first?.reason.contains("'\(text)'") == true)
    // With a separator anywhere, the scanner sends them.
    #expect(Scan(code + "\u{1D}").content(today: today).issues.isEmpty)
  }

  @Test func `an identifier in brackets inside a value is an issue`() {
    let issues = Scan("010471999900001910AB(10)C").content(today: today).issues
    #expect(issues.map(\.ai) == ["10"] && issues.first?.reason.contains("'(10)'") == true)
  }

  @Test func `good lots are rarely suspected`() {
    var random = SeededGenerator(for: "ScanFrameTests, good lots")
    func digits(_ count: Int) -> String {
      (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
    }
    let forms: [(String, () -> String)] = [
      ("L and the day of a year", { "L2" + digits(1) + String(Int.random(in: 1...366, using: &random)) }),
      (
        "L and a date",
        { "L2\(digits(1))\(Int.random(in: 10...12, using: &random))\(Int.random(in: 10...28, using: &random))" }
      ),
      ("letters and four digits", { "AB" + digits(4) }), ("sixteen digits", { digits(16) }),
      ("a month and a number", { digits(2) + "C" + digits(5) }), ("with hyphens", { "LOT-\(digits(2))-A" }),
    ]
    for (name, make) in forms {
      var suspected = 0
      for _ in 0..<500 {
        let scan = Scan("01047199990000191726123110" + make())
        if !scan.content(today: today).issues.isEmpty { suspected += 1 }
      }
      #expect(suspected <= 10, "\(name)")
    }
  }

  @Test(arguments: [
    "0104719999000019172612311023417", "010471999900001910L2603A", "010471999900001921000123456789",
    "01047199990000191099990017", "010471999900001910A17991340", "010471999900001917261231",
  ])
  func `an ordinary value is not suspected`(code: String) {
    #expect(Scan(code).content(today: today).issues.isEmpty)
  }
}
