import Barcodes
import CatalogRows
import Foundation
import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct CatalogDigestTests {
  // MARK: Stored files

  private static let declared = try! DeclaredFields(
    json: Array(
      #"""
      {"carton_ean": {"role": "code", "quantity": 12, "unit": "case"}, "color": {"search": true},
       "price": {"type": "decimal", "order": true}, "discontinued": {"type": "bool"}, "arrival": {"type": "date"}}
      """#.utf8))

  /// Fills a catalogue with what a stored file has: products, relations, codes in a base and in a tail, one of a missing
  /// product, one that was replaced, and fields of one's own.
  private static func fill(_ catalogue: TestCatalogue, hasFields: Bool) throws {
    var products = (0..<40).map { Product("p\($0)", "40063813339\(10 + $0)", name: "Pen \($0)") }
    if hasFields {
      for number in products.indices {
        products[number].extra = try ProductExtra(
          json: "{\"arrival\":\"2026-01-\(10 + number % 20)\",\"carton_ean\":\"9300675\(100_000 + number)\","
            + "\"color\":\"\(number.isMultiple(of: 3) ? "dark red" : "blue")\",\"discontinued\":\(number == 7),"
            + "\"price\":\"\(number / 4).\(25 * (number % 4))\"}")
      }
    }
    var codes: [ProductCode] = []
    for number in 0..<40 where number != 5 {
      codes.append(
        ProductCode("p\(number)", "140063813339\(10 + number)", ExactDecimal(24), unit: "case", id: "\(1000 + number)"))
      codes.append(ProductCode("p\(number)", "LABEL-\(number % 30)", ExactDecimal("0.5") ?? CodeRow.one, kind: "own"))
    }
    codes.append(ProductCode("nobody", "ORPHAN-7"))
    let sets = [Relation("p1", "p2"), Relation("p1", "missing")]
    try catalogue.full(products, sets, codes: hasFields ? [] : codes, cursor: "monday")
    products[3].name = "Pen, changed"
    try catalogue.increment(
      [products[3], Product("p4", delFlag: 1)],
      codes: hasFields ? nil : [ProductCode("p3", "NEW-3", ExactDecimal(6), unit: "inner")], cursor: "tuesday")
  }

  /// Files that former versions have written. Each later version reads them, and goes on writing in them.
  ///
  /// `SHELFMARK_RECORD_STORES=DIRECTORY` writes what this version makes, for new files there.
  @Test(arguments: [("codes", false), ("fields", true)])
  func `a stored file is read, verified and continued`(name: String, hasFields: Bool) throws {
    var indexes = CatalogIndexes.standard
    if hasFields { indexes.fields = Self.declared }
    let made = try TestCatalogue(indexes: indexes)
    try Self.fill(made, hasFields: hasFields)
    if let folder = ProcessInfo.processInfo.environment["SHELFMARK_RECORD_STORES"] {
      try Data(made.logBytes).write(to: URL(filePath: "\(folder)/\(name).log"))
      try Data(CatalogDigest(made.snapshot).description.utf8).write(to: URL(filePath: "\(folder)/\(name).digest"))
      return
    }
    let digest = String(decoding: try Resource.bytes("stores/\(name).digest"), as: UTF8.self)
    let stored = try TestCatalogue(stored: Resource.unpacked("stores/\(name).log.gz"), indexes: indexes)
    #expect(try Verification.run(stored.location)?.findings.isEmpty == true)
    var snapshot = try stored.snapshot
    if hasFields { snapshot = snapshot.declaring(Self.declared) }
    #expect(try snapshot.verify().isEmpty)
    #expect(try CatalogDigest(snapshot).description == digest)
    #expect(try CatalogDigest(made.snapshot).description == digest)
    #expect(snapshot.productCount == 39 && snapshot.cursor == "tuesday" && snapshot.sequence == 2)
    #expect(try snapshot.product(id: "p3")?.name == "Pen, changed")
    #expect(try snapshot.components(of: "p1").map { $0.product?.id } == [nil, "p2"])
    if hasFields {
      #expect(snapshot.fieldsWithoutIndex.isEmpty)
      let query = try snapshot.products(where: "extra.price >= 9.25").order(by: "-extra.price")
      #expect(try query.fetch().map(\.id) == ["p39", "p38", "p37"])
      #expect(try query.plan == .extraRange("price", products: 3))
      let match = try snapshot.match("9300675100006")
      #expect(match.products.map(\.id) == ["p6"] && match.pieceCount == 12)
      #expect(try snapshot.search("dark").results.count == 14)
    } else {
      #expect(snapshot.codeCount == 76)
      #expect(try snapshot.orphanCodeCount() == 1)
      let match = try snapshot.match("14006381333910")
      #expect(match.products.map(\.id) == ["p0"] && match.package?.quantity == ExactDecimal(24))
      #expect(try snapshot.match("LABEL-2").products.map(\.id) == ["p2", "p32"])
      #expect(try snapshot.match("ORPHAN-7").isEmpty && snapshot.match("LABEL-4").products.map(\.id) == ["p34"])
      #expect(try snapshot.codes(ofProduct: "p3").map(\.code) == ["NEW-3"])
    }
    // Going on, also through a new generation, makes what a new file would have.
    for catalogue in [made, stored] {
      try catalogue.increment([Product("new", "1")], codes: [ProductCode("new", "NEW", id: "n")])
      try catalogue.writer.compact()
    }
    #expect(try Verification.run(stored.location)?.findings.isEmpty == true)
    #expect(try CatalogDigest(stored.snapshot) == CatalogDigest(made.snapshot))
  }

  @Test func `the digest is that of the content, whatever way it came`() throws {
    var rows = RowGenerator("the digest is that of the content, whatever way it came")
    var products: [Product] = []
    for number in 0..<60 {
      var product = rows.product()
      product.id = "\(number)"
      product.delFlag = 0
      products.append(product)
    }
    let relations = (0..<20).map { Relation("\($0)", "\($0 + 1)") }
    let one = try TestCatalogue(products, relations)
    let other = try TestCatalogue([Product("x")], [Relation("x", "y")])
    try other.increment(products.shuffled(using: &rows.random), relations.shuffled(using: &rows.random))
    try other.increment([Product("x", delFlag: 1)], cursor: "full")
    let digest = try CatalogDigest(one.snapshot)
    #expect(try CatalogDigest(other.snapshot) == digest)
    try other.writer.compact()
    #expect(try CatalogDigest(other.snapshot) == digest)
    #expect(digest.description.count == 32)
    try other.increment([], cursor: "else")
    #expect(try CatalogDigest(other.snapshot) != digest)
    products[7].wide = products[7].wide == 5 ? 6 : 5
    try one.full(products, relations)
    #expect(try CatalogDigest(one.snapshot) != digest)
  }
}
