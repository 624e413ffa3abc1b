import LogStore
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct IncrementTests {
  private static let start = (
    products: [Product("s", "1111"), Product("c", "2222"), Product("d", "3333")],
    relations: [
      Relation("s", "c", 1, id: "r1"), Relation("s", "d", 2, id: "r2"), Relation("t", "c", 1, id: "r3"),
    ]
  )

  private func started() throws -> TestCatalogue {
    try TestCatalogue(Self.start.products, Self.start.relations)
  }

  @Test func `an upsert replaces the product and all relations of its set`() throws {
    let catalogue = try started()
    let report = try catalogue.increment(
      [Product("s", "4444", name: "new")], [Relation("s", "d", 3, id: "r9")], cursor: "t2")
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.product(id: "s") == Product("s", "4444", name: "new"))
    #expect(try snapshot.relations(ofSet: "s") == [Relation("s", "d", 3, id: "r9")])
    #expect(try snapshot.relations(ofComponent: "c") == [Relation("t", "c", 1, id: "r3")])
    #expect(try snapshot.products(barcode: "1111").isEmpty)
    #expect(report.counts.productsUpserted == 1 && report.counts.relationsWritten == 1)
    #expect(report.counts.relationsDeleted == 2 && report.counts.relationsIgnored == 0)
    #expect(report.mode == .incremental && snapshot.state.mode == .incremental)
    #expect(
      report.cursor == "t2" && snapshot.cursor == "t2" && snapshot.sequence == 2 && snapshot.generation == 1)
  }

  @Test func `an upsert without relations leaves a product that is no set`() throws {
    let catalogue = try started()
    try catalogue.increment([Product("s", "1111")])
    #expect(try catalogue.snapshot.relations(ofSet: "s").isEmpty)
    #expect(try catalogue.snapshot.relationCount == 1)
  }

  @Test(arguments: [1, 2, -1, Int64.max, .min])
  func `a deletion takes the product and its own relations`(delFlag: Int64) throws {
    let catalogue = try started()
    let report = try catalogue.increment([Product("c", delFlag: delFlag), Product("s", delFlag: delFlag)])
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.products.map(\.id) == ["d"])
    // Relations that only name the deleted product stay.
    #expect(try snapshot.relations == [Relation("t", "c", 1, id: "r3")])
    #expect(report.counts.productsDeleted == 2 && report.counts.relationsDeleted == 2)
    #expect(report.counts.productsUpserted == 0)
    #expect(try snapshot.components(of: "t").map(\.product) == [nil])
  }

  @Test(arguments: [false, true])
  func `a product that one payload both upserts and deletes is gone`(deletesFirst: Bool) throws {
    let catalogue = try started()
    let rows = [Product("s", "9999"), Product("s", delFlag: 1)]
    let report = try catalogue.increment(deletesFirst ? rows.reversed() : rows, [Relation("s", "d")])
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.product(id: "s") == nil && snapshot.relations(ofSet: "s").isEmpty)
    #expect(try snapshot.match("9999").kind == .none && snapshot.match("1111").kind == .none)
    #expect(report.counts.productsUpserted == 0 && report.counts.productsDeleted == 1)
    #expect(report.counts.relationsIgnored == 1 && report.counts.relationsWritten == 0)
    #expect(report.counts.relationsDeleted == 2)
  }

  @Test func `relations of products that are not upserted are ignored and counted`() throws {
    let catalogue = try started()
    let relations = [
      Relation("t", "d"), Relation("unknown", "c"), Relation("c", "d"), Relation("d", "c"), Relation(),
    ]
    let report = try catalogue.increment([Product("c", "2222")], relations)
    #expect(report.counts.relationsIgnored == 4 && report.counts.relationsWritten == 1)
    #expect(try catalogue.snapshot.relations == [Relation("c", "d")] + Self.start.relations)
  }

  @Test func `deleting what is not there changes nothing but the cursor`() throws {
    let catalogue = try started()
    let before = try catalogue.snapshot.canonicalDump
    let report = try catalogue.increment([Product("unknown", delFlag: 1)], cursor: "t2")
    #expect(report.counts.productsDeleted == 0 && report.counts.relationsDeleted == 0)
    #expect(try catalogue.snapshot.canonicalDump == before)
    #expect(try catalogue.snapshot.cursor == "t2")
  }

  @Test func `a deletion takes relations of a set that has no product`() throws {
    let catalogue = try started()
    let report = try catalogue.increment([Product("t", delFlag: 1)])
    #expect(report.counts.productsDeleted == 0 && report.counts.relationsDeleted == 1)
    #expect(try catalogue.snapshot.relations(ofSet: "t").isEmpty)
  }

  @Test func `of several rows with one id the last counts, and relations are written once`() throws {
    let catalogue = try started()
    let report = try catalogue.increment(
      [Product("n", "5555"), Product("n", "6666"), Product("n", "7777")], [Relation("n", "c")])
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.product(id: "n") == Product("n", "7777"))
    #expect(try snapshot.products(barcode: "5555").isEmpty && snapshot.products(barcode: "6666").isEmpty)
    #expect(report.counts.productsUpserted == 1 && report.counts.relationsWritten == 1)
    #expect(try snapshot.relations(ofSet: "n") == [Relation("n", "c")])
    #expect(snapshot.productCount == 4)
  }

  @Test func `two equal relation rows are both kept`() throws {
    let catalogue = try started()
    try catalogue.increment([Product("s")], [Relation("s", "c"), Relation("s", "c")])
    #expect(try catalogue.snapshot.relations(ofSet: "s") == [Relation("s", "c"), Relation("s", "c")])
    #expect(try catalogue.snapshot.sets(with: "c") == ["s", "t"])
  }

  @Test func `the empty id is an id`() throws {
    let catalogue = try started()
    try catalogue.increment([Product("", "8888")], [Relation("", "c")])
    #expect(try catalogue.snapshot.product(id: "") == Product("", "8888"))
    #expect(try catalogue.snapshot.sets(with: "c") == ["", "s", "t"])
    let report = try catalogue.increment([Product("", delFlag: 1)])
    #expect(report.counts.productsDeleted == 1 && report.counts.relationsDeleted == 1)
    #expect(try catalogue.snapshot.products == Self.start.products.sorted { $0.id < $1.id })
  }

  @Test func `ids that look the same are different ids`() throws {
    let catalogue = try TestCatalogue([Product("\u{E9}", "1111"), Product("e\u{301}", "2222")])
    try catalogue.increment([Product("e\u{301}", delFlag: 1)])
    #expect(try catalogue.snapshot.products.map(\.barcode) == ["1111"])
    try catalogue.increment(
      [Product("\u{E9}"), Product("e\u{301}")], [Relation("\u{E9}", "c"), Relation("e\u{301}", "c")])
    #expect(
      try catalogue.snapshot.sets(with: "c").map { Array($0.utf8) } == [[0x65, 0xCC, 0x81], [0xC3, 0xA9]])
  }

  @Test func `an increment begins an empty catalogue`() throws {
    let catalogue = try TestCatalogue()
    let report = try catalogue.increment(
      [Product("a", "1111"), Product("b", delFlag: 1)], [Relation("a", "b"), Relation("b", "a")], cursor: "t1"
    )
    #expect(report.sequence == 1 && report.generation == 1 && report.mode == .incremental)
    #expect(report.counts.relationsIgnored == 1)
    #expect(try catalogue.snapshot.products == [Product("a", "1111")])
    #expect(try catalogue.snapshot.relations == [Relation("a", "b")])
  }

  @Test func `nothing but a new cursor is a commit`() throws {
    let catalogue = try started()
    let report = try catalogue.increment([], cursor: "t2")
    #expect(report.sequence == 2 && report.counts == UpdateCounts())
    #expect(try catalogue.snapshot.cursor == "t2")
    #expect(try catalogue.snapshot.products.count == 3)
  }

  @Test func `nothing new is no commit where it is asked for`() throws {
    let catalogue = try started()
    for _ in 0..<3 {
      let report = try catalogue.writer.beginIncrement().commit(cursor: "full", skipsUnchanged: true)
      #expect(report.sequence == 1 && report.generation == 1 && report.cursor == "full")
    }
    #expect(try catalogue.snapshot.sequence == 1)
    #expect(try catalogue.writer.beginIncrement().commit(cursor: "t2", skipsUnchanged: true).sequence == 2)
    var increment = catalogue.writer.beginIncrement()
    try increment.take([Product("unknown", delFlag: 1)], [])
    #expect(try increment.commit(cursor: "t2", skipsUnchanged: true).sequence == 3)
    let empty = try TestCatalogue()
    #expect(try empty.writer.beginIncrement().commit(cursor: "", skipsUnchanged: true).sequence == 1)
  }

  @Test func `the report is kept with the commit`() throws {
    let catalogue = try started()
    var increment = catalogue.writer.beginIncrement()
    try increment.take([Product("s"), Product("c", delFlag: 1)], [Relation("s", "d"), Relation("q", "d")])
    let report = try increment.commit(cursor: "时间", defaulted: 7)
    #expect(report.counts.defaulted == 7)
    try catalogue.reopen()
    let state = try catalogue.snapshot.state
    #expect(state.counts == report.counts && state.cursor == "时间" && state.mode == .incremental)
    #expect(CatalogState(state.encoded) == state)
  }

  @Test func `a list at the threshold asks for a full update, one row less does not`() throws {
    let catalogue = try started()
    let products = (0..<5).map { Product("n\($0)") }
    let relations = (0..<5).map { Relation("n0", "c\($0)") }
    let report = try catalogue.increment(Array(products[..<4]), Array(relations[..<4]), threshold: 5)
    #expect(report.counts.productsUpserted == 4 && report.counts.relationsWritten == 4)
    for (products, relations) in [(products, []), (Array(products[..<1]), relations)] {
      let error = #expect(throws: CatalogError.self) {
        try catalogue.increment(products, relations, cursor: "no", threshold: 5)
      }
      guard case .needsFullUpdate(rows: 5, threshold: 5)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try catalogue.snapshot.sequence == 2 && catalogue.snapshot.cursor == "increment")
  }

  @Test func `an increment that refused a row cannot be committed`() throws {
    let catalogue = try started()
    var increment = catalogue.writer.beginIncrement(threshold: 2)
    #expect(throws: CatalogError.self) { try increment.take([Product("x"), Product("y"), Product("z")], []) }
    #expect(throws: CatalogError.self) { try increment.commit(cursor: "no") }
    #expect(try catalogue.snapshot.sequence == 1)
  }

  @Test func `a row that has no room leaves everything as it was`() throws {
    let catalogue = try started()
    let before = try catalogue.snapshot.canonicalDump
    let huge = String(repeating: "x", count: 70_000)
    for product in [Product(huge), Product("a", huge)] {
      #expect(throws: StoreError.self) {
        try catalogue.increment([Product("s", "9999"), product], cursor: "no")
      }
      #expect(throws: StoreError.self) { try catalogue.full([Product("s", "9999"), product], cursor: "no") }
    }
    #expect(throws: StoreError.self) {
      try catalogue.increment([Product("s", "9999")], [Relation("s", huge)], cursor: "no")
    }
    #expect(try catalogue.snapshot.canonicalDump == before && catalogue.snapshot.cursor == "full")
    #expect(try catalogue.increment([Product("s", "9999")]).sequence == 2)
    #expect(try catalogue.snapshot.match("9999").products.map(\.id) == ["s"])
  }

  @Test func `texts far longer than a key are stored`() throws {
    // A key has at most 65,535 bytes.
    let count = depth == 1 ? 100_000 : 1_000_000
    var product = Product("long")
    product.name = String(repeating: "长", count: count)
    product.brand = String(repeating: "b", count: count)
    product.skuCode = String(repeating: "s", count: 100_000)
    let catalogue = try TestCatalogue([product])
    #expect(try catalogue.snapshot.product(id: "long") == product)
  }
}
