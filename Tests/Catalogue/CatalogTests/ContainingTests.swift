import CatalogRows
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// The products that an index finds for a text, next to those that a scan finds.
@Suite struct ContainingTests {
  private static func text(_ product: Product, _ field: ProductField) -> String {
    switch field {
    case .barcode: product.barcode
    case .brand: product.brand
    case .category: product.category
    case .skuCode: product.skuCode
    default: product.name
    }
  }

  private static func contains(_ text: String, _ part: String) -> Bool {
    let (text, part) = (Array(text.lowercased().utf8), Array(part.lowercased().utf8))
    if part.isEmpty { return true }
    guard text.count >= part.count else { return false }
    return (0...text.count - part.count).contains { Array(text[$0..<$0 + part.count]) == part }
  }

  /// The ids of products with a text, among the candidates; and the number of candidates.
  private func found(
    _ text: String, _ field: ProductField, in snapshot: CatalogSnapshot
  ) throws -> (ids: [String], candidates: Int) {
    var ids: [String] = []
    var candidates = 0
    try snapshot.forEachProduct(possiblyContaining: text, in: field) { (view) throws(StoreError) in
      let product = try snapshot.copy(view)
      candidates += 1
      if Self.contains(Self.text(product, field), text) { ids.append(product.id) }
    }
    return (ids, candidates)
  }

  private func scanned(_ text: String, _ field: ProductField, in snapshot: CatalogSnapshot) throws -> [String] {
    var ids: [String] = []
    try snapshot.forEachProduct { (view) throws(StoreError) in
      let product = try snapshot.copy(view)
      if Self.contains(Self.text(product, field), text) { ids.append(product.id) }
    }
    return ids
  }

  @Test func `an index finds what a scan finds, in the same order`() throws {
    var random = SeededGenerator(for: "ContainingTests")
    let pieces = [
      "KFR-35GW/N1", "kfr35", "drill", "Drill18V", "Bohr", "格力挂机", "ＡＢＣ", "\u{212A}elvin", "\u{130}stanbul", "straße",
      "café", "cafe\u{301}s", "a_b", "x\u{AD}yz", "123456", "0123", " ", "-", ".", "\u{0}", "㎏", "İi",
      String(repeating: "abcdefghij", count: 15),
    ]
    func text() -> String {
      (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
    var products: [Product] = []
    for number in 0..<150 {
      var product = Product("p\(number)", text().replacing("\u{0}", with: ""), name: text())
      (product.brand, product.category, product.skuCode) = (text(), text(), text())
      product.delFlag = number % 7 == 0 ? 1 : 0
      products.append(product)
    }
    let catalogue = try TestCatalogue(products)
    // Some rows are in the tail, and some in the base are dead.
    try catalogue.increment(
      products.prefix(40).map { product in
        var product = product
        product.name = text()
        return product
      })
    let snapshot = try catalogue.snapshot
    for _ in 0..<150 {
      let whole = Array((pieces.randomElement(using: &random) ?? "") + text())
      let start = Int.random(in: 0...whole.count, using: &random)
      let part = String(whole[start...].prefix(Int.random(in: 1...90, using: &random)))
      let wanted = Bool.random(using: &random) ? part.uppercased() : part
      for field in [ProductField.name, .brand, .skuCode, .barcode, .category] {
        let (ids, _) = try found(wanted, field, in: snapshot)
        #expect(try ids == scanned(wanted, field, in: snapshot), "\(field): \(wanted.debugDescription)")
      }
    }
  }

  @Test func `a text with three letters or digits in a row reads few products, any other one all`() throws {
    let products = (0..<200).map { Product("p\($0)", "69012345\($0 + 1000)", name: "lamp no\($0 + 1000)") }
    let snapshot = try TestCatalogue(products).snapshot
    for (text, field, count) in [
      ("1042", ProductField.name, 1), ("NO10", .name, 100), ("amp", .name, 200), ("zzz", .name, 0),
      ("no", .name, 200), ("- -", .name, 200), ("", .name, 200), ("51042", .barcode, 1), ("51042", .category, 200),
    ] {
      #expect(try found(text, field, in: snapshot).candidates == count, "\(text) in \(field)")
    }
    #expect(try found("x", .name, in: .empty).candidates == 0)
  }

  @Test func `barcodes that are longer than the keys of the index are found by a scan`() throws {
    let long = String(repeating: "7", count: 300) + "999"
    let snapshot = try TestCatalogue([Product("long", long), Product("short", "77")]).snapshot
    #expect(try found("7999", .barcode, in: snapshot).ids == ["long"])
  }

  @Test func `without an index all products are read`() throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation.test(folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    let writer = try CatalogWriter(location, indexes: .none)
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    try update.take([Product("a", "1", name: "lamp"), Product("b", "2", name: "fan")], [])
    _ = try update.commit(cursor: "x")
    let found = try self.found("lamp", .name, in: writer.snapshot())
    #expect(found.ids == ["a"] && found.candidates == 2)
  }
}
