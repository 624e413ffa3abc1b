import Barcodes
import Testing

@testable import Catalog
import CatalogTestSupport

/// What the options of matching change: heads, and rules for restricted numbers.
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
    let refused = match.attempts.filter { $0.note != nil }
    #expect(refused.map(\.text) == ["541018", "5410"] && refused.allSatisfy { $0.kind == .head })
    let notes = refused.compactMap(\.note)
    #expect(notes.allSatisfy { $0.contains("at least 7") && $0.contains("matching.heads.digits") })
  }

  @Test func `seven digits begin a sound GTIN, and four other characters do too`() throws {
    #expect(try match("5410188031072", in: ["a": "5410188"]).rest == "031072")
    for code in ["5410X", "5410-A7"] { #expect(try match(code, in: ["a": "5410"]).kind == .head, "\(code)") }
    // A wrong check digit, and a restricted number.
    #expect(try match("5410188031073", in: ["a": "5410"]).kind == .head)
    #expect(try match("2112345015002", in: ["a": "21123"]).kind == .head)
  }

  @Test func `heads are as the options say`() throws {
    let barcodes = ["a": "5410"]
    #expect(try match("5410188031072", in: barcodes) { $0.heads.minimumDigits = 4 }.kind == .head)
    for code in ["5410X", "5410-A7"] {
      #expect(try match(code, in: barcodes) { $0.heads.isEnabled = false }.kind == .none, "\(code)")
    }
    #expect(try match("5410X", in: barcodes) { $0.heads.minimumLength = 5 }.kind == .none)
    #expect(try match("54X", in: ["a": "54"]) { $0.heads.minimumLength = 2 }.kind == .head)
    #expect(try match("54X", in: ["a": ""]) { $0.heads.minimumLength = 0 }.kind == .none)
  }

  @Test(arguments: [("5410", "5410X"), ("SG5216", "SG5216N01")])
  func `a symbology may exclude heads`(barcode: String, code: String) throws {
    for (identifier, kind) in [("]A0", MatchKind.none), ("]C0", .head)] {
      let match = try match(identifier + code, in: ["a": barcode]) { $0.heads.excludedSymbologies = ["A"] }
      #expect(match.kind == kind, "\(identifier)")
    }
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

  @Test(arguments: ["2812340000002", "281234", "1234"])
  func `a preset finds the item of a restricted number in every form`(barcode: String) throws {
    let rules = try MeasureRules([.preset("de")])
    let match = try match("2812348123451", in: ["a": barcode]) { $0.measures = rules }
    #expect(match.kind == .measure && match.products.map(\.id) == ["a"])
    #expect(match.measure?.rule.name == "de-weight-28" && match.measure?.amount.description == "12.345")
    #expect(try self.match("2812348123451", in: ["a": "1234"]).kind == .none)
  }

  @Test func `a number that its rule refuses has the rule's reason`() throws {
    let rules = try MeasureRules([.preset("de")])
    let number = "281234012345"
    let check = try #require(GTIN.checkDigit(following: number.utf8))
    let match = try match(number + String(Unicode.Scalar(check)), in: ["a": "9"]) { $0.measures = rules }
    #expect(match.measureRefusal != nil && match.measure == nil)
    #expect(match.reason == match.measureRefusal?.description)
  }
}
