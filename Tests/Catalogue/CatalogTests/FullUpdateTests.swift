import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct FullUpdateTests {
  @Test func `a catalogue that was never filled is empty`() throws {
    let catalogue = try TestCatalogue()
    let snapshot = try catalogue.snapshot
    #expect(snapshot.cursor == "" && snapshot.sequence == 0 && snapshot.generation == 0)
    #expect(snapshot.productCount == 0 && snapshot.relationCount == 0)
    #expect(try snapshot.products.isEmpty && snapshot.relations.isEmpty)
    #expect(try snapshot.match("6901234567892").kind == .none)
    #expect(try snapshot.product(id: "") == nil)
    #expect(try snapshot.sets(with: "a").isEmpty && snapshot.components(of: "a").isEmpty)
    #expect(try snapshot.complete(["1", ""]).unknown == ["1", ""])
    #expect(try CatalogReader.open(catalogue.location) == nil)
    #expect(try catalogue.writer.compact().sequence == 0)
    #expect(try !catalogue.writer.compactIfDue())
    #expect(try CatalogDigest(snapshot) == CatalogDigest(.empty))
  }

  @Test func `a full update replaces products and relations entirely`() throws {
    let catalogue = try TestCatalogue(
      [Product("a", "1111"), Product("b", "2222")], [Relation("a", "b"), Relation("x", "y")])
    let report = try catalogue.full([Product("b", "3333"), Product("c")], [Relation("x", "y")], cursor: "t2")
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.products == [Product("b", "3333"), Product("c")])
    #expect(try snapshot.relations == [Relation("x", "y")])
    #expect(try snapshot.products(barcode: "1111").isEmpty && snapshot.products(barcode: "2222").isEmpty)
    #expect(report.mode == .full && report.cursor == "t2" && snapshot.cursor == "t2")
    #expect(report.counts.productsUpserted == 2 && report.counts.productsDeleted == 1)
    #expect(report.counts.relationsWritten == 1 && report.counts.relationsDeleted == 1)
    #expect(report.sequence == 2 && report.generation == 2)
    #expect(snapshot.sequence == 2 && snapshot.generation == 2)
  }

  @Test func `an empty full update empties the catalogue`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111")], [Relation("a", "b")])
    let report = try catalogue.full([], [], cursor: "")
    #expect(report.counts.productsDeleted == 1 && report.counts.relationsDeleted == 1)
    #expect(try catalogue.snapshot.productCount == 0 && catalogue.snapshot.relationCount == 0)
    #expect(try catalogue.snapshot.cursor == "")
  }

  @Test func `of several products with one id the last counts`() throws {
    let catalogue = try TestCatalogue()
    let products = [
      Product("a", "1111"), Product("", "5555"), Product("a", "2222"), Product("a", "1111", name: "z"),
    ]
    let report = try catalogue.full(products)
    let snapshot = try catalogue.snapshot
    #expect(report.counts.productsUpserted == 2)
    #expect(try snapshot.products == [Product("", "5555"), Product("a", "1111", name: "z")])
    #expect(try snapshot.products(barcode: "2222").isEmpty)
    #expect(try snapshot.products(barcode: "1111").count == 1)
    #expect(try snapshot.match("2222").kind == .none)
  }

  @Test func `a row with delFlag is stored as it came and never matches`() throws {
    let deleted = Product("gone", "6901234567892", delFlag: 1)
    let odd = Product("odd", "HEAD-1", delFlag: -1)
    let catalogue = try TestCatalogue([deleted, odd, Product("short", "HEAD")])
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.product(id: "gone") == deleted)
    #expect(try snapshot.products(barcode: "6901234567892") == [deleted])
    for scan in ["6901234567892", "06901234567892", "(01)06901234567892", "6901234567892X1"] {
      #expect(try snapshot.match(scan).kind == .none, "\(scan)")
    }
    #expect(try snapshot.match("HEAD-1").products.map(\.id) == ["short"])
    #expect(try snapshot.match("HEAD-1999").key == "HEAD")
  }

  @Test func `a catalogue serves until the new one is committed`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111")], cursor: "t1")
    var update = try catalogue.writer.beginFullUpdate(.open)
    try update.take([Product("b", "2222")], [])
    #expect(try catalogue.snapshot.match("1111").kind == .exact)
    #expect(try catalogue.snapshot.cursor == "t1")
    update.cancel()
    #expect(try catalogue.snapshot.products == [Product("a", "1111")])
    try catalogue.reopen()
    #expect(try catalogue.snapshot.products == [Product("a", "1111")])
    #expect(try catalogue.full([Product("b")]).sequence == 2)
  }

  @Test func `an update that is begun again gives up the open one`() throws {
    let catalogue = try TestCatalogue([Product("a")])
    var first = try catalogue.writer.beginFullUpdate(.open)
    try first.take([Product("b")], [])
    try catalogue.full([Product("c")])
    first.cancel()
    #expect(try catalogue.snapshot.products.map(\.id) == ["c"])
  }

  @Test func `a long cursor is kept`() throws {
    let cursor = String(repeating: "时", count: 20_000)
    let catalogue = try TestCatalogue([Product("a")], cursor: cursor)
    #expect(try catalogue.snapshot.cursor == cursor)
    try catalogue.increment([], cursor: cursor + "\u{0}")
    try catalogue.reopen()
    #expect(try catalogue.snapshot.cursor == cursor + "\u{0}")
  }

  @Test func `snapshots stay as they were`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111")])
    let old = try catalogue.snapshot
    try catalogue.increment([Product("a", "2222")])
    try catalogue.full([Product("b")])
    try catalogue.writer.compact()
    #expect(try old.products == [Product("a", "1111")])
    #expect(try old.match("1111").kind == .exact)
  }
}
