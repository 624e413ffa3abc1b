import Testing

@testable import Catalog
import CatalogTestSupport

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
    #expect(try !catalogue.writer.compactIfDue())
    var product = Product("a", "1111")
    product.name = String(repeating: "n", count: 500_000)
    var compactions = 0
    for number in 0..<24 {
      product.skuCode = "\(number)"
      try catalogue.increment([product], [Relation("a", "b")])
      if try catalogue.writer.compactIfDue() { compactions += 1 }
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
