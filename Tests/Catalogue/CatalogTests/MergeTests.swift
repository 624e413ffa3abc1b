import CatalogRows
import LogStore
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct MergeTests {
  private static let products = [Product("s", "1111"), Product("c", "2222"), Product("d", "3333")]
  private static let relations = [Relation("s", "c", 1, id: "r1"), Relation("s", "d", 2, id: "r2")]

  private func merge(
    _ catalogue: TestCatalogue, _ products: [Product], _ relations: [Relation] = [], deletesMissing: Bool = false,
    limit: LossLimit = .open
  ) throws -> (counts: MergeCounts, report: UpdateReport) {
    var merge = try CatalogMerge(catalogue.snapshot, deletesMissing: deletesMissing)
    try merge.take(products, relations)
    try merge.finish()
    return (merge.counts, try merge.commit(to: catalogue.writer, cursor: nil, limit))
  }

  private func counts(_ added: Int, _ changed: Int, _ unchanged: Int, _ deleted: Int) -> MergeCounts {
    var counts = MergeCounts()
    (counts.added, counts.changed, counts.unchanged, counts.deleted) = (added, changed, unchanged, deleted)
    return counts
  }

  @Test func `rows are added and changed, others stay, and relations with them`() throws {
    let catalogue = try TestCatalogue(Self.products, Self.relations)
    let (counts, report) = try merge(
      catalogue, [Product("s", "9999"), Product("c", "2222"), Product("n", "4444")])
    #expect(counts == self.counts(1, 1, 1, 0))
    let snapshot = try catalogue.snapshot
    #expect(report.sequence == 2 && snapshot.cursor == "full")
    #expect(try snapshot.products.map(\.id) == ["c", "d", "n", "s"])
    #expect(try snapshot.product(id: "s")?.barcode == "9999")
    #expect(try Set(snapshot.relations(ofSet: "s")) == Set(Self.relations))
  }

  @Test(arguments: [false, true]) func `a file that is the catalogue writes nothing`(deletesMissing: Bool) throws {
    let catalogue = try TestCatalogue(Self.products, Self.relations)
    let before = try catalogue.logBytes
    let (counts, report) = try merge(
      catalogue, Self.products.reversed(), Self.relations.reversed(), deletesMissing: deletesMissing)
    #expect(counts == self.counts(0, 0, 5, 0) && report.sequence == 1)
    #expect(try catalogue.logBytes == before)
  }

  @Test func `what is missing is deleted, with its relations`() throws {
    let catalogue = try TestCatalogue(Self.products, Self.relations)
    let (counts, _) = try merge(catalogue, [Product("c", "2222"), Product("d", "5")], deletesMissing: true)
    #expect(counts == self.counts(0, 1, 1, 3))
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.products.map(\.id) == ["c", "d"] && snapshot.relationCount == 0)
  }

  @Test func `relations of a file are added to those of a set, or replace them`() throws {
    let new = [Relation("s", "c", 5, id: "r1"), Relation("s", "x", 1, id: "r9"), Relation("none", "c", 1, id: "r8")]
    let upserted = try TestCatalogue(Self.products, Self.relations)
    var expected = counts(1, 1, 0, 0)
    expected.ignored = 1
    #expect(try merge(upserted, [], new).counts == expected)
    #expect(try Set(upserted.snapshot.relations(ofSet: "s").map(\.id)) == ["r1", "r2", "r9"])
    #expect(try upserted.snapshot.product(id: "s") == Self.products[0])
    let replaced = try TestCatalogue(Self.products, Self.relations)
    expected = counts(1, 1, 3, 1)
    expected.ignored = 1
    #expect(try merge(replaced, Self.products, new, deletesMissing: true).counts == expected)
    #expect(try Set(replaced.snapshot.relations(ofSet: "s").map(\.id)) == ["r1", "r9"])
  }

  @Test func `a row with delFlag deletes, and the last of several rows counts`() throws {
    let catalogue = try TestCatalogue(Self.products, Self.relations)
    let (counts, _) = try merge(
      catalogue,
      [
        Product("c", delFlag: 1), Product("none", delFlag: 1), Product("d", "3333"), Product("d", "6"),
        Product("d", "7"),
      ])
    #expect(counts == self.counts(0, 1, 0, 1))
    #expect(try catalogue.snapshot.product(id: "c") == nil)
    #expect(try catalogue.snapshot.product(id: "d")?.barcode == "7")
  }

  @Test(arguments: [false, true])
  func `a product that a row deletes and a later row brings back is there`(deletesMissing: Bool) throws {
    let catalogue = try TestCatalogue(Self.products)
    let (counts, _) = try merge(
      catalogue,
      [
        Product("s", "1111"), Product("c", delFlag: 1), Product("d", delFlag: 1), Product("d", "3333"),
        Product("c", "9"), Product("n", delFlag: 1), Product("n", "4444"),
      ], deletesMissing: deletesMissing, limit: LossLimit(share: 0, smallCatalogue: 0))
    #expect(counts == self.counts(1, 1, 2, 0))
    #expect(try catalogue.snapshot.products.map(\.barcode) == ["9", "3333", "4444", "1111"])
  }

  @Test(arguments: [false, true])
  func `a product that a row has and a later row deletes is gone`(deletesMissing: Bool) throws {
    let catalogue = try TestCatalogue(Self.products, Self.relations)
    let (counts, _) = try merge(
      catalogue,
      [
        Product("s", "1111"), Product("c", "9"), Product("d", "3333"), Product("n", "4444"), Product("c", delFlag: 1),
        Product("d", delFlag: 1), Product("n", delFlag: 1),
      ], Self.relations, deletesMissing: deletesMissing)
    #expect(counts == self.counts(0, 0, 3, 2))
    #expect(try catalogue.snapshot.products.map(\.id) == ["s"])
  }

  @Test func `rows that take one another back write nothing`() throws {
    let catalogue = try TestCatalogue(Self.products, Self.relations)
    let before = try catalogue.logBytes
    let (counts, report) = try merge(
      catalogue,
      [
        Product("c", "9"), Product("c", delFlag: 1), Product("c", "2222"), Product("n", "1"), Product("n", delFlag: 1),
      ])
    #expect(counts == self.counts(0, 0, 1, 0) && report.sequence == 1)
    #expect(try catalogue.logBytes == before)
  }

  @Test func `of several rows with one id, only the last one matters`() throws {
    var random = SeededGenerator(for: "MergeTests, last rows")
    for _ in 0..<60 {
      let old = (0..<6).filter { _ in Bool.random(using: &random) }.map { Product("\($0)", "\($0)") }
      let rows = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
        Product(
          "\(Int.random(in: 0..<6, using: &random))", "\(Int.random(in: 0..<6, using: &random))",
          delFlag: Int64.random(in: 0...1, using: &random))
      }
      var last: [String: Product] = [:]
      for row in rows { last[row.id] = row }
      let deletesMissing = Bool.random(using: &random)
      let (one, two) = (try TestCatalogue(old), try TestCatalogue(old))
      let repeated = try merge(one, rows, deletesMissing: deletesMissing)
      let single = try merge(two, last.values.sorted { $0.id < $1.id }, deletesMissing: deletesMissing)
      #expect(try one.snapshot.products == two.snapshot.products)
      #expect(repeated.counts == single.counts && repeated.report.sequence == single.report.sequence)
    }
  }

  @Test func `a difference that loses too much is refused`() throws {
    let products = (0..<20).map { Product("\($0)", "1\($0)") }
    let catalogue = try TestCatalogue(products)
    #expect(throws: CatalogError.self) {
      try merge(
        catalogue, Array(products.prefix(5)), deletesMissing: true, limit: LossLimit(share: 0.5, smallCatalogue: 10))
    }
    #expect(try catalogue.snapshot.productCount == 20 && catalogue.snapshot.sequence == 1)
  }

  @Test func `a difference leads to the same content as a full update`() throws {
    var random = SeededGenerator(for: "MergeTests, differences")
    func rows() -> ([Product], [Relation]) {
      let ids = (0..<30).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }.shuffled(using: &random)
      let products = ids.map { Product("\($0)", "\(Int.random(in: 0..<3, using: &random))") }
      var relations = [Relation("0", "1", 1, id: "fixed")]
      for id in ids where id % 5 == 0 {
        for part in 0..<Int.random(in: 0..<4, using: &random) {
          relations.append(Relation("\(id)", "\(part)", Int64.random(in: 1...2, using: &random), id: "\(id)-\(part)"))
        }
      }
      return (products, relations.filter { relation in products.contains { $0.id == relation.productId } })
    }
    let catalogue = try TestCatalogue()
    for _ in 0..<40 {
      let (products, relations) = rows()
      if relations.isEmpty { continue }
      _ = try merge(catalogue, products, relations, deletesMissing: true)
      let expected = try TestCatalogue(products, relations)
      #expect(try catalogue.snapshot.products == expected.snapshot.products)
      #expect(try Set(catalogue.snapshot.relations) == Set(expected.snapshot.relations))
    }
  }

  // MARK: By barcode

  /// Merges rows that are found by their barcodes, of which only the name is given.
  private func match(_ catalogue: TestCatalogue, _ rows: [(code: String, name: String)]) throws -> MergeCounts {
    var merge = try CatalogMerge(catalogue.snapshot, deletesMissing: false)
    merge.matchesCodes = true
    var row = ProductRow()
    for (code, name) in rows {
      row.reset()
      row.texts.set(ProductText.id.rawValue, "of the list")
      row.texts.set(ProductText.barcode.rawValue, code)
      row.texts.set(ProductText.name.rawValue, name)
      row.givenFields = [ProductField.id, .barcode, .name].reduce(0) { $0 | 1 << UInt32($1.rawValue) }
      try merge.product(row)
    }
    try merge.finish()
    _ = try merge.commit(to: catalogue.writer, cursor: nil, .open)
    return merge.counts
  }

  @Test(arguments: [
    ("036000291452", "0036000291452"), ("036000291452", "00036000291452"), ("036000291452", "36000291452"),
    ("36000291452", "036000291452"), ("00036000291452", "036000291452"), ("96385074", "00000096385074"),
    ("0000096385074", "96385074"), ("4006381333931", "4006381333931.0"), ("4006381333931", "'04006381333931"),
    ("ABC-1", " abc-1 "), ("abc-1", "ABC-1"), ("4006381333932", "4006381333932"), (" 4006381333931 ", "4006381333931"),
    ("größe", "größe"), ("4.00638E+12", "4.00638E+12"),
  ]) func `a product is found by its barcode in another spelling, and keeps its own`(own: String, code: String) throws {
    let catalogue = try TestCatalogue([Product("p", own), Product("q", "10036000291459")], [])
    let counts = try match(catalogue, [(code, "new")])
    #expect(counts == self.counts(0, 1, 0, 0), "\(counts)")
    let products = try catalogue.snapshot.products
    #expect(products.map(\.id) == ["p", "q"] && products[0].barcode == own && products[0].name == "new")
    #expect(products[1].name == "")
    #expect(try match(catalogue, [(code, "new")]) == self.counts(0, 0, 1, 0))
  }

  @Test func `a barcode of no product, of several, and of a deleted one changes nothing`() throws {
    var deleted = Product("d", "96385074")
    deleted.delFlag = 1
    let catalogue = try TestCatalogue(
      [Product("a", "4006381333931"), Product("b", "04006381333931"), deleted, Product("e", "")], [])
    let before = try catalogue.logBytes
    let counts = try match(
      catalogue, [("4006381333931", "x"), ("96385074", "x"), ("0036000291452", "x"), ("36000291453", "x")])
    #expect(counts.ambiguousCodes == 1 && counts.unknownCodes == 3 && counts.changed == 0 && counts.added == 0)
    #expect(counts.firstAmbiguous == [MergeCounts.AmbiguousCode(code: "4006381333931", ids: ["a", "b"])])
    #expect(counts.firstUnknown == ["96385074", "0036000291452", "36000291453"])
    #expect(try catalogue.logBytes == before)
  }
}
