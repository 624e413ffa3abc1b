import Barcodes
import CatalogRows
import CatalogTestSupport
import RandomTestSupport
import Sealing
import StoreTestSupport
import Testing

@testable import Catalog
@testable import LogStore

/// A program may hold one snapshot of a sealed catalogue for days: what answers scans keeps nothing of them.
@Suite struct SealedSnapshotTests {
  @Test func `a hundred thousand answers leave nothing in a snapshot`() throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation(folder.directory, name: "catalog").opening(with: testKey, sealsNew: true)
    let writer = try CatalogWriter(location)
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    let products = (0..<300).map { number in
      var product = Product()
      product.id = "p\(number)"
      product.barcode = number % 3 == 0 ? "69012345\(10_000 + number)" : "code-\(number)"
      product.name = "name \(number) of a thing"
      product.brand = "brand \(number % 20)"
      product.skuCode = "sku-\(number)"
      return product
    }
    let relations = (0..<100).map { number in
      var relation = Relation()
      relation.id = "r\(number)"
      relation.productId = "p\(number)"
      relation.subProductId = "p\(number + 100)"
      return relation
    }
    let codes = (0..<100).map { number in
      var code = ProductCode()
      code.id = "c\(number)"
      code.productId = "p\(number)"
      code.code = "case-\(number)"
      return code
    }
    try update.take(products, relations, codes)
    _ = try update.commit(cursor: "now")
    let catalogue = try writer.snapshot()
    let kept = try #require(catalogue.store?.openedObjects)

    /// Calls `body` for each product, and checks what is kept then.
    func check(_ what: String, _ rounds: Int = 1, _ body: (Int) throws -> Void) throws {
      let before = kept.count
      for _ in 0..<rounds { for number in 0..<300 { try body(number) } }
      #expect(kept.count - before <= 16, "\(what): \(kept.count - before)")
    }
    try check("match", 20 * depth) { _ = try catalogue.match(products[$0].barcode) }
    try check("match of nothing") { _ = try catalogue.match("nothing-\($0)") }
    try check("match of a head") { _ = try catalogue.match(products[$0].barcode + "12345") }
    try check("match of a further code") { _ = try catalogue.match("case-\($0)") }
    try check("product by id") { _ = try catalogue.product(id: "p\($0)") }
    try check("product by barcode") { _ = try catalogue.product(barcode: products[$0].barcode) }
    try check("products by barcode") { _ = try catalogue.products(barcode: products[$0].barcode) }
    try check("products by SKU") { _ = try catalogue.products(skuCode: "sku-\($0)") }
    try check("closure by id") { number in
      let name = try catalogue.withProduct(id: "p\(number)") { (view) throws(StoreError) in try Product(view).name }
      #expect(name == products[number].name)
    }
    try check("closure by barcode") { number in
      let name = try catalogue.withProduct(barcode: products[number].barcode) { (view) throws(StoreError) in
        try Product(view).name
      }
      #expect(name == products[number].name)
    }
    try check("contains") { _ = try catalogue.containsProduct(id: "p\($0)") }
    try check("contains a barcode") { _ = try catalogue.containsProduct(barcode: products[$0].barcode) }
    try check("components") { _ = try catalogue.components(of: "p\($0)") }
    try check("sets") { _ = try catalogue.sets(with: "p\($0)") }
    try check("codes") { _ = try catalogue.codes(ofProduct: "p\($0)") }
    try check("complete") { _ = try catalogue.complete([products[$0].barcode]) }
    for _ in 0..<3 {
      try check("search") { number in
        if number < 20 { _ = try catalogue.search("name \(number)") }
      }
      try check("query") { number in
        if number < 10 { _ = try catalogue.products(where: "brand == 'brand \(number)'").order(by: "name").fetch() }
      }
      try check("order") { number in
        if number < 10 { _ = try catalogue.products(barcodePrefix: "code-\(number)", limit: 20) }
      }
      try check("everything") { number in
        guard number < 2 else { return }
        try catalogue.forEachProduct { (view) throws(StoreError) in _ = try Product(view) }
        try catalogue.forEachRelation { (_) throws(StoreError) in }
        try catalogue.forEachCode { (_) throws(StoreError) in }
        _ = try catalogue.verify()
        _ = try catalogue.entries()
        _ = try catalogue.setStatistics()
        _ = try CatalogDigest(catalogue)
        _ = try catalogue.productRowsByID()
      }
    }
  }
}
