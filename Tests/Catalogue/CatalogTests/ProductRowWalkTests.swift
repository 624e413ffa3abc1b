import CatalogRows
import LogStore
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct ProductRowWalkTests {
  private func rows(
    _ snapshot: CatalogSnapshot, _ filter: ProductFilter, _ order: ProductTableOrder, _ walkLimit: Int, step: Int
  ) throws -> [UInt32] {
    var walk = try ProductRowWalk(snapshot, filter, order, walkLimit: walkLimit)
    var rows: [UInt32] = []
    while try walk.appendRows(lookingAt: step, to: &rows) {
      if let count = walk.count { #expect(count >= rows.count) }
    }
    if let count = walk.count { #expect(count == rows.count) }
    return rows
  }

  @Test func `rows are the same whether they are read in order, or tested in the order of the file first`() throws {
    var random = SeededGenerator(for: "ProductRowWalkTests")
    let products = (0..<3000).map { number -> Product in
      var product = Product()
      product.id = "\(Int.random(in: 0..<1_000_000, using: &random))"
      product.name = "name \(number % 7)"
      product.brand = number % 5 == 0 ? "few" : "most"
      product.weight = Double(number % 11)
      return product
    }
    let catalogue = try TestCatalogue(products)
    // A tail, with rows that take the place of others.
    try catalogue.increment(
      (0..<300).map { number -> Product in
        var product = products[number * 10]
        product.weight = 5
        product.brand = number % 2 == 0 ? "Most" : "other"
        return product
      })
    let snapshot = try catalogue.snapshot
    var filters: [ProductFilter] = []
    var brand = ProductFilter()
    brand.brand = "most"
    filters.append(brand)
    var condition = ProductFilter()
    condition.condition = try snapshot.products(where: "weight = 5 && name != 'name 3'")
    filters.append(condition)
    var none = ProductFilter()
    none.condition = try snapshot.products(where: "name = 'nobody'")
    filters.append(none)
    for filter in filters {
      for order in [ProductTableOrder(.id), ProductTableOrder(.brand, isDescending: true)] {
        let step = Int.random(in: 1..<400, using: &random)
        let walked = try rows(snapshot, filter, order, .max, step: step)
        for limit in [0, 1, 100, 1000] {
          #expect(try rows(snapshot, filter, order, limit, step: step) == walked, "limit \(limit), steps of \(step)")
        }
      }
    }
    #expect(try rows(snapshot, filters[1], ProductTableOrder(.id), .max, step: 100).count > 300)
  }

  @Test func `parts that several threads test give the rows and the counts that one would`() throws {
    var random = SeededGenerator(for: "ProductRowWalkTests")
    // Some parts of 8192 products.
    let products = (0..<40_000).map { number -> Product in
      var product = Product()
      product.id = "\(Int.random(in: 0..<1_000_000, using: &random))-\(number)"
      product.brand = ["one", "ONE", "two", ""][number * 4 / 40_000]
      product.weight = Double(number % 11)
      product.delFlag = number % 13 == 0 ? 1 : 0
      return product
    }
    let catalogue = try TestCatalogue(products)
    let snapshot = try catalogue.snapshot
    var filter = ProductFilter()
    filter.condition = try snapshot.products(where: "weight > 7")
    let passing = products.filter { $0.weight > 7 }
    func ids(_ order: ProductTableOrder, _ walkLimit: Int) throws -> [String?] {
      try rows(snapshot, filter, order, walkLimit, step: 8192).map { number in
        try snapshot.withProduct(RowID(number: UInt64(number))) { $0.id }
      }
    }
    let expected = passing.map(\.id).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(try ids(ProductTableOrder(.id), 0) == expected)
    // Without an index, rows are collected in the order of the file and sorted.
    let byWeight = try ids(ProductTableOrder(.weight), 0)
    #expect(byWeight == [8, 9, 10].flatMap { weight in passing.filter { $0.weight == weight }.map(\.id) })

    for (field, values) in [
      (
        ProductQueryField.brand,
        ["one": passing.count { $0.brand.lowercased() == "one" }, "two": passing.count { $0.brand == "two" }]
      ),
      (.delFlag, ["0": passing.count { $0.delFlag == 0 }, "1": passing.count { $0.delFlag == 1 }]),
    ] {
      let found = try #require(try snapshot.facets(of: field, filter) { false })
      var counts = Dictionary(found.map { ($0.value ?? "none", $0.count) }, uniquingKeysWith: +)
      if field == .brand { #expect(counts.removeValue(forKey: "") == passing.count { $0.brand == "" }) }
      #expect(counts == values)
      #expect(found.map(\.count) == found.map(\.count).sorted(by: >))
    }
    var calls = 0
    let stopped = try snapshot.facets(of: .delFlag, filter) {
      calls += 1
      return true
    }
    #expect(stopped == nil && calls == 1)
  }
}
