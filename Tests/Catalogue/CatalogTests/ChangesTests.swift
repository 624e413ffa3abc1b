import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// Going back, and what differs between two commits.
@Suite struct ChangesTests {
  @Test func `a rollback brings back rows, cursor and digest, and can be taken back`() throws {
    let catalogue = try TestCatalogue([Product("a", "1", name: "A"), Product("b", "2")], [Relation("a", "b", 2)])
    let digest = try CatalogDigest(catalogue.snapshot)
    try catalogue.increment([Product("a", "1", name: "new"), Product("c", "3"), Product("b", delFlag: 1)])
    let later = try CatalogDigest(catalogue.snapshot)
    let report = try #require(try catalogue.writer.rollback(to: 1))
    #expect(report.mode == .rollback && report.sequence == 3 && report.cursor == "full")
    #expect(report.counts.productsUpserted == 2 && report.counts.productsDeleted == 1)
    #expect(report.counts.relationsWritten == 1 && report.counts.relationsDeleted == 0)
    #expect(try CatalogDigest(catalogue.snapshot) == digest)
    #expect(try catalogue.snapshot.product(id: "a")?.name == "A")
    #expect(try catalogue.snapshot.history().map(\.state.mode) == [.rollback, .incremental, .full])
    _ = try catalogue.writer.rollback(to: 2)
    #expect(try CatalogDigest(catalogue.snapshot) == later)
    #expect(try catalogue.snapshot.cursor == "increment")
    try catalogue.writer.compact()
    #expect(try CatalogDigest(catalogue.snapshot) == later)
    #expect(try catalogue.writer.rollback(to: 1) == nil)
    #expect(try catalogue.snapshot.sequence == 4)
  }

  @Test func `an increment after a rollback meets the rows of the commit that is current again`() throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    try catalogue.increment([Product("a", delFlag: 1), Product("c", "3")])
    _ = try catalogue.writer.rollback(to: 1)
    try catalogue.increment([Product("a", "9"), Product("c", "4")])
    #expect(try catalogue.snapshot.products.map(\.barcode) == ["9", "2", "4"])
    #expect(try catalogue.snapshot.products(barcode: "1").isEmpty)
    #expect(try catalogue.snapshot.products(barcode: "3").isEmpty)
  }

  @Test func `a difference names what was added, removed and changed, in either direction`() throws {
    let catalogue = try TestCatalogue(
      [Product("same", "1"), Product("e\u{301}", "2"), Product("gone", "3"), Product("other", "4", name: "old")],
      [Relation("other", "x", 1, id: "r"), Relation("gone", "y")])
    try catalogue.increment(
      [Product("same", "1"), Product("é", "2"), Product("gone", delFlag: 1), Product("other", "4", name: "new")],
      [Relation("other", "x", 3, id: "r"), Relation("other", "z"), Relation("same", "same")])
    let snapshot = try catalogue.snapshot
    let first = try #require(try snapshot.at(1))
    let changes = try snapshot.changes(since: first)
    #expect(changes.products.map { ($0.after ?? $0.before)!.id } == ["gone", "other", "é"])
    #expect(changes.products.map(\.name) == ["removed", "changed", "added"])
    #expect(changes.products[1].before?.name == "old" && changes.products[1].after?.name == "new")
    #expect(changes.relations.map(\.name) == ["removed", "changed", "added", "added"])
    #expect(changes.relations[1].before?.groupNum == 1 && changes.relations[1].after?.groupNum == 3)
    let back = try first.changes(since: snapshot)
    #expect(back.products.map(\.name) == ["added", "changed", "removed"])
    #expect(back.products[1].before?.name == "new")
    #expect(try snapshot.changes(since: snapshot).isEmpty)
    // Written again as it was, a row is no difference.
    _ = try catalogue.writer.rollback(to: 1)
    #expect(try catalogue.snapshot.changes(since: first).isEmpty)
  }

  @Test func `every row differs from a catalogue without commits, in either direction`() throws {
    let catalogue = try TestCatalogue([Product("b", "2"), Product("a", "1")], [Relation("a", "b")])
    let changes = try catalogue.snapshot.changes(since: .empty)
    #expect(changes.upsertedProducts.map(\.id) == ["a", "b"] && changes.deletedProductIDs.isEmpty)
    #expect(changes.relations.map(\.name) == ["added"])
    let back = try CatalogSnapshot.empty.changes(since: catalogue.snapshot)
    #expect(back.upsertedProducts.isEmpty && back.deletedProductIDs == ["a", "b"])
    #expect(back.relations.map(\.name) == ["removed"])
    #expect(try CatalogSnapshot.empty.changes(since: .empty).isEmpty)
  }

  @Test func `commits of two copies that have grown apart are compared by content`() throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    let backup = try catalogue.logBytes
    try catalogue.increment([Product("a", "1", name: "new"), Product("c", "3")])
    let before = try catalogue.snapshot
    // The backup takes the name of the file, and is written to.
    try catalogue.folder.write(backup, to: "backup")
    try catalogue.folder.directory.rename("backup", to: "catalog.log")
    try catalogue.reopen()
    try catalogue.increment([Product("b", "2", name: "other")])
    for sequence in [2, 3] as [UInt64] {
      let now = try catalogue.snapshot
      #expect(now.sequence == sequence && before.sequence == 2)
      let changes = try now.changes(since: before)
      #expect(changes.products.map { $0.after?.id ?? $0.before?.id } == ["a", "b", "c"])
      #expect(changes.products.map(\.name) == ["changed", "changed", "removed"])
      #expect(try before.changes(since: now).products.map(\.name) == ["changed", "changed", "added"])
      try catalogue.increment([])
    }
  }

  @Test func `a product that differs in a single field has changed, within a generation and across a full update`()
    throws
  {
    let extra = try ProductExtra(json: #"{"a":1}"#)
    var changes: [(inout Product) -> Void] = [{ _ in }, { $0.extra = extra }]
    let texts: [WritableKeyPath<Product, String>] = [
      \.barcode, \.brand, \.brandId, \.category, \.createBy, \.createTime, \.name, \.orgId, \.skuCode, \.unit,
      \.updateBy, \.updateTime,
    ]
    for path in texts {
      for text in ["", "2023-02-01 01:15:04", "é"] { changes.append { $0[keyPath: path] = text } }
    }
    for path in [\Product.categoryId, \.groupNum] {
      for integer in [0, 3, .max] as [Int64] { changes.append { $0[keyPath: path] = integer } }
    }
    for path in [\Product.length, \.tall, \.volume, \.weight, \.wide] {
      for double in [-0.0, 0.5, .infinity] { changes.append { $0[keyPath: path] = double } }
    }
    for path in [\Product.isGreeProduct, \.isGroupedProduct, \.isMarketingProduct, \.isSaleProduct] {
      changes.append { $0[keyPath: path] = true }
    }
    // Ids of more than 16 bytes that begin with the same ones, next to ids that are their beginnings.
    let before = changes.indices.map { number -> Product in
      var product = Product(number % 2 == 0 ? "0123456789abcdef-\(number)" : "\(number)", "2023-02-01 01:15:03")
      for path in texts { product[keyPath: path] = "2023-02-01 01:15:03" }
      (product.categoryId, product.groupNum) = (7, 2)
      return product
    }
    let after = zip(before, changes).map { product, change -> Product in
      var product = product
      change(&product)
      return product
    }
    let catalogue = try TestCatalogue(before)
    try catalogue.increment(after)
    let changed = try catalogue.snapshot
    try catalogue.full(before)
    let expected = after.dropFirst().map(\.id).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let first = try #require(try changed.at(1))
    for (from, to, wanted) in [(first, changed, after), (changed, try catalogue.snapshot, before)] {
      let found = try to.changes(since: from).products
      #expect(found.map { $0.after?.id } == expected)
      #expect(found.allSatisfy { $0.name == "changed" })
      let lines = Set(wanted.map(\.canonicalLine))
      #expect(found.allSatisfy { $0.after.map { lines.contains($0.canonicalLine) } == true })
    }
    #expect(try catalogue.snapshot.changes(since: first).isEmpty)
  }

  @Test(arguments: 0..<3) func `a difference is that of the two dumps`(run: Int) throws {
    var rows = RowGenerator("a difference is that of the two dumps", run: run)
    let catalogue = try TestCatalogue([Product("p0", "0")])
    for step in 0..<25 * depth {
      if rows.chance(20) {
        _ = try catalogue.writer.rollback(to: UInt64(Int.random(in: 1...step + 1, using: &rows.random)))
      } else {
        let products = (0..<Int.random(in: 0..<6, using: &rows.random)).map { _ in
          Product("p\(rows.pick(Array(0..<9)))", rows.pick(["1", "2"]), delFlag: rows.chance(30) ? 1 : 0)
        }
        let relations = (0..<4).map { _ in
          Relation("p\(rows.pick(Array(0..<9)))", rows.pick(["x", "y"]), rows.pick([1, 2]), id: rows.pick(["", "r"]))
        }
        try catalogue.increment(products, relations)
      }
    }
    let last = try catalogue.snapshot
    for _ in 0..<40 {
      let from = try #require(try last.at(UInt64(Int.random(in: 1...Int(last.sequence), using: &rows.random))))
      let to = try #require(try last.at(UInt64(Int.random(in: 1...Int(last.sequence), using: &rows.random))))
      let changes = try to.changes(since: from)
      var lines = Self.counted(try from.products.map(\.canonicalLine) + from.relations.map(\.canonicalLine))
      let before =
        changes.products.compactMap(\.before?.canonicalLine) + changes.relations.compactMap(\.before?.canonicalLine)
      let after =
        changes.products.compactMap(\.after?.canonicalLine) + changes.relations.compactMap(\.after?.canonicalLine)
      #expect(Set(before).isDisjoint(with: after))
      for line in before { lines[line, default: 0] -= 1 }
      for line in after { lines[line, default: 0] += 1 }
      let expected = Self.counted(try to.products.map(\.canonicalLine) + to.relations.map(\.canonicalLine))
      #expect(lines.filter { $0.value != 0 } == expected)
    }
  }

  private static func counted(_ lines: [[UInt8]]) -> [[UInt8]: Int] {
    Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
  }
}
