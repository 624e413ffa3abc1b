import Barcodes
import CatalogTestSupport
import Testing

@testable import Catalog

/// Scans that are more, less or other than one code, and what they match.
@Suite struct UnusualScanTests {
  private func match(
    _ scan: String, symbology: String? = nil, in barcodes: [String: String],
    _ change: (inout MatchingOptions) -> Void = { _ in }
  ) throws -> Match {
    var options = MatchingOptions()
    change(&options)
    let products = barcodes.map { Product($0.key, $0.value) }
    return try TestCatalogue(products).snapshot.match(
      scan, symbology: symbology.flatMap { SymbologyIdentifier(named: $0) }, options: options)
  }

  private func json(_ match: Match) -> String {
    String(decoding: match.json(code: match.scan.text, today: ScanDate(daysSince1970: 20_000)).bytes, as: UTF8.self)
  }

  // MARK: Several codes

  @Test(arguments: [
    "47199990000194719999000026", "4719999000019\r4719999000026", "4719999000019 4719999000026",
    "]E04719999000019]E04719999000026",
  ])
  func `two codes in one scan match nothing, and both are named`(code: String) throws {
    for barcodes in [["a": "4719999000019"], ["a": "04719999000019"], ["a": "4719999000019", "b": "4719999000026"]] {
      let match = try match(code, in: barcodes)
      #expect(match.kind == .none && match.products.isEmpty && match.rest == nil && match.isMiss)
      #expect(match.gluedCodes == ["4719999000019", "4719999000026"])
      #expect(match.reason == "two codes in one scan: 4719999000019, 4719999000026")
      #expect(json(match).contains(#""codes":["4719999000019","4719999000026"]"#))
    }
  }

  @Test func `an equal barcode and an unknown first number are not two codes`() throws {
    #expect(try match("47199990000194719999000026", in: ["a": "47199990000194719999000026"]).kind == .exact)
    // If the catalogue has the second alone, a head may still be meant.
    let second = try match("47199990000194719999000026", in: ["b": "4719999000026"])
    #expect(second.kind == .none && second.gluedCodes.count == 2)
    let begun = try match("47199990000194719999000026", in: ["a": "4719999", "b": "4719999000026"])
    #expect(begun.kind == .head && begun.products.map(\.id) == ["a"])
    #expect(try match("47199990000194719999000026", in: [:]).gluedCodes.isEmpty)
    // A serial number without a right check digit follows a head, as before.
    let head = try match("47199990000194719999000027", in: ["a": "4719999000019"])
    #expect(head.kind == .head && head.rest == "4719999000027")
  }

  @Test func `two labels, two links and two numbers of a scale are two codes too`() throws {
    let rules = try MeasureRules([.preset("cn-weight")])
    for code in [
      "]d20104719999000019]d20104719999000026", "(01)04719999000019(01)04719999000026",
      "https://x.org/01/04719999000019https://x.org/01/04719999000026", "47199990000190104719999000026",
      "21123450150024719999000019",
    ] {
      let match = try match(code, in: ["a": "4719999000019", "scale": "2112345"]) { $0.measures = rules }
      #expect(match.kind == .none && match.gluedCodes.count == 2, "\(code)")
    }
    let redirected = try self.match(
      "https://x.org/01/04719999000019?to=https://y.org/01/04719999000026", in: ["a": "4719999000019"])
    #expect(redirected.kind == .digitalLink)
  }

  @Test func `a head is not read as GS1 data that it only looks like`() throws {
    let match = try match("018643500014011991", in: ["a": "0186435000140"])
    #expect(match.kind == .head && match.codeKind == .text)
    #expect(json(match).contains(#""gtin":null"#) && json(match).contains(#""elements":{},"data":{},"issues":[]"#))
  }

  @Test func `14 digits after an EAN's identifier are a number and an add-on`() throws {
    let found = try match("]E001234567890512", in: ["a": "0012345678905"])
    #expect(found.products.map(\.id) == ["a"] && found.rest == "12")
  }

  @Test func `digits are cut where the catalogue knows most`() throws {
    // 96385074 and 8 digits may be a number of 16, or two of 8.
    let match = try match("9638507496385074", in: ["a": "96385074"])
    #expect(match.gluedCodes == ["96385074", "96385074"])
    let three = try self.match("471999900001947199990000264719999000019", in: ["a": "4719999000019"])
    #expect(three.reason?.hasPrefix("3 codes in one scan: ") == true)
  }

  // MARK: Add-ons

  @Test(arguments: [
    "01234567890512345", "0012345678905" + "12345", "012345678905 12345", "012345678905+12345",
    "]E0012345678905]E212345",
    "]E3012345678905" + "12345",
  ])
  func `a number with an add-on is found in every spelling`(code: String) throws {
    for barcode in ["012345678905", "0012345678905", "00012345678905"] {
      let match = try match(code, in: ["a": barcode, "junk": "0123"])
      #expect(match.products.map(\.id) == ["a"], "\(barcode)")
      #expect(match.rest == "12345")
      #expect(match.kind == .head || match.gtin?.digits == "00012345678905")
    }
  }

  @Test func `a longer head counts more than an add-on`() throws {
    let match = try match("471999900001912345", in: ["a": "4719999000019", "b": "47199990000191"])
    #expect(match.kind == .head && match.products.map(\.id) == ["b"] && match.rest == "2345")
    #expect(try self.match("471999900001912345", in: ["a": "4719999000019"]).kind == .head)
  }

  // MARK: SKUs

  private func catalogue(_ indexes: CatalogIndexes = .standard) throws -> TestCatalogue {
    let catalogue = try TestCatalogue(indexes: indexes)
    var products = [Product("a", ""), Product("b", "X"), Product("c", "TEA-3"), Product("d", "Y")]
    for (index, sku) in ["TEA-1", "tea-2", "TEA-9", "TEA-1"].enumerated() { products[index].skuCode = sku }
    try catalogue.full(products)
    return catalogue
  }

  @Test func `the product with exactly this SKU is suggested`() throws {
    let snapshot = try catalogue().snapshot
    #expect(snapshot.hasSKUIndex)
    for (code, ids) in [("TEA-1", ["a", "d"]), ("tea-1", ["a", "d"]), (" TEA-2\r", ["b"]), ("TEA-9", ["c"])] {
      let match = try snapshot.match(code)
      #expect(match.kind == .none && match.suggestions?.map(\.id) == ids, "\(code)")
    }
    #expect(try snapshot.match("TEA-4").suggestions == nil)
    #expect(try snapshot.match("TEA-3").kind == .exact)
    var options = MatchingOptions()
    options.suggestionLimit = 3
    // Those with the SKU come first, and each once.
    #expect(try snapshot.match("TEA-1", options: options).suggestions?.map(\.id) == ["a", "d", "c"])
    options.sku = .off
    #expect(try snapshot.match("TEA-1", options: options).suggestions?.map(\.id).contains("c") == true)
    options.suggestionLimit = 0
    #expect(try snapshot.match("TEA-1", options: options).suggestions == nil)
  }

  @Test func `an SKU that is a sound number is suggested too`() throws {
    let catalogue = try TestCatalogue()
    var product = Product("a", "")
    product.skuCode = "4719999000019"
    try catalogue.full([Product("b", "1")])
    #expect(try catalogue.snapshot.match("4719999000019").suggestions == nil)
    try catalogue.increment([product])
    #expect(try catalogue.snapshot.match("4719999000019").suggestions?.map(\.id) == ["a"])
    #expect(try catalogue.snapshot.match("4719999000026").suggestions == nil)
    #expect(try catalogue.snapshot.products(skuCode: "4719999000019").map(\.id) == ["a"])
  }

  @Test func `an SKU matches if the setting says so, after barcodes and before heads`() throws {
    let snapshot = try catalogue().snapshot
    var options = MatchingOptions()
    options.sku = .match
    let match = try snapshot.match("tea-1", options: options)
    #expect(match.kind == .part && match.key == "TEA-1" && match.products.map(\.id) == ["a", "d"])
    #expect(try snapshot.match("TEA-3", options: options).kind == .exact)
    #expect(try snapshot.match("TEA-4", options: options).kind == .none)
    #expect(try snapshot.match("TEA-33", options: options).kind == .head)
  }

  @Test func `a product that changed its SKU or is gone is not found by it`() throws {
    let catalogue = try catalogue()
    var changed = Product("a", "")
    changed.skuCode = "TEA-7"
    var deleted = Product("d", "Y")
    deleted.delFlag = 1
    try catalogue.increment([changed, deleted])
    #expect(try catalogue.snapshot.match("TEA-1").suggestions == nil)
    #expect(try catalogue.snapshot.match("TEA-7").suggestions?.map(\.id) == ["a"])
  }

  @Test func `without the index a label finds its part all the same, and a scan suggests nothing`() throws {
    let snapshot = try catalogue(.none).snapshot
    #expect(!snapshot.hasSKUIndex)
    #expect(try snapshot.match("TEA-1").suggestions == nil)
    let label = try snapshot.match("[)>\u{1E}06\u{1D}1PTEA-2\u{1D}Q1\u{1E}\u{4}")
    #expect(label.kind == .part && label.key == "tea-2")
    #expect(try snapshot.products(skuCode: "TEA-1").map(\.id) == ["a", "d"])
  }

  @Test func `a long SKU is compared whole`() throws {
    let catalogue = try TestCatalogue()
    let long = String(repeating: "A", count: 300)
    var products = [Product("a", "1"), Product("b", "2")]
    products[0].skuCode = long + "1"
    products[1].skuCode = long + "2"
    try catalogue.full(products)
    #expect(try catalogue.snapshot.products(skuCode: long + "2").map(\.id) == ["b"])
    #expect(try catalogue.snapshot.products(skuCode: long).isEmpty)
  }

  @Test func `a part number with its data identifier finds barcode and SKU, last`() throws {
    let snapshot = try catalogue().snapshot
    let match = try snapshot.match("1PTEA-2")
    #expect(match.kind == .part && match.key == "tea-2" && match.codeKind == .label)
    #expect(json(match).contains(#""data":{"supplierPart":"TEA-2"}"#))
    // Without a product it is a text like any other.
    let unknown = try snapshot.match("PARTY")
    #expect(unknown.codeKind == .text && unknown.reason == "not in the catalogue")
    #expect(json(unknown).contains(#""data":{}"#))
    #expect(try self.match("PX", in: ["a": "PX", "b": "X"]).products.map(\.id) == ["a"])
    // After a letter, a short barcode is a coincidence.
    for code in ["P12", "1P12", "P690"] { #expect(try self.match(code, in: ["a": "12", "b": "690"]).kind == .none) }
    #expect(try self.match("Q10", in: [:]).reason == "a quantity, not a product")
  }

  // MARK: Others

  @Test(arguments: ["NOREAD", "noread", " NOREAD\r\n", "Error"])
  func `a text that stands for no code is no miss`(code: String) throws {
    let match = try match(code, in: ["a": "NOREAD", "b": "ERROR"]) { $0.ignoredTexts = ["NOREAD", "ERROR"] }
    #expect(match.kind == .none && !match.isMiss && match.reason?.contains("matching.ignore") == true)
    #expect(try !self.match("NOREADS", in: [:]) { $0.ignoredTexts = ["NOREAD"] }.isIgnored)
    #expect(try self.match("NOREAD", in: ["a": "NOREAD"]).kind == .exact)
  }

  @Test func `a web address is found if the catalogue has it, letter for letter`() throws {
    let address = "https://example.com/Item/7?a=b"
    #expect(try match(address, in: ["a": address]).kind == .exact)
    #expect(try match(" \(address)\r\n", in: ["a": address]).kind == .exact)
    #expect(try match(address.lowercased(), in: ["a": address]).kind == .none)
    #expect(try match(address + "1", in: ["a": address]).kind == .none)
    let link = "https://id.gs1.org/01/04719999000019"
    #expect(try match(link, in: ["a": link]).kind == .none)
    #expect(try match(link, in: ["a": "4719999000019"]).kind == .digitalLink)
  }

  @Test func `invisible characters around a code are no serial number`() throws {
    for end in ["\u{1D}", "\u{1E}", "\u{1F}", "\u{1}", "\u{17}", "\u{7F}", "\u{200E}", "\u{85}", "\u{FEFF}"] {
      for code in ["4719999000019" + end, end + "4719999000019", "]E04719999000019" + end] {
        let match = try match(code, in: ["a": "4719999000019"])
        #expect(match.kind == .exact && match.rest == nil)
        #expect(json(match).contains(#""issues":[]"#) == (end == "\u{FEFF}"))
      }
    }
    // A barcode that ends with such a character is found as it is.
    #expect(try match("SG12\u{200E}", in: ["a": "SG12\u{200E}", "b": "SG12"]).products.map(\.id) == ["a"])
    #expect(try match("10ABC\u{1D}", in: ["a": "10ABC"]).kind == .exact)
  }

  @Test func `second readings find what the first did not`() throws {
    #expect(try match("A12345B", symbology: "CODABAR", in: ["a": "12345"]).kind == .exact)
    #expect(try match("A12345B", symbology: "CODABAR", in: ["a": "A12345B"]).kind == .exact)
    #expect(try match("]e04719999000019", in: ["a": "4719999000019"]).products.map(\.id) == ["a"])
    #expect(try match("123450", symbology: "UPC_E", in: ["a": "012000003455"]).kind == .gtin)
    #expect(try match("(01)4719999000019", in: ["a": "4719999000019"]).kind == .gs1)
  }

  @Test(arguments: ["2612345000003", "2612345", "12345"])
  func `a scale's number with price and weight finds its item`(barcode: String) throws {
    let rule = try MeasureRule(
      name: "scale", prefix: "26", pattern: "PPIIIIIVVVVVWWWWWC", measure: "price", decimals: 2, currency: "CNY",
      second: MeasureRule.SecondValue(measure: "weight", decimals: 3, unit: "kg"))
    let rules = try MeasureRules([.rule(rule)])
    let match = try match("261234501999007501", in: ["a": barcode, "junk": "2612"]) { $0.measures = rules }
    #expect(match.kind == .measure && match.products.map(\.id) == ["a"])
    let price = #""price":{"value":19.99,"currency":"CNY"}"#
    #expect(json(match).contains(#""measure":{"# + price + #","weight":{"value":0.75,"unit":"kg"},"rule":"scale"}"#))
  }

  @Test func `the reason says what is known of the code`() throws {
    #expect(try match("4719999000019", in: [:]).reason == "sound, but not in the catalogue")
    #expect(try match("(01)04719999000019", in: [:]).reason == "sound, but not in the catalogue")
    for code in ["SG1234", "12345", "6901"] { #expect(try match(code, in: [:]).reason == "not in the catalogue") }
    #expect(try match("4719999000018", in: [:]).reason == "wrong check digit")
  }
}
