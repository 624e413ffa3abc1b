import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct CatalogOverviewTests {
  @Test func `history tells every commit of the generation, newest first`() throws {
    let catalogue = try TestCatalogue([Product("a"), Product("b")])
    try catalogue.increment([Product("c")], cursor: "t2")
    try catalogue.increment([Product("a", delFlag: 1), Product("b", delFlag: 1)], cursor: "t3")
    let history = try catalogue.snapshot.history()
    #expect(history.map(\.products) == [1, 3, 2])
    #expect(history.map(\.state.cursor) == ["t3", "t2", "full"])
    #expect(history.map(\.state.mode) == [.incremental, .incremental, .full])
    #expect(history.map(\.state.counts.productsDeleted) == [2, 0, 0])
    #expect(history.map(\.commit.sequence) == [3, 2, 1])
    #expect(try CatalogSnapshot.empty.history().isEmpty)
  }

  @Test func `sets and dangling components are counted`() throws {
    let relations = [
      Relation("a", "b"), Relation("a", "b"), Relation("a", "x"), Relation("c", "x"), Relation("c", "y"),
    ]
    let snapshot = try TestCatalogue([Product("a"), Product("b"), Product("c")], relations).snapshot
    let statistics = try snapshot.setStatistics()
    #expect(statistics.sets == 2 && statistics.danglingComponents == 2)
    #expect(try CatalogSnapshot.empty.setStatistics() == SetStatistics())
  }

  @Test func `a product that was sent as deleted is missing, whoever asks`() throws {
    let relations = [Relation("a", "b"), Relation("a", "c")]
    let catalogue = try TestCatalogue([Product("a"), Product("b", delFlag: 1), Product("c")], relations)
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.setStatistics().danglingComponents == 1)
    #expect(try snapshot.deletedProductCount() == 1 && CatalogSnapshot.empty.deletedProductCount() == 0)
    #expect(try snapshot.components(of: "a").map { $0.product?.id } == [nil, "c"])
    #expect(try snapshot.complete(["c"]).faults.isEmpty)
    #expect(try snapshot.product(id: "b")?.delFlag == 1)
  }

  @Test func `products are ordered by the bytes of their ids`() throws {
    var rows = RowGenerator("products are ordered by the bytes of their ids")
    var ids: Set<[UInt8]> = []
    let ends = ["", "\u{0}", "\u{0}\u{0}", "a", "b", "\u{E9}", "e\u{301}", "時"]
    for _ in 0..<300 {
      let prefix = rows.pick(["", "p", String(repeating: "k", count: 7), String(repeating: "k", count: 15)])
      ids.insert(Array((prefix + rows.pick(ends) + rows.pick(ends) + rows.pick(ends)).utf8))
    }
    let products = ids.map { Product(String(decoding: $0, as: UTF8.self)) }
    let snapshot = try TestCatalogue(products).snapshot
    let ordered = try snapshot.productRowsByID().map { row in
      try snapshot.withProduct(row) { (view) throws(StoreError) in Array(view.id.utf8) }
    }
    #expect(ordered == ids.sorted { $0.lexicographicallyPrecedes($1) })
  }
}
