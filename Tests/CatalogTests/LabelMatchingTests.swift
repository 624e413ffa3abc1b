import Barcodes
import Testing

@testable import Catalog

/// What is matched besides barcodes and GTINs: part numbers, restricted numbers, books, and what an answer says of them.
@Suite struct LabelMatchingTests {
  private func match(
    _ scan: String, in products: [Product], _ options: MatchingOptions = MatchingOptions()
  ) throws -> Match {
    try TestCatalogue(products).snapshot.match(scan, options: options)
  }

  private func product(_ id: String, barcode: String = "", sku: String = "") -> Product {
    var product = Product(id, barcode)
    product.skuCode = sku
    return product
  }

  private static let label = "[)>\u{1E}06\u{1D}P296-6501-1-ND\u{1D}1PLM358BIDDFR\u{1D}Q10\u{1E}\u{4}"

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

  @Test func `an ISBN-10 and a PZN match like their GTIN`() throws {
    for code in ["316148410X", "3-16-148410-X", "ISBN 3-16-148410-X"] {
      let found = try match(code, in: [product("a", barcode: "9783161484100")])
      #expect(found.kind == .gtin && found.codeKind == .isbn && found.products.map(\.id) == ["a"], "\(code)")
    }
    for (code, barcode) in [("-03752864", "03752864"), ("PZN-03752864", "3752864"), ("]A0-03752864", "03752864")] {
      let found = try match(code, in: [product("a", barcode: barcode)])
      #expect(found.kind == .gtin && found.codeKind == .pzn && found.products.map(\.id) == ["a"], "\(code)")
    }
  }

  @Test func `a case hints at the item inside, and matches it never`() throws {
    let inner = product("a", barcode: "5296849398452")
    let gtin = try #require(GTIN("5296849398452"))
    let digits = Array(("1" + gtin.digits.dropFirst().dropLast()).utf8)
    let check = try #require(GTIN.checkDigit(following: digits))
    let outer = String(decoding: digits + [check], as: UTF8.self)
    let found = try match(outer, in: [inner])
    #expect(found.isEmpty && found.isMiss)
    #expect(found.contents == Match.Contents(gtin: gtin, level: 1))
    #expect(try match(outer, in: []).contents == nil)
    let both = try match(outer, in: [inner, product("b", barcode: outer)])
    #expect(both.products.map(\.id) == ["b"] && both.contents?.level == 1)
  }

  @Test func `a rule finds the item of a restricted number, as Odoo keeps it or by its head`() throws {
    var options = MatchingOptions()
    options.measures = try MeasureRules([.preset("de")])
    for barcode in ["2812340000002", "281234", "1234"] {
      let found = try match("2812348123451", in: [product("a", barcode: barcode)], options)
      #expect(found.kind == .measure && found.products.map(\.id) == ["a"], "\(barcode)")
      #expect(found.measure?.rule.name == "de-weight-28" && found.measure?.amount.description == "12.345", "\(barcode)")
    }
    #expect(try match("2812348123451", in: [product("a", barcode: "1234")]).kind == .none)
  }

  @Test func `a head of digits needs seven of them if the code is a sound GTIN`() throws {
    let short = [product("a", barcode: "5410")]
    let missed = try match("5410000000002", in: short)
    #expect(GTIN("5410000000002") != nil && missed.isEmpty)
    #expect(missed.attempts.contains { $0.kind == .head && $0.note?.contains("matching.heads.digits") == true })
    #expect(try match("5410-A7", in: short).kind == .head)
    #expect(try match("5410000000002", in: [product("a", barcode: "5410000")]).kind == .head)
    var options = MatchingOptions()
    options.heads.minimumDigits = 4
    #expect(try match("5410000000002", in: short, options).kind == .head)
    options.heads.isEnabled = false
    #expect(try match("5410-A7", in: short, options).kind == .none)
  }

  @Test func `a symbology may exclude heads`() throws {
    var options = MatchingOptions()
    options.heads.excludedSymbologies = ["A"]
    let products = [product("a", barcode: "SG5216")]
    #expect(try match("]C0SG5216N01", in: products, options).kind == .head)
    #expect(try match("]A0SG5216N01", in: products, options).kind == .none)
  }

  @Test func `a pallet and a location are no misses`() throws {
    for code in ["00340123450000000017", "]C14105296849398452"] {
      let found = try match(code, in: [])
      #expect(found.isEmpty && found.reason?.hasSuffix(", not a product") == !found.isMiss, "\(code)")
    }
  }
}
