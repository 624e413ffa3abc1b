import CatalogSync
import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

/// Rows of an answer that do not reach the catalogue: skipped ones, collapsed ones, and how many of each are too many.
@Suite struct RowLimitsTests {
  private static let tooLong = String(repeating: "7", count: 100_000)

  private static func products(_ range: Range<Int>) -> [Product] { range.map { Product("p\($0)", "c\($0)") } }

  /// `count` products whose barcodes the format has no room for.
  private static func oversized(_ count: Int) -> [Product] { (0..<count).map { Product("big\($0)", tooLong) } }

  private func full(
    _ catalogue: TestCatalogue, _ products: [Product], _ relations: [Relation] = [], _ limits: RowLimits? = RowLimits()
  ) throws -> UpdateReport {
    var update = try catalogue.writer.beginFullUpdate(.open, rowLimits: limits)
    do { try update.take(products, relations) } catch {
      update.cancel()
      throw error
    }
    return try update.commit(cursor: "full")
  }

  private func increment(
    _ catalogue: TestCatalogue, _ products: [Product], _ relations: [Relation] = [], _ limits: RowLimits? = RowLimits()
  ) throws -> UpdateReport {
    var increment = Increment(rowLimits: limits)
    try increment.take(products, relations)
    return try catalogue.writer.commit(increment, cursor: "increment")
  }

  // MARK: Skipped rows

  @Test func `a row that exceeds a limit is skipped and told with its id, and the others are taken`() throws {
    for isFull in [true, false] {
      let catalogue = try TestCatalogue([Product("old")])
      let rows = [Product("a"), Product("big", Self.tooLong), Product("b")]
      let relations = [Relation("a", Self.tooLong, id: "r1"), Relation("a", "b")]
      let report = try isFull ? full(catalogue, rows, relations) : increment(catalogue, rows, relations)
      let skipped = report.notices.skipped
      #expect(skipped.count == 2)
      #expect(skipped.first.map(\.id) == ["big", "r1"] && skipped.first.map(\.index) == [1, 0])
      #expect(skipped.first.map(\.kind) == [.product, .relation])
      #expect(skipped.first[0].reason.contains("65535"))
      #expect(report.counts.productsUpserted == 2 && report.counts.relationsWritten == 1)
      #expect(report.notices.collapsed == 0)
      #expect(try catalogue.snapshot.product(id: "b") != nil && catalogue.snapshot.product(id: "big") == nil)
      #expect(try catalogue.snapshot.relations.map(\.subProductId) == ["b"])
    }
  }

  @Test(arguments: [(10, 5, true), (11, 5, false), (11, 1089, true), (12, 1188, true), (12, 1100, false)])
  func `up to ten rows may be skipped, or one in a hundred`(skipped: Int, others: Int, isTaken: Bool) throws {
    let rows = Self.oversized(skipped) + Self.products(0..<others)
    for isFull in [true, false] {
      let catalogue = try TestCatalogue([Product("old")])
      if isTaken {
        let report = try isFull ? full(catalogue, rows) : increment(catalogue, rows)
        #expect(report.notices.skipped.count == skipped && report.counts.productsUpserted == others)
        #expect(report.notices.skipped.first.count == min(skipped, SkippedRows.detailLimit))
        continue
      }
      let error = #expect(throws: CatalogError.self) {
        try isFull ? full(catalogue, rows) : increment(catalogue, rows)
      }
      guard case .tooManySkipped(skipped, of: skipped + others, _, let first)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(first.id == "big0" && "\(error!)".contains("big0"))
      #expect(try catalogue.snapshot.sequence == 1 && catalogue.snapshot.product(id: "old") != nil)
      // The writer goes on.
      #expect(try full(catalogue, [Product("new")]).sequence == 2)
    }
  }

  @Test func `a deletion needs its id only, however long the rest is`() throws {
    let catalogue = try TestCatalogue([Product("a"), Product("b")])
    let report = try increment(
      catalogue, [Product("a", Self.tooLong, delFlag: 1), Product(Self.tooLong, delFlag: 1)])
    #expect(report.counts.productsDeleted == 1 && report.notices.skipped.count == 1)
    #expect(try catalogue.snapshot.products.map(\.id) == ["b"])
  }

  @Test func `skipped rows count for the threshold`() throws {
    var increment = Increment(threshold: 3, rowLimits: RowLimits())
    #expect(throws: CatalogError.self) { try increment.take(Self.oversized(3), []) }
  }

  @Test func `without a limits such a row is an error`() throws {
    let catalogue = try TestCatalogue([Product("old")])
    #expect(throws: StoreError.self) { try full(catalogue, Self.oversized(1), [], nil) }
    #expect(throws: StoreError.self) { try increment(catalogue, Self.oversized(1), [], nil) }
    #expect(try catalogue.snapshot.sequence == 1)
  }

  // MARK: Collapsed rows

  @Test(arguments: [(99, 100, true), (100, 9900, true), (100, 9799, false), (101, 500, false)])
  func `a hundred products that collapse, and more than one in a hundred, refuse the answer`(
    collapsed: Int, distinct: Int, isTaken: Bool
  ) throws {
    let rows = Self.products(0..<distinct) + (0..<collapsed).map { Product("p\($0 % 3)", name: "again") }
    for isFull in [true, false] {
      let catalogue = try TestCatalogue([Product("old")])
      let before = try catalogue.snapshot.canonicalDump
      if !isTaken {
        let error = #expect(throws: CatalogError.self) {
          try isFull ? full(catalogue, rows) : increment(catalogue, rows)
        }
        guard case .wouldCollapse(collapsed, of: collapsed + distinct, withoutID: 0)? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect("\(error!)".contains("--accept-loss"))
        #expect(try catalogue.snapshot.canonicalDump == before && catalogue.snapshot.cursor == "full")
      }
      let limits = isTaken ? RowLimits() : .acceptingCollapse
      let report = try isFull ? full(catalogue, rows, [], limits) : increment(catalogue, rows, [], limits)
      #expect(report.notices.collapsed == collapsed && report.counts.productsUpserted == distinct)
    }
  }

  @Test func `products without an id collapse, and the error counts them`() throws {
    let catalogue = try TestCatalogue()
    let rows = (0..<150).map { Product("", "c\($0)") }
    let error = #expect(throws: CatalogError.self) { try full(catalogue, rows) }
    guard case .wouldCollapse(149, of: 150, withoutID: 150)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try catalogue.snapshot.sequence == 0)
  }

  @Test func `a product that one increment upserts and deletes collapses into the deletion`() throws {
    let catalogue = try TestCatalogue([Product("a")])
    let report = try increment(catalogue, [Product("a", name: "new"), Product("a", delFlag: 1)])
    #expect(report.notices.collapsed == 1 && report.counts.productsDeleted == 1)
  }

  // MARK: Broken sets

  @Test func `an increment that deletes components tells which sets lack them now`() throws {
    let catalogue = try TestCatalogue(
      [
        Product("in"), Product("out"), Product("hose"), Product("set"), Product("set2"), Product("gone"),
        Product("spare"),
      ],
      [
        Relation("set", "in"), Relation("set", "out"), Relation("set2", "in"), Relation("gone", "in"),
        Relation("nowhere", "in"), Relation("set2", "never there"),
      ])
    let report = try increment(
      catalogue,
      [
        Product("out", delFlag: 1), Product("in", delFlag: 1), Product("gone", delFlag: 1),
        Product("spare", delFlag: 1),
        Product("never there", delFlag: 1),
      ])
    #expect(
      report.notices.brokenSets == [
        BrokenSet(id: "set", missing: ["in", "out"]), BrokenSet(id: "set2", missing: ["in"]),
      ])
    // A set whose relations the same increment replaces is whole again.
    let next = try increment(catalogue, [Product("hose", delFlag: 1), Product("set")], [Relation("set", "set2")])
    #expect(next.notices.brokenSets.isEmpty)
  }
}
