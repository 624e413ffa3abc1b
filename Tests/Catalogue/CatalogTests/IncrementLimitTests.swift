import CatalogRows
import LogStore
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What an increment keeps, and what it refuses to keep.
@Suite struct IncrementLimitTests {
  @Test func `rows that are kept come back as they were`() {
    var generator = RowGenerator("kept rows")
    var kept = (products: RowBuffer(), relations: RowBuffer())
    var rows = (products: [Product()], relations: [Relation()])
    for _ in 0..<500 {
      rows.products.append(generator.product())
      rows.relations.append(generator.relation())
    }
    var productRow = ProductRow()
    for product in rows.products {
      product.fill(&productRow)
      kept.products.append(productRow)
    }
    var relationRow = RelationRow()
    for relation in rows.relations {
      relation.fill(&relationRow)
      kept.relations.append(relationRow)
    }
    #expect(kept.products.count == 501 && kept.products.byteCount > 2 << 20, "several pieces")
    var count = 0
    kept.products.forEachProduct { index, row in
      #expect(index == count && Product(row).isSame(as: rows.products[index]))
      count += 1
    }
    #expect(count == 501)
    var relations: [Relation] = []
    kept.relations.forEachRelation { relations.append(Relation($0)) }
    #expect(relations == rows.relations)
  }

  @Test func `rows and bytes at the limit are taken, and what is more asks for a full update`() throws {
    let catalogue = try TestCatalogue([Product("a")])
    func increment(rows: Int, bytes: Int, _ products: [Product], _ relations: [Relation]) throws {
      var increment = catalogue.writer.beginIncrement()
      increment.rowLimit = rows
      increment.byteLimit = bytes
      do { try increment.take(products, relations) } catch {
        // Whoever caught the error cannot commit the rest.
        #expect(throws: CatalogError.self) { try increment.commit(cursor: "no") }
        throw error
      }
      _ = try increment.commit(cursor: "yes")
    }
    let products = [Product("x"), Product("y")]
    try increment(rows: 3, bytes: 1000, products, [Relation("x", "a")])
    for (rows, bytes) in [(2, 1000), (3, 50)] {
      let error = #expect(throws: CatalogError.self) {
        try increment(rows: rows, bytes: bytes, products, [Relation("x", "a")])
      }
      guard case .incrementTooLarge(rows, bytes)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect("\(error!)".contains("--full"))
    }
    #expect(try catalogue.snapshot.sequence == 2 && catalogue.snapshot.cursor == "yes")
  }

  static let tooLong: [(products: [Product], relations: [Relation])] = {
    let key = String(repeating: "k", count: 65_535)
    let record = String(repeating: "n", count: 1 << 24)
    var branded = Product("b")
    branded.brand = record
    var organised = Relation("b", "c")
    organised.orgId = record
    return [
      ([Product(key, "1")], []), ([Product("b", name: record)], []), ([branded], []), ([], [Relation(key, "c")]),
      ([], [organised]), ([], [Relation("b", "c", id: record)]),
    ]
  }()

  @Test(arguments: tooLong.indices)
  func `a row that has no room is refused when it comes, not when it is written`(index: Int) throws {
    let catalogue = try TestCatalogue([Product("a")])
    var increment = catalogue.writer.beginIncrement()
    let (products, relations) = Self.tooLong[index]
    let error = #expect(throws: StoreError.self) { try increment.take(products, relations) }
    guard case .tooLarge? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(throws: StoreError.self) { try increment.commit(cursor: "no") }
    // What a full update has no room for is the same.
    #expect(throws: StoreError.self) { try catalogue.full(products, relations) }
    #expect(try catalogue.snapshot.sequence == 1)
  }

  @Test func `a row that just fits is taken`() throws {
    let catalogue = try TestCatalogue([Product("a")])
    let key = String(repeating: "k", count: 65_534)
    try catalogue.increment([Product(key, "1", name: key)], [Relation("a", String(repeating: "k", count: 65_534))])
    #expect(try catalogue.snapshot.product(id: key)?.name == key)
  }

  @Test func `many rows without an id take time in their number, and one of them stays`() throws {
    func seconds(_ count: Int) throws -> Double {
      let catalogue = try TestCatalogue()
      let row = ProductRow()
      let relation = RelationRow()
      let start = ContinuousClock.now
      var update = try catalogue.writer.beginFullUpdate()
      for _ in 0..<count {
        try update.product(row)
        try update.relation(relation)
      }
      _ = try update.commit(cursor: "t")
      let time = (ContinuousClock.now - start) / .seconds(1)
      #expect(try catalogue.snapshot.productCount == 1)
      #expect(try catalogue.snapshot.relationCount == count)
      return time
    }
    let few = try seconds(5_000 * depth)
    // Sixteen times for what grows with the square.
    #expect(try seconds(20_000 * depth) < 12 * few + 1)
  }
}

extension Product {
  /// Equality of bits, also where a number is none.
  fileprivate func isSame(as other: Product) -> Bool {
    var rows = (ProductRow(), ProductRow())
    fill(&rows.0)
    other.fill(&rows.1)
    return ProductField.allCases.allSatisfy { field in
      switch field.slot {
      case .text(let slot): rows.0.texts.string(slot).utf8.elementsEqual(rows.1.texts.string(slot).utf8)
      case .integer(let slot): rows.0.integers[slot] == rows.1.integers[slot]
      case .flag(let slot): (rows.0.flags ^ rows.1.flags) >> UInt32(slot) & 1 == 0
      case .double(let slot): rows.0.doubles[slot].bitPattern == rows.1.doubles[slot].bitPattern
      }
    }
  }
}
