import Barcodes
import Testing

@testable import Catalog

/// Heads, rules for restricted numbers, part numbers and hints.
@Suite struct MatchingOptionsTests {
  private func match(
    _ scan: String, in barcodes: [String: String], _ change: (inout MatchingOptions) throws -> Void = { _ in }
  ) throws -> Match {
    var options = MatchingOptions()
    try change(&options)
    return try TestCatalogue(barcodes.map { Product($0.key, $0.value) }).snapshot.match(scan, options: options)
  }

  // MARK: Heads

  @Test func `a short number does not begin a sound GTIN, and explain says why`() throws {
    let match = try match("5410188031072", in: ["a": "5410", "b": "541018"])
    #expect(match.kind == .none && match.reason == "sound, but not in the catalogue")
    let notes = match.attempts.compactMap(\.note)
    #expect(match.attempts.filter { $0.note != nil }.map(\.text) == ["541018", "5410"])
    #expect(notes.allSatisfy { $0.contains("at least 7") && $0.contains("matching.heads.digits") })
  }

  @Test func `seven digits begin a sound GTIN, and four other characters do too`() throws {
    #expect(try match("5410188031072", in: ["a": "5410188"]).rest == "031072")
    #expect(try match("5410X", in: ["a": "5410"]).kind == .head)
    // A wrong check digit, and a restricted number.
    #expect(try match("5410188031073", in: ["a": "5410"]).kind == .head)
    #expect(try match("2112345015002", in: ["a": "21123"]).kind == .head)
  }

  @Test func `heads are as the options say`() throws {
    let barcodes = ["a": "5410"]
    #expect(try match("5410188031072", in: barcodes) { $0.heads.minimumDigits = 4 }.kind == .head)
    #expect(try match("5410X", in: barcodes) { $0.heads.isEnabled = false }.kind == .none)
    #expect(try match("5410X", in: barcodes) { $0.heads.minimumLength = 5 }.kind == .none)
    #expect(try match("54X", in: ["a": "54"]) { $0.heads.minimumLength = 2 }.kind == .head)
    #expect(try match("54X", in: ["a": ""]) { $0.heads.minimumLength = 0 }.kind == .none)
    #expect(try match("]A05410X", in: barcodes) { $0.heads.excludedSymbologies = ["A"] }.kind == .none)
    #expect(try match("]C05410X", in: barcodes) { $0.heads.excludedSymbologies = ["A"] }.kind == .head)
  }

  // MARK: Restricted numbers

  @Test(arguments: ["2112345000008", "2112345", "2112345000000", "12345"])
  func `the item of a restricted number is found in every form`(barcode: String) throws {
    let rule = try MeasureRule(
      name: "scale", prefix: "21", pattern: "PPIIIIIVVVVVC", measure: "weight", decimals: 3, unit: "kg")
    let rules = try MeasureRules([.rule(rule)])
    let match = try match("2112345015002", in: ["a": barcode]) { $0.measures = rules }
    #expect(match.kind == .measure && match.key == barcode && match.rest == nil)
    #expect(match.measure?.amount.description == "1.5")
    let json = String(
      decoding: match.json(code: "2112345015002", today: ScanDate(daysSince1970: 20_000)).bytes, as: UTF8.self)
    #expect(json.contains(#""measure":{"weight":{"value":1.5,"unit":"kg"},"rule":"scale"}"#))
    #expect(json.contains(#""match":"measure","kind":"restricted""#))
    // The whole number comes first, and without a rule only its head.
    #expect(
      try self.match("2112345015002", in: ["a": "2112345015002", "b": barcode]) { $0.measures = rules }.kind == .exact)
    #expect(try self.match("2112345015002", in: ["a": barcode]).kind == (barcode == "2112345" ? .head : .none))
  }

  @Test func `a number that its rule refuses has the rule's reason`() throws {
    let rules = try MeasureRules([.preset("de")])
    let number = "281234012345"
    let check = try #require(GTIN.checkDigit(following: number.utf8))
    let match = try match(number + String(Unicode.Scalar(check)), in: ["a": "9"]) { $0.measures = rules }
    #expect(match.measureRefusal != nil && match.measure == nil)
    #expect(match.reason == match.measureRefusal?.description)
  }

  // MARK: Hints

  @Test func `a case whose item is in the catalogue has a hint and no match`() throws {
    let match = try match("10036000291459", in: ["item": "036000291452"])
    #expect(match.isEmpty && match.contents == Match.Contents(gtin: GTIN("036000291452")!, level: 1))
    #expect(try self.match("(01)10036000291459", in: ["item": "0036000291452"]).contents?.level == 1)
    #expect(try self.match("90036000291455", in: ["item": "036000291452"]).contents == nil)
    #expect(try self.match("10036000291459", in: ["other": "4006381333931"]).contents == nil)
    #expect(try self.match("036000291452", in: ["item": "036000291452"]).contents == nil)
  }

  @Test(arguments: ["]C100093123450000000012", "00093123450000000012", "(414)9521141000014", "9912345678909"])
  func `a pallet or a location is no miss`(code: String) throws {
    let match = try match(code, in: ["a": "4006381333931"])
    #expect(match.isEmpty && !match.isMiss && match.reason?.hasSuffix("not a product") == true)
  }

  // MARK: Labels

  @Test func `a part number is matched with barcodes, and then with SKUs`() throws {
    let label = "[)>\u{1E}06\u{1D}P296-6501\u{1D}1PLM358BIDDFR\u{1D}Q10\u{1D}4LPH\u{1E}\u{4}"
    let found = try match(label, in: ["a": "lm358biddfr", "b": "6501"])
    #expect(found.kind == .part && found.products.map(\.id) == ["a"] && found.key == "lm358biddfr")
    var product = Product("c", "4006381333931")
    product.skuCode = " Lm358bidDFR "
    var other = Product("d", "")
    other.skuCode = "296-6501"
    let snapshot = try TestCatalogue([product, other, Product("e", "x")]).snapshot
    // The customer's own number is more specific than the supplier's.
    #expect(try snapshot.match(label).products.map(\.id) == ["d"])
    let supplier = try snapshot.match("[)>\u{1E}06\u{1D}1PLM358BIDDFR\u{1E}\u{4}")
    #expect(supplier.products.map(\.id) == ["c"] && supplier.kind == .part && supplier.key == " Lm358bidDFR ")
    #expect(try snapshot.match("[)>\u{1E}06\u{1D}1PNONE\u{1E}\u{4}").kind == .none)
  }

  @Test(arguments: ["0306406152", "0-306-40615-2", "ISBN 0-306-40615-2", "978-0-306-40615-7", "9780306406157"])
  func `a printed ISBN matches as its GTIN`(code: String) throws {
    let match = try match(code, in: ["a": "9780306406157"])
    #expect(match.kind == (code == "9780306406157" ? .exact : .gtin))
    #expect(match.codeKind == .isbn && match.gtin?.digits == "09780306406157")
  }

  @Test func `ten digits that are a barcode, or begin with one, are no ISBN`() throws {
    let exact = try match("0306406152", in: ["a": "0306406152", "b": "9780306406157"])
    #expect(exact.products.map(\.id) == ["a"] && exact.codeKind == .text)
    let head = try match("0306406152", in: ["a": "0306", "b": "9780306406157"])
    #expect(head.kind == .head && head.codeKind == .text)
  }

  @Test(arguments: ["-03752864", "PZN-03752864", "PZN 03752864"])
  func `a PZN matches its product`(code: String) throws {
    let number = try #require(Scan(code).label?.gtin).digits
    #expect(try match(code, in: ["a": String(number.suffix(13))]).kind == .gtin)
    #expect(try match(code, in: ["a": "03752864"]).kind == .gtin)
    #expect(try match(code, in: ["a": "03752864"]).codeKind == .pzn)
  }

  @Test func `a number that is not there is stated, and one that is a barcode is not`() throws {
    let json = { (match: Match) in
      String(decoding: match.json(code: "", today: ScanDate(daysSince1970: 20_000)).bytes, as: UTF8.self)
    }
    #expect(json(try match("-03752864", in: [:])).contains(#""data":{"pzn":"03752864"}"#))
    #expect(json(try match("-03752864", in: ["a": "-03752864"])).contains(#""data":{}"#))
  }

  // MARK: JSON

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
    #expect(plain.contains(#""elements":{},"data":{},"issues":[],"reason":"sound, but not in the catalogue""#))
  }
}
