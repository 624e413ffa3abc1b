import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct LossLimitTests {
  private static func products(_ range: Range<Int>) -> [Product] { range.map { Product("\($0)") } }

  @Test func `the share that may vanish may vanish, one more may not`() throws {
    let lossLimit = LossLimit(share: 0.5, smallCatalogue: 10)
    let catalogue = try TestCatalogue(Self.products(0..<20))
    let before = try catalogue.snapshot.canonicalDump
    let error = #expect(throws: CatalogError.self) {
      try catalogue.full(Self.products(11..<100), cursor: "t", lossLimit: lossLimit)
    }
    guard case .wouldLose(11, of: 20, share: 0.5)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try catalogue.snapshot.canonicalDump == before && catalogue.snapshot.cursor == "full")
    #expect(try catalogue.snapshot.generation == 1)
    try catalogue.reopen()
    #expect(try catalogue.snapshot.canonicalDump == before)
    let report = try catalogue.full(Self.products(10..<100), cursor: "t", lossLimit: lossLimit)
    #expect(report.counts.productsDeleted == 10)
  }

  @Test func `a small catalogue is replaced whatever is lost`() throws {
    let lossLimit = LossLimit(share: 0, smallCatalogue: 10)
    let small = try TestCatalogue(Self.products(0..<10))
    #expect(try small.full([], lossLimit: lossLimit).counts.productsDeleted == 10)
    let large = try TestCatalogue(Self.products(0..<11))
    #expect(throws: CatalogError.self) { try large.full(Self.products(0..<10), lossLimit: lossLimit) }
    #expect(try large.full(Self.products(0..<11), lossLimit: lossLimit).counts.productsDeleted == 0)
  }

  @Test func `an open lossLimit lets everything through`() throws {
    let catalogue = try TestCatalogue(Self.products(0..<1200))
    #expect(throws: CatalogError.self) { try catalogue.full([], lossLimit: LossLimit()) }
    #expect(try catalogue.full([], lossLimit: .open).counts.productsDeleted == 1200)
  }

  @Test func `products that the server sends as deleted are lost`() throws {
    let catalogue = try TestCatalogue(Self.products(0..<20))
    let deleted = Self.products(0..<20).map { Product($0.id, delFlag: 1) }
    let lossLimit = LossLimit(share: 0.5, smallCatalogue: 10)
    #expect(throws: CatalogError.self) { try catalogue.full(deleted, lossLimit: lossLimit) }
    try catalogue.full(deleted)
    // What was deleted before cannot be lost again.
    #expect(try catalogue.full([], lossLimit: lossLimit).counts.productsDeleted == 0)
  }

  @Test func `the share is that of the products that can be found`() throws {
    let lossLimit = LossLimit(share: 0.5, smallCatalogue: 10)
    let hidden = (100..<200).map { Product("\($0)", delFlag: 1) }
    let catalogue = try TestCatalogue(Self.products(0..<20) + hidden)
    let error = #expect(throws: CatalogError.self) {
      try catalogue.full(hidden + Self.products(11..<20), lossLimit: lossLimit)
    }
    guard case .wouldLose(11, of: 20, share: 0.5)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try catalogue.full(Self.products(10..<20), lossLimit: lossLimit).counts.productsDeleted == 10)
  }

  @Test func `a set with very many relations is compared in bounded time`() throws {
    let relations = (0..<3000).map { Relation("set", "c\($0)") }
    let catalogue = try TestCatalogue([Product("set")], relations)
    let report = try catalogue.full([Product("set")], Array(relations.dropLast(5)))
    #expect(report.counts.relationsDeleted == 5)
  }
}
