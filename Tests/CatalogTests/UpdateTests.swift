import CatalogRows
import LogStore
import StoreTestSupport
import Testing

@testable import Catalog

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
    #expect(try !catalogue.writer.compactIfWorthwhile())
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

extension TestCatalogue {
  convenience init(_ products: [Product], cursor: String) throws {
    try self.init()
    try full(products, cursor: cursor)
  }
}

@Suite struct LossGateTests {
  private static func products(_ range: Range<Int>) -> [Product] { range.map { Product("\($0)") } }

  @Test func `the share that may vanish may vanish, one more may not`() throws {
    let gate = LossGate(share: 0.5, smallCatalogue: 10)
    let catalogue = try TestCatalogue(Self.products(0..<20))
    let before = try catalogue.snapshot.canonicalDump
    let error = #expect(throws: CatalogError.self) {
      try catalogue.full(Self.products(11..<100), cursor: "t", gate: gate)
    }
    guard case .wouldLose(11, of: 20, share: 0.5)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try catalogue.snapshot.canonicalDump == before && catalogue.snapshot.cursor == "full")
    #expect(try catalogue.snapshot.generation == 1)
    try catalogue.reopen()
    #expect(try catalogue.snapshot.canonicalDump == before)
    let report = try catalogue.full(Self.products(10..<100), cursor: "t", gate: gate)
    #expect(report.counts.productsDeleted == 10)
  }

  @Test func `a small catalogue is replaced whatever is lost`() throws {
    let gate = LossGate(share: 0, smallCatalogue: 10)
    let small = try TestCatalogue(Self.products(0..<10))
    #expect(try small.full([], gate: gate).counts.productsDeleted == 10)
    let large = try TestCatalogue(Self.products(0..<11))
    #expect(throws: CatalogError.self) { try large.full(Self.products(0..<10), gate: gate) }
    #expect(try large.full(Self.products(0..<11), gate: gate).counts.productsDeleted == 0)
  }

  @Test func `an open gate lets everything through`() throws {
    let catalogue = try TestCatalogue(Self.products(0..<1200))
    #expect(throws: CatalogError.self) { try catalogue.full([], gate: LossGate()) }
    #expect(try catalogue.full([], gate: .open).counts.productsDeleted == 1200)
  }

  @Test func `products that the server sends as deleted are lost`() throws {
    let catalogue = try TestCatalogue(Self.products(0..<20))
    let deleted = Self.products(0..<20).map { Product($0.id, delFlag: 1) }
    let gate = LossGate(share: 0.5, smallCatalogue: 10)
    #expect(throws: CatalogError.self) { try catalogue.full(deleted, gate: gate) }
    try catalogue.full(deleted)
    // What was deleted before cannot be lost again.
    #expect(try catalogue.full([], gate: gate).counts.productsDeleted == 0)
  }

  @Test func `the share is that of the products that can be found`() throws {
    let gate = LossGate(share: 0.5, smallCatalogue: 10)
    let hidden = (100..<200).map { Product("\($0)", delFlag: 1) }
    let catalogue = try TestCatalogue(Self.products(0..<20) + hidden)
    let error = #expect(throws: CatalogError.self) {
      try catalogue.full(hidden + Self.products(11..<20), gate: gate)
    }
    guard case .wouldLose(11, of: 20, share: 0.5)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try catalogue.full(Self.products(10..<20), gate: gate).counts.productsDeleted == 10)
  }

  @Test func `a set with very many relations is compared in bounded time`() throws {
    let relations = (0..<3000).map { Relation("set", "c\($0)") }
    let catalogue = try TestCatalogue([Product("set")], relations)
    let report = try catalogue.full([Product("set")], Array(relations.dropLast(5)))
    #expect(report.counts.relationsDeleted == 5)
  }
}

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
    var product = Product("long")
    product.name = String(repeating: "长", count: 1_000_000)
    product.brand = String(repeating: "b", count: 1_000_000)
    product.skuCode = String(repeating: "s", count: 100_000)
    let catalogue = try TestCatalogue([product])
    #expect(try catalogue.snapshot.product(id: "long") == product)
  }
}

@Suite struct HistoryTests {
  @Test func `each commit of a generation stays readable`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111")], [Relation("a", "b")])
    var dumps = [try catalogue.snapshot.canonicalDump]
    for number in 0..<40 {
      let products = [
        Product("\(number)", "77\(number)"), Product("a", "1\(number)", delFlag: number == 20 ? 1 : 0),
      ]
      try catalogue.increment(products, [Relation("\(number)", "a")], cursor: "t\(number)")
      dumps.append(try catalogue.snapshot.canonicalDump)
    }
    let last = try catalogue.snapshot
    for (index, dump) in dumps.enumerated() {
      let snapshot = try #require(try last.at(UInt64(index + 1)))
      #expect(try snapshot.canonicalDump == dump)
      #expect(snapshot.cursor == (index == 0 ? "full" : "t\(index - 1)"))
      #expect(snapshot.sequence == UInt64(index + 1))
    }
    #expect(try last.at(0) == nil && last.at(42) == nil)
    try catalogue.writer.compact()
    let compacted = try catalogue.snapshot
    #expect(try compacted.canonicalDump == dumps.last)
    #expect(compacted.sequence == 41 && compacted.cursor == "t39" && compacted.generation == 2)
    #expect(compacted.state == last.state)
    #expect(try compacted.at(40) == nil)
    #expect(try last.at(40)?.canonicalDump == dumps[39])
  }

  @Test func `a compaction becomes worthwhile and loses nothing`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111")], [Relation("a", "b")])
    #expect(try !catalogue.writer.compactIfWorthwhile())
    var product = Product("a", "1111")
    product.name = String(repeating: "n", count: 500_000)
    var compactions = 0
    for number in 0..<24 {
      product.skuCode = "\(number)"
      try catalogue.increment([product], [Relation("a", "b")])
      if try catalogue.writer.compactIfWorthwhile() { compactions += 1 }
      #expect(try catalogue.snapshot.products == [product])
      #expect(try catalogue.snapshot.relations == [Relation("a", "b")])
    }
    #expect((1...4).contains(compactions))
  }

  @Test func `threads see one whole commit or another while the writer goes on`() async throws {
    let catalogue = try TestCatalogue((0..<50).map { Product("\($0)", "CODE-\($0)", name: "0") })
    let reader = try #require(try CatalogReader.open(catalogue.location))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<60 {
            _ = try reader.refresh()
            let snapshot = try reader.snapshot()
            let names = Set(try (0..<50).map { try snapshot.match("code-\($0)x").products.map(\.name) })
            try #require(names == [[snapshot.cursor == "full" ? "0" : snapshot.cursor]])
            await Task.yield()
          }
        }
      }
      for round in 1...12 {
        let products = (0..<50).map { Product("\($0)", "CODE-\($0)", name: "\(round)") }
        if round % 5 == 0 {
          try catalogue.full(products, cursor: "\(round)")
        } else {
          try catalogue.increment(products, cursor: "\(round)")
        }
        if round % 4 == 0 { try catalogue.writer.compact() }
        await Task.yield()
      }
      try await group.waitForAll()
    }
  }

  @Test func `a reader moves on through increments, compactions and full updates`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111")])
    let reader = try #require(try CatalogReader.open(catalogue.location))
    #expect(try !reader.refresh())
    try catalogue.increment([Product("b", "2222")])
    #expect(try reader.snapshot().productCount == 1)
    #expect(try reader.refresh())
    #expect(try reader.snapshot().match("2222").kind == .exact)
    try catalogue.writer.compact()
    #expect(try reader.refresh())
    #expect(try reader.snapshot().generation == 2 && reader.snapshot().sequence == 2)
    try catalogue.full([Product("c", "3333")])
    #expect(try reader.refresh())
    #expect(try reader.snapshot().products == [Product("c", "3333")])
    #expect(try !reader.refresh())
  }
}

@Suite struct CatalogDigestTests {
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

@Suite struct CatalogStateTests {
  @Test func `random states come back, and random bytes never trap`() {
    var rows = RowGenerator("random states come back, and random bytes never trap")
    for _ in 0..<2000 {
      var state = CatalogState()
      state.cursor = rows.text()
      state.mode = rows.pick([.full, .incremental])
      state.counts.productsUpserted = rows.pick([0, 1, .max])
      state.counts.relationsIgnored = rows.pick([0, 7, .max])
      state.counts.defaulted = rows.pick([0, 9])
      #expect(CatalogState(state.encoded) == state)
      var bytes = state.encoded
      bytes[Int.random(in: 0..<bytes.count, using: &rows.random)] = UInt8(
        truncatingIfNeeded: rows.random.next())
      _ = CatalogState(bytes)
      if bytes.count > 50 {
        #expect(CatalogState(Array(bytes[..<Int.random(in: 1..<50, using: &rows.random)])) == nil)
      }
    }
    #expect(CatalogState([]) == CatalogState())
  }

  @Test func `a state of a newer program is refused and kept`() throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation(
      folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    let store = try StoreWriter(location, schema: CatalogSchema.schema)
    _ = try store.commit { $0.state = [9, 9, 9] }
    store.close()
    let writer = try CatalogWriter(location)
    #expect(throws: CatalogError.self) { try writer.snapshot() }
    #expect(throws: CatalogError.self) { try CatalogReader.open(location)?.snapshot() }
    #expect(throws: CatalogError.self) { try writer.beginFullUpdate(.open).commit(cursor: "t") }
    writer.close()
    #expect(try StoreReader.open(location)?.snapshot.state == [9, 9, 9])
  }
}

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
    let ordered = try snapshot.productOffsetsById().map { offset in
      try snapshot.withProduct(at: offset) { (view) throws(StoreError) in Array(view.id.string.utf8) }
    }
    #expect(ordered == ids.sorted { $0.lexicographicallyPrecedes($1) })
  }
}
