import LogStore
import RandomTestSupport
import Testing

@testable import Catalog

@Suite struct ProductRowWalkTests {
  private func rows(
    _ snapshot: CatalogSnapshot, _ filter: ProductFilter, _ order: ProductTableOrder, _ walkLimit: Int, step: Int
  ) throws -> [UInt32] {
    var walk = try ProductRowWalk(snapshot, filter, order, walkLimit: walkLimit)
    var rows: [UInt32] = []
    while try walk.appendRows(lookingAt: step, to: &rows) {}
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
}
