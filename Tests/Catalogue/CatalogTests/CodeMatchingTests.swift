import Barcodes
import CatalogRows
import JSONFormat
import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

/// Scans of the table of codes.
@Suite struct CodeMatchingTests {
  private static let item = "4006381333931"
  private static let innerPack = "14006381333938"
  private static let lastYear = "4006381333948"

  private static func catalogue() throws -> TestCatalogue {
    try TestCatalogue(
      [
        Product("pen", item, name: "Pen"), Product("ink", "4006381333962", name: "Ink"),
        Product("gone", "4006381333979", name: "Gone", delFlag: 1), Product("lot", "LOT-1", name: "Lot"),
        Product("nameless", "", name: "No barcode"),
      ],
      codes: [
        ProductCode("pen", innerPack, ExactDecimal(6), unit: "inner", id: "1"),
        ProductCode("pen", lastYear, kind: "last year", id: "2"),
        ProductCode("pen", "case-24", ExactDecimal(24), unit: "case", id: "3"),
        ProductCode("ink", "SHARED", ExactDecimal(2)), ProductCode("lot", "SHARED", ExactDecimal(3)),
        ProductCode("ink", "SAME", ExactDecimal(12)), ProductCode("lot", "SAME", ExactDecimal(12)),
        ProductCode("gone", "GONE-7"), ProductCode("nobody", "ORPHAN-7"), ProductCode("ink", item),
        ProductCode("nameless", "1234567", ExactDecimal("0.5") ?? CodeRow.one),
      ])
  }

  @Test(arguments: [
    ("14006381333938", MatchKind.exact, "14006381333938", "6"),
    ("0114006381333938", .gs1, "14006381333938", "6"),
    ("https://id.gs1.org/01/14006381333938/21/7", .digitalLink, "14006381333938", "6"),
    ("04006381333948", .gtin, "4006381333948", "1"), ("4006381333948", .exact, "4006381333948", "1"),
    (" case-24 ", .exact, "case-24", "24"), ("CASE-24", .exact, "case-24", "24"),
    ("case-24/00017", .head, "case-24", "24"), ("CASE-2400017", .head, "case-24", "24"),
    ("1234567", .exact, "1234567", "0.5"),
  ])
  func `a code matches where a barcode does`(code: String, kind: MatchKind, key: String, quantity: String) throws {
    let match = try Self.catalogue().snapshot.match(code)
    #expect(match.kind == kind)
    #expect(match.key == key)
    #expect(match.products.map(\.id) == [quantity == "0.5" ? "nameless" : "pen"])
    #expect(match.package?.quantity.description == quantity)
    #expect(match.package?.code == key)
  }

  @Test func `a product's own barcode precedes codes, and has no package`() throws {
    let match = try Self.catalogue().snapshot.match(Self.item)
    #expect(match.products.map(\.id) == ["pen"])
    #expect(match.package == nil)
    #expect(match.pieceCount == 1)
    let today = try #require(ScanDate(year: 2026, month: 1, day: 1))
    let json = Self.text(match.json(code: Self.item, today: today))
    #expect(json.contains("\"package\":null"))
  }

  @Test func `where quantities of candidates differ, no package is known`() throws {
    let snapshot = try Self.catalogue().snapshot
    let shared = try snapshot.match("shared")
    #expect(shared.products.map(\.id) == ["ink", "lot"])
    #expect(shared.package == nil)
    let same = try snapshot.match("SAME")
    #expect(same.products.map(\.id) == ["ink", "lot"])
    #expect(same.package?.quantity == ExactDecimal(12))
    #expect(same.pieceCount == 12)
  }

  private static func text(_ json: JSONText) -> String { String(decoding: json.bytes, as: UTF8.self) }

  @Test(arguments: ["GONE-7", "ORPHAN-7", "nothing"])
  func `codes of missing and deleted products match nothing`(code: String) throws {
    #expect(try Self.catalogue().snapshot.match(code).isEmpty)
  }

  @Test func `an answer names the package in JSON, in a catalogue with codes only`() throws {
    let today = try #require(ScanDate(year: 2026, month: 1, day: 1))
    let json = Self.text(try Self.catalogue().snapshot.match(Self.innerPack).json(code: Self.innerPack, today: today))
    #expect(
      json.contains(#""package":{"code":"14006381333938","quantity":6,"unit":"inner","kind":""},"elements""#))
    #expect(!json.contains("contains"))
    let plain = try TestCatalogue([Product("pen", Self.item)]).snapshot.match(Self.innerPack)
    #expect(!Self.text(plain.json(code: Self.innerPack, today: today)).contains("package"))
    #expect(plain.contents?.level == 1)
  }

  @Test func `a case counts as many pieces as it has`() throws {
    let snapshot = try Self.catalogue().snapshot
    let result = try snapshot.complete(["case-24", Self.innerPack, Self.item, "1234567"])
    #expect(result.products == ["pen": 31, "nameless": 1])
  }

  @Test func `quantities that no number of pieces has room for stay at the largest`() throws {
    let huge = ExactDecimal(.max)
    let catalogue = try TestCatalogue(
      [Product("a", "1"), Product("set", "2")], [Relation("set", "a", 1)], codes: [ProductCode("a", "HUGE", huge)])
    let result = try catalogue.snapshot.complete(["HUGE", "HUGE", "2"])
    #expect(result.products["a"] == .max)
    #expect(result.complete["set"] == .max)
  }

  @Test func `a longer code precedes a shorter barcode as a head`() throws {
    let catalogue = try TestCatalogue(
      [Product("short", "ABCD"), Product("long", "X")],
      codes: [ProductCode("long", "ABCDE"), ProductCode("long", "ABCD")])
    let match = try catalogue.snapshot.match("ABCDE-7")
    #expect(match.products.map(\.id) == ["long"])
    #expect(match.rest == "-7")
    #expect(try catalogue.snapshot.match("ABCD-7").products.map(\.id) == ["short"])
  }

  @Test func `a mistyped code suggests its product`() throws {
    var options = MatchingOptions()
    options.suggestionLimit = 3
    let match = try Self.catalogue().snapshot.match("CASE-25", options: options)
    #expect(match.suggestions?.map(\.id) == ["pen"])
  }

  @Test func `the difference of two catalogues names codes`() throws {
    let catalogue = try Self.catalogue()
    let before = try catalogue.snapshot
    try catalogue.increment(
      [Product("pen", Self.item, name: "Pen")],
      codes: [ProductCode("pen", "case-24", ExactDecimal(25), unit: "case", id: "3"), ProductCode("ink", "no")])
    let changes = try catalogue.snapshot.changes(since: before)
    #expect(changes.products.isEmpty)
    #expect(changes.codes.map(\.name) == ["removed", "removed", "changed"])
    #expect(changes.codes.last?.after?.quantity == ExactDecimal(25))
    let back = try before.changes(since: catalogue.snapshot)
    #expect(back.codes.map(\.name) == ["added", "added", "changed"])
    #expect(try catalogue.snapshot.codeCount == 9)
  }

  @Test func `a full update that loses most codes is refused`() throws {
    let products = [Product("a", "1")]
    let codes = (0..<1001).map { ProductCode("a", "C\($0)") }
    let catalogue = try TestCatalogue(products, codes: codes)
    let refused = #expect(throws: CatalogError.self) {
      try catalogue.full(products, codes: Array(codes.prefix(500)), lossLimit: LossLimit())
    }
    guard case .wouldLoseCodes(501, 1001, 0.5)? = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(throws: CatalogError.self) { try catalogue.full(products, lossLimit: LossLimit()) }
    #expect(try catalogue.snapshot.codeCount == 1001)
    let report = try catalogue.full(products, codes: Array(codes.prefix(501)), lossLimit: LossLimit())
    #expect(report.counts.codesWritten == 501)
    #expect(report.counts.codesDeleted == 500)
    #expect(try catalogue.full(products).counts.codesDeleted == 501)
    #expect(try catalogue.snapshot.codeCount == 0)
  }

  @Test func `codes reach the threshold of a full update`() throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    #expect(throws: CatalogError.self) {
      try catalogue.increment(
        [Product("a", "1")], codes: (0..<10).map { ProductCode("a", "C\($0)") }, threshold: 10)
    }
  }

  @Test func `a code that is too long is an error, or skipped and counted`() throws {
    let catalogue = try TestCatalogue()
    let long = ProductCode("a", String(repeating: "x", count: 256))
    #expect(throws: StoreError.self) { try catalogue.full([Product("a", "1")], codes: [long]) }
    var update = try catalogue.writer.beginFullUpdate(.open, rowLimits: RowLimits())
    try update.take([Product("a", "1")], [], [long, ProductCode("a", String(repeating: "x", count: 255))])
    let report = try update.commit(cursor: "")
    #expect(report.counts.codesWritten == 1)
    #expect(report.notices.skipped.first.map(\.kind) == [.code])
  }

  @Test func `a product may have a code twice, in any capitals`() throws {
    let codes = [
      ProductCode("a", "CASE1", ExactDecimal(6)), ProductCode("a", "CASE1", ExactDecimal(12)),
      ProductCode("a", "case1"),
      ProductCode("a", "X"), ProductCode("a", "X"),
    ]
    let catalogue = try TestCatalogue([Product("a", "1")], codes: codes)
    #expect(try catalogue.snapshot.codeCount == 5)
    #expect(try catalogue.snapshot.codes(ofProduct: "a").count == 5)
    #expect(try catalogue.snapshot.verify().isEmpty)
    #expect(try Verification.run(catalogue.location)?.findings.isEmpty == true)
    let match = try catalogue.snapshot.match("CASE1")
    #expect(match.products.count == 1)
    #expect(match.package == nil)
    #expect(try catalogue.snapshot.match("X").package?.code == "X")
    try catalogue.writer.compact()
    #expect(try Verification.run(catalogue.location)?.findings.isEmpty == true)
  }

  // MARK: Queries

  @Test(arguments: [
    ("codeCount > 1", ["ink", "lot", "pen"]), ("codeCount == 0", []), ("codeCount in [1]", ["gone", "nameless"]),
    ("codes.code == 'case-24'", ["pen"]), ("codes.code == 'CASE-24'", []), ("codes.code == ' case-24'", []),
    ("codes.code == 'SHARED'", ["ink", "lot"]), ("codes.code == 'GONE-7'", ["gone"]), ("codes.code == 'none'", []),
    ("codes.code == 'ORPHAN-7'", []), ("codes.code == ''", []),
    ("codes.code in ['SHARED', '1234567']", ["ink", "lot", "nameless"]),
    ("codes.code in ['SHARED', '1234567'] && codes.quantity < 3", ["ink", "nameless"]),
    ("codes.code == '1234567' || id == 'ink'", ["ink", "nameless"]),
    ("codes.code != 'SHARED' && delFlag == 0", ["nameless", "pen"]), ("!(codes.quantity < 12)", []),
    ("codes.code hasprefix 'CASE' nocase", ["pen"]), ("codes.code contains '931' && codes.kind == ''", ["ink"]),
    // Each comparison may hold for another code.
    ("codes.code contains '938' && codes.kind == 'last year'", ["pen"]),
    ("codes.quantity == 0.5", ["nameless"]), ("codes.quantity >= 12", ["ink", "lot", "pen"]),
    ("codes.unit == 'case'", ["pen"]), ("codes.kind like 'last%'", ["pen"]), ("codes.id == '3'", ["pen"]),
  ])
  func `products are found by their codes`(condition: String, expected: [String]) throws {
    let snapshot = try Self.catalogue().snapshot
    #expect(try snapshot.products(where: condition).order(by: "id").fetch().map(\.id) == expected)
    // As a test of every product, which uses no index of codes.
    let scan = try snapshot.products(where: "(\(condition)) && !(name == 'x')").fetch().map(\.id).sorted()
    #expect(scan == expected)
    let none = try TestCatalogue([Product("a", "1")]).snapshot.products(where: condition).count()
    let isNegative = condition == "codeCount == 0" || condition.contains("!")
    #expect(none == (isNegative ? 1 : 0))
  }

  @Test func `a code that a condition names is looked up`() throws {
    let snapshot = try Self.catalogue().snapshot
    let query = try snapshot.products(where: "codes.code in ['SHARED', 'case-24'] && codeCount > 0")
    #expect(try query.plan == .lookups(ids: 0, barcodes: 0, codes: 2))
    #expect(try query.plan.description == "index on codes.code (2 keys)")
    #expect(try snapshot.products(where: "codes.code == 'SHARED' || codeCount > 0").plan == .scan)
  }

  @Test func `products are ordered and grouped by the number of their codes, and by no list`() throws {
    let snapshot = try Self.catalogue().snapshot
    let ordered = try snapshot.products(where: "true").order(by: "-codeCount, id").fetch().map(\.id)
    #expect(ordered == ["ink", "pen", "lot", "gone", "nameless"])
    let groups = try snapshot.products(where: "true").grouped(by: [.codeCount], [.sum(.codeCount)])
    #expect(groups.map(\.key) == [[.integer(1)], [.integer(2)], [.integer(3)]])
    #expect(groups.map(\.values) == [[.integer(2)], [.integer(2)], [.integer(6)]])
    for (text, words, column) in [
      ("codes == 'x'", "codes is a list", 1), ("codes", "codes is a list", 1),
      ("codes contains 'x'", "codes is a list", 1), ("codes.cod == 'x'", "did you mean 'codes.code'", 1),
      ("codes.productId == 'x'", "codes.code", 1), ("codes.quantity == 'x'", "codes.quantity is a number", 19),
      ("codes.code == 1", "codes.code is a text", 15), ("codeCount", "codeCount > 0", 1),
      ("codecount > 1", "did you mean 'codeCount'", 1),
    ] {
      let error = #expect(throws: ProductQueryError.self) { try snapshot.products(where: text) }
      #expect(error?.description.contains(words) == true, "\(text): \(error?.description ?? "")")
      #expect(error?.column == column, "\(text)")
    }
    let query = try snapshot.products(where: "true")
    #expect(throws: ProductQueryError.self) { try query.order(by: "codes.unit") }
    #expect(throws: ProductQueryError.self) { try query.grouped(by: [.code(.unit)]) }
    #expect(throws: ProductQueryError.self) { try query.grouped(by: [], [.minimum(.code(.quantity))]) }
  }

  @Test func `a merge that loses most codes is refused`() throws {
    let codes = (0..<1001).map { ProductCode("a", "C\($0)") }
    let catalogue = try TestCatalogue([Product("a", "1")], codes: codes)
    var merge = try CatalogMerge(catalogue.snapshot, deletesMissing: false)
    merge.keepsCodes = false
    try merge.take([Product("a", "1")], [])
    try merge.finish()
    #expect(throws: CatalogError.self) { try merge.checkLosses(LossLimit()) }
    try merge.checkLosses(.open)
  }
}
