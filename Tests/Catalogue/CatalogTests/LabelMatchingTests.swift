import Barcodes
import Testing

@testable import Catalog
import CatalogTestSupport

/// What is matched besides barcodes and GTINs, what is no miss although it has no match, and what an answer says of it.
@Suite struct LabelMatchingTests {
  private func match(_ scan: String, in barcodes: [String: String]) throws -> Match {
    try match(scan, in: barcodes.map { Product($0.key, $0.value) })
  }

  private func match(_ scan: String, in products: [Product]) throws -> Match {
    try TestCatalogue(products).snapshot.match(scan)
  }

  private func product(_ id: String, barcode: String = "", sku: String = "") -> Product {
    var product = Product(id, barcode)
    product.skuCode = sku
    return product
  }

  // MARK: Parts

  private static let label = "[)>\u{1E}06\u{1D}P296-6501-1-ND\u{1D}1PLM358BIDDFR\u{1D}Q10\u{1D}4LPH\u{1E}\u{4}"

  @Test func `a part number on a label is a barcode, or else an SKU in either case`() throws {
    let all = [
      product("a", barcode: "LM358BIDDFR", sku: "296-6501-1-nd"), product("b", barcode: "1", sku: "lm358biddfr"),
      product("c", barcode: "2", sku: "296-6501-1-ND"),
    ]
    let byBarcode = try match(Self.label, in: all)
    #expect(byBarcode.kind == .part && byBarcode.key == "LM358BIDDFR" && byBarcode.products.map(\.id) == ["a"])
    // The customer's part number comes before the manufacturer's.
    let bySKU = try match(Self.label, in: [all[1], all[2]])
    #expect(bySKU.kind == .part && bySKU.key == "296-6501-1-ND" && bySKU.products.map(\.id) == ["c"])
    let byOther = try match(Self.label, in: [all[1]])
    #expect(byOther.kind == .part && byOther.key == "lm358biddfr" && byOther.products.map(\.id) == ["b"])
    #expect(try match(Self.label, in: []).kind == .none)
  }

  @Test func `a part number matches a barcode in either case, and an SKU with white space around it`() throws {
    let byBarcode = try match(Self.label, in: ["a": "lm358biddfr", "b": "6501"])
    #expect(byBarcode.kind == .part && byBarcode.products.map(\.id) == ["a"] && byBarcode.key == "lm358biddfr")
    let products = [
      product("c", barcode: "4006381333931", sku: " Lm358bidDFR "), product("d", sku: "296-6501-1-ND"),
      product("e", barcode: "x"),
    ]
    #expect(try match(Self.label, in: products).products.map(\.id) == ["d"])
    let bySKU = try match("[)>\u{1E}06\u{1D}1PLM358BIDDFR\u{1E}\u{4}", in: products)
    #expect(bySKU.kind == .part && bySKU.key == " Lm358bidDFR " && bySKU.products.map(\.id) == ["c"])
    #expect(try match("[)>\u{1E}06\u{1D}1PNONE\u{1E}\u{4}", in: products).kind == .none)
  }

  // MARK: Books and medicines

  @Test(arguments: [
    ("0306406152", "9780306406157"), ("0-306-40615-2", "9780306406157"), ("ISBN 0-306-40615-2", "9780306406157"),
    ("978-0-306-40615-7", "9780306406157"), ("9780306406157", "9780306406157"), ("316148410X", "9783161484100"),
    ("3-16-148410-X", "9783161484100"), ("ISBN 3-16-148410-X", "9783161484100"),
  ])
  func `a printed ISBN matches as its GTIN`(code: String, barcode: String) throws {
    let match = try match(code, in: ["a": barcode])
    #expect(match.kind == (code == barcode ? .exact : .gtin) && match.products.map(\.id) == ["a"])
    #expect(match.codeKind == .isbn && match.gtin?.digits == "0" + barcode)
  }

  @Test func `ten digits that are a barcode, or begin with one, are no ISBN`() throws {
    let exact = try match("0306406152", in: ["a": "0306406152", "b": "9780306406157"])
    #expect(exact.products.map(\.id) == ["a"] && exact.codeKind == .text)
    let head = try match("0306406152", in: ["a": "0306", "b": "9780306406157"])
    #expect(head.kind == .head && head.codeKind == .text)
  }

  @Test(arguments: ["-03752864", "PZN-03752864", "PZN 03752864", "]A0-03752864"])
  func `a PZN matches its product, by its GTIN or by itself`(code: String) throws {
    let number = try #require(Scan(code).label?.gtin).digits
    for barcode in [String(number.suffix(13)), "03752864", "3752864"] {
      let match = try match(code, in: ["a": barcode])
      #expect(match.kind == .gtin && match.codeKind == .pzn && match.products.map(\.id) == ["a"], "\(barcode)")
    }
  }

  // MARK: Cases, pallets and locations

  @Test func `a case whose item is in the catalogue has a hint and no match`() throws {
    let found = try match("10036000291459", in: ["item": "036000291452"])
    let contents = Match.Contents(gtin: try #require(GTIN("036000291452")), level: 1)
    #expect(found.isEmpty && found.isMiss && found.contents == contents)
    #expect(try match("(01)10036000291459", in: ["item": "0036000291452"]).contents?.level == 1)
    #expect(try match("90036000291455", in: ["item": "036000291452"]).contents == nil)
    #expect(try match("10036000291459", in: ["other": "4006381333931"]).contents == nil)
    #expect(try match("10036000291459", in: []).contents == nil)
    #expect(try match("036000291452", in: ["item": "036000291452"]).contents == nil)
  }

  @Test func `a case that is in the catalogue matches, and has the hint too`() throws {
    let match = try match("10036000291459", in: ["item": "036000291452", "case": "10036000291459"])
    #expect(match.products.map(\.id) == ["case"] && match.contents?.level == 1)
  }

  @Test(arguments: [
    "]C100093123450000000012", "00093123450000000012", "00340123450000000017", "(414)9521141000014",
    "]C14105296849398452", "9912345678909",
  ])
  func `a pallet or a location is no miss`(code: String) throws {
    for barcodes in [[:], ["a": "4006381333931"]] {
      let match = try match(code, in: barcodes)
      #expect(match.isEmpty && !match.isMiss && match.reason?.hasSuffix(", not a product") == true)
    }
  }

  // MARK: Answers

  @Test func `a number that is not there is stated, and one that is a barcode is not`() throws {
    let json = { (match: Match) in
      String(decoding: match.json(code: "", today: ScanDate(daysSince1970: 20_000)).bytes, as: UTF8.self)
    }
    #expect(json(try match("-03752864", in: [:])).contains(#""data":{"pzn":"03752864"}"#))
    #expect(json(try match("-03752864", in: ["a": "-03752864"])).contains(#""data":{}"#))
  }

  @Test func `an answer states what the label states, exactly`() throws {
    let code = "]d20104006381333931" + "17201231" + "3103000345" + "10A/1\u{1D}" + "39329781999"
    let match = try match(code, in: ["a": "4006381333931"])
    let json = String(
      decoding: match.json(code: code, today: ScanDate(year: 2026, month: 1, day: 1)!).bytes, as: UTF8.self)
    #expect(json.contains(#""kind":"gs1","symbology":"]d2""#))
    #expect(json.contains(#""expiry":"2020-12-31","netWeight":{"value":0.345,"unit":"kg"},"lot":"A/1""#))
    #expect(json.contains(#""price":{"value":19.99,"currency":"EUR"}"#))
    #expect(json.contains(#""issues":[]"#) && json.contains(#""expired":true"#))
    var isDateAsked = false
    func askDate() -> ScanDate {
      isDateAsked = true
      return ScanDate(daysSince1970: 20_000)
    }
    let plain = String(
      decoding: try self.match("1", in: [:]).json(code: "1", today: askDate()).bytes, as: UTF8.self)
    #expect(!isDateAsked, "a code without a label needs no date")
    #expect(plain.contains(#""elements":{},"data":{},"issues":[],"reason":"not in the catalogue""#))
  }
}
