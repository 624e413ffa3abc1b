import RandomTestSupport
import Testing

@testable import Barcodes

/// The typed data of labels, and what is wrong with them.
@Suite struct ScanContentTests {
  private static let today = ScanDate(year: 2026, month: 11, day: 23)!

  private func content(_ text: String, _ configuration: ScanConfiguration = ScanConfiguration()) -> Scan.Content {
    Scan(text, configuration: configuration).content(today: Self.today)
  }

  private func value(_ elements: String, _ name: String) -> ScanValue? { content(elements).data[name] }

  @Test func `a label states dates, a lot, a serial number and a weight`() {
    let content = content("]d201052968493984521726123110KGL\u{1D}21AEJ8\u{1D}310300125011260100")
    #expect(content.issues.isEmpty)
    #expect(content.data.fields.map(\.name) == ["gtin", "expiry", "lot", "serial", "netWeight", "production"])
    #expect(content.data.expiry == ScanDate(year: 2026, month: 12, day: 31))
    #expect(content.data.lot == "KGL")
    #expect(content.data.serial == "AEJ8")
    #expect(content.data.netWeight?.value.description == "1.25")
    #expect(content.data.netWeight?.unit == "kg")
    // Day 00 is the last day of the month.
    #expect(content.data.production == ScanDate(year: 2026, month: 1, day: 31))
  }

  @Test(arguments: [
    ("(00)093123450000000012", "sscc", "093123450000000012"), ("(20)07", "variant", "07"),
    ("(37)00012", "count", "12"), ("(30)7", "variableCount", "7"), ("(3922)1999", "price", "19.99"),
    ("(3932)9781999", "price", "19.99 EUR"), ("(3910)3921500", "amount", "1500 JPY"),
    ("(3952)000125", "pricePerUnit", "1.25"),
    ("(8005)001250", "pricePerUnit", "1250"), ("(3943)1234", "percentOff", "1.234"),
    ("(3205)123456", "netWeight", "1.23456 lb"), ("(3300)000020", "grossWeight", "20 kg"),
    ("(3370)000500", "massPerArea", "500 kg/m²"),
    ("(400)PO-1", "order", "PO-1"), ("(410)9521141000014", "gln.shipTo", "9521141000014"),
    ("(414)9521141000014(254)A1", "gln.location", "9521141000014"), ("(421)276 53113", "shipTo.postalCode", nil),
    ("(421)27653113", "shipTo.postalCode", "53113"), ("(421)27653113", "shipTo.country", "DE"),
    ("(422)156", "origin", "CN"), ("(423)276040", "initialProcessing", "[DE AT]"),
    ("(4300)A%20B+C", "shipTo.company", "A B C"),
    ("(4309)00000000000000000000", "shipTo.position", "{latitude -90, longitude 0}"),
    ("(4309)14154000003591400000", "shipTo.position", "{latitude 51.54, longitude -0.86}"),
    ("(4321)1", "dangerousGoods", "true"), ("(4324)2611231530", "notBefore", "2026-11-23T15:30"),
    ("(4324)2611009999", "notBefore", "2026-11-30"),
    ("(4325)2611019999", "notAfter", "2026-11-01"), ("(4324)2611012400", "notBefore", nil),
    ("(7003)2611019999", "expiryTime", nil),
    ("(4331)001850", "maximumTemperature", "18.5 °C"), ("(4333)001850-", "minimumTemperature", "-18.5 °C"),
    ("(7003)2612312359", "expiryTime", "2026-12-31T23:59"),
    ("(7007)260101260131", "harvest", "{from 2026-01-01, to 2026-01-31}"),
    ("(7007)260101", "harvest", "2026-01-01"), ("(7011)261123", "testBy", "2026-11-23"),
    ("(7011)2611230800", "testBy", "2026-11-23T08:00"),
    ("(7030)276DE123", "processor.0", "{country DE, id DE123}"), ("(7039)999X", "processor.9", "{country 999, id X}"),
    ("(7230)EMABC", "certificate.1", "{scheme EM, reference ABC}"),
    ("(710)12345678", "healthcareNumber.pzn", "12345678"),
    ("(7250)19500131", "birth", "1950-01-31"), ("(7251)195001312300", "birth", "1950-01-31T23:00"),
    (
      "(8001)00120050003119", "roll", "{width 12 mm, length 500 m, coreDiameter 31 mm, winding inside, splices unknown}"
    ),
    ("(8006)095201234567880203", "piece", "{gtin 09520123456788, piece 2, total 3}"),
    ("(8008)2611231530", "productionTime", "2026-11-23T15:30"),
    ("(8008)26112315", "productionTime", "2026-11-23T15:00"),
    ("(8008)261123153059", "productionTime", "2026-11-23T15:30:59"),
    ("(8013)1987654Ad4X4bL5ttr2310c2K", "gmn", "1987654Ad4X4bL5ttr2310c2K"),
    ("(8200)https://example.com", "url", "https://example.com"),
    ("(8007)DE89370400440532013000", "iban", "DE89370400440532013000"),
    ("(98)X", "internal.98", "X"), ("(235)ABC", "thirdPartySerial", "ABC"),
    ("(8110)106141416543213150110120", "coupon", "106141416543213150110120"),
  ])
  func `a value has its type`(elements: String, name: String, expected: String?) {
    #expect(value(elements, name).map(Self.text) == expected)
  }

  /// A value as text, for comparison.
  static func text(_ value: ScanValue) -> String {
    switch value {
    case .text(let text): text
    case .number(let number): "\(number)"
    case .flag(let flag): "\(flag)"
    case .date(let date): "\(date)"
    case .dateTime(let dateTime): "\(dateTime)"
    case .quantity(let number, let unit): "\(number) \(unit)"
    case .money(let number, let currency): "\(number)" + (currency.map { " " + $0 } ?? "")
    case .list(let values): "[" + values.map(text).joined(separator: " ") + "]"
    case .fields(let fields): "{" + fields.map { "\($0.name) \(text($0.value))" }.joined(separator: ", ") + "}"
    }
  }

  @Test(arguments: [
    // An impossible date, and its position in the text with noise and symbology identifier.
    ("(17)261331", "17@0 '261331' is no date: there is no month 13"),
    ("\u{2}]C1010529684939845217260230", "17@20 '260230' is no date: month 2 has no day 30"),
    ("(7006)261100", "7006@0 '261100' is no date: the day is missing"),
    ("(7003)2611232460", "7003@0 '2611232460': 2460 is no time of day"),
    // Wrong check digits.
    ("(01)05296849398453", "01@0 '05296849398453': the check digit is wrong"),
    ("(00)093123450000000013", "00@0 '093123450000000013': the check digit is wrong"),
    ("(8013)1987654Ad4X4bL5ttr2310c2M", "8013@0 '1987654Ad4X4bL5ttr2310c2M': the check characters are wrong"),
    ("(8007)DE88370400440532013000", "8007@0 'DE88370400440532013000': the check digits of the IBAN are wrong"),
    // Truncated, too long, wrong characters.
    ("]C1010529684939845217263", "17@19 the value of (17) is too short"),
    ("]C1172611\u{1D}10LOT", "17@3 the value of (17) is too short"),
    ("]C117A61130\u{1D}10LOT", "17@3 the value of (17) has a character that cannot be there"),
    ("(10)A B", "10@0 'A B' has a character that is not allowed: ' '"),
    // The same identifier twice.
    ("(10)A(10)B", "10@5 (10) occurs again with another value: 'B'; the first counts"),
    ("(3102)000100(3201)000100", "3201@12 (3201) states netWeight again; the first counts"),
    // Separators.
    ("]C110A\u{1D}\u{1D}21B", "-@7 two separators follow each other"),
    ("]C142215610LOT", "422@3 no separator follows the value of (422)"),
    ("]C110A\u{1D}0512345", "05@7 no application identifier (05) is known"),
    // Codes of other standards inside.
    ("(3932)0001999", "3932@0 '0001999': 000 is no currency of ISO 4217"),
    ("(422)001", "422@0 '001': 001 is no country of ISO 3166"),
    ("(8006)095201234567880403", "8006@0 '095201234567880403': there is no piece 4 of 3"),
    ("(8001)00000050003119", "8001@0 '00000050003119': 0000 must not be zero"),
    ("(4321)2", "4321@0 '2': 2 is neither 0 nor 1"),
    ("(4300)A%2", "4300@0 'A%2': % must be followed by two hexadecimal digits"),
    ("(7258)3/2", "7258@0 '3/2': 3/2 is not written as 1/2"),
    ("(8110)1061414165432131501101", "8110@0 '1061414165432131501101': the purchase requirement is not whole"),
  ])
  func `what is wrong is reported with its place`(text: String, issue: String) throws {
    let content = content(text)
    #expect(content.issues.map { "\($0.ai ?? "-")@\($0.position) \($0.reason)" } == [issue])
  }

  @Test(arguments: [
    "(10)A(10)A", "]C1\u{1D}10A\u{1D}", "]C10105296849398452\u{1D}10A", "(01)05296849398452(17)260230(10)A",
  ])
  func `the rest of a label is typed, and harmless repetitions are no issue`(text: String) {
    #expect(content(text).data.lot == "A")
    #expect(content(text).issues.isEmpty == !text.contains("0230"))
  }

  @Test func `a wrong value stays raw and is not typed`() {
    let scan = Scan("]C10105296849398452172613319912")
    #expect(scan.elements?["17"] == "261331")
    #expect(scan.content(today: Self.today).data.expiry == nil)
    #expect(scan.gtin != nil)
  }

  @Test func `positions count the bytes of separators as they were sent`() {
    let configuration = ScanConfiguration(separators: ["<GS>", "~d029"])
    let content = content("]C110A<GS>21B~d02917261331", configuration)
    #expect(content.data.lot == "A" && content.data.serial == "B")
    #expect(content.issues.map(\.position) == [18])
  }

  @Test(arguments: [
    (76, 2026, 2076), (77, 2026, 1977), (26, 2026, 2026), (0, 2026, 2000), (51, 2000, 1951), (50, 2000, 2050),
    (0, 1999, 2000), (49, 1999, 2049), (50, 1999, 1950),
  ])
  func `the century is at most 49 years back and 50 ahead`(digits: Int, current: Int, year: Int) {
    #expect(ScanDate.year(ofTwoDigits: digits, in: current) == year)
  }

  @Test func `the last day of each month`() {
    let ends = (1...12).map { ScanDate.end(of: $0, year: 2028)!.day }
    #expect(ends == [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    #expect(ScanDate.end(of: 0, year: 2028) == nil && ScanDate.end(of: 13, year: 2028) == nil)
    #expect(ScanDate.end(of: 2, year: 2100)?.day == 28)
  }

  @Test func `a plain number has no content`() {
    #expect(content("5296849398452") == Scan.Content())
    #expect(content("any text") == Scan.Content())
  }

  // MARK: Every identifier

  @Test func `a random value of every identifier is read back, separated, bracketed and shuffled`() {
    var random = SeededGenerator(for: "ScanContentTests, every identifier")
    for _ in 0..<3 {
      for identifier in ApplicationIdentifier.all {
        let number = Int.random(in: identifier.first...identifier.last, using: &random)
        let ai = String(repeating: "0", count: identifier.digitCount - String(number).count) + String(number)
        let value = Self.randomValue(identifier, using: &random)
        let label = Comment(rawValue: "(\(ai))\(value)")
        let others = [("21", "S1"), ("10", "L0T")].filter { $0.0 != ai }
        let elements = ([(ai, value)] + others).shuffled(using: &random)
        var separated = "]C1"
        for (index, element) in elements.enumerated() {
          separated += element.0 + element.1
          let isPredefined = ApplicationIdentifier(element.0)!.isPredefined
          if index < elements.count - 1, !isPredefined || Bool.random(using: &random) { separated += "\u{1D}" }
        }
        let read = Scan(separated).elements
        #expect(read?[ai] == value, label)
        #expect(read?.elements.count == elements.count, label)
        let content = Scan(separated).content(today: Self.today)
        #expect(content.data["lot"] != nil && content.data["serial"] != nil, label)
        let bracketed = Scan(read?.description ?? "")
        #expect(bracketed.elements == read, label)
        #expect(bracketed.content(today: Self.today).data == content.data, label)
        // Either it is typed, or there is an issue with it.
        let top = identifier.name.split(separator: ".")[0]
        #expect((content.data[String(top)] != nil) == content.issues.isEmpty, label)
        check(truncated: separated, using: &random)
      }
    }
  }

  /// Cuts a label off anywhere, and mixes separators in: nothing may trap, and positions stay inside.
  private func check(truncated text: String, using random: inout SeededGenerator) {
    let cut = String(text.prefix(Int.random(in: 0...text.count, using: &random)))
    var mixed = Array(text.unicodeScalars)
    mixed.insert("\u{1D}", at: Int.random(in: 0...mixed.count, using: &random))
    for variant in [cut, String(String.UnicodeScalarView(mixed))] {
      let content = content(variant)
      #expect(content.issues.allSatisfy { (0...variant.utf8.count).contains($0.position) && !$0.reason.isEmpty })
    }
  }

  /// A value of the right form. Its check digits, dates and codes may be wrong.
  static func randomValue(_ identifier: ApplicationIdentifier, using random: inout SeededGenerator) -> String {
    var value: [UInt8] = []
    for component in identifier.components {
      if component.isOptional, Bool.random(using: &random) { break }
      let allowed = (UInt8(0x21)...0x7E).filter { component.characters.contains($0) && $0 != UInt8(ascii: "(") }
      let count = Int.random(in: component.minimumLength...component.maximumLength, using: &random)
      for _ in 0..<count { value.append(allowed.randomElement(using: &random)!) }
    }
    return String(decoding: value, as: UTF8.self)
  }
}
