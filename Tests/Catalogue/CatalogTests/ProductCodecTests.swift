import Bytes
import CatalogRows
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing
@testable import Catalog
import CatalogTestSupport

@Suite struct ProductTests {
  @Test func `a fresh product and a fresh row hold the same defaults`() {
    #expect(Product(ProductRow()) == Product())
    var row = ProductRow()
    Product("x", "1").fill(&row)
    Product().fill(&row)
    #expect(Product(row) == Product())
  }

  @Test func `every field of random products comes back from a row`() throws {
    var rows = RowGenerator("every field of random products comes back from a row")
    var row = ProductRow()
    for _ in 0..<500 * depth {
      let product = rows.product()
      product.fill(&row)
      try expectSame(Product(row), product)
    }
  }

  @Test func `a product without anything comes back from the store`() throws {
    let catalogue = try TestCatalogue([Product()])
    #expect(try catalogue.snapshot.products == [Product()])
    #expect(try catalogue.snapshot.product(id: "") == Product())
  }

  @Test func `every field of random products comes back from the store`() throws {
    var rows = RowGenerator("every field of random products comes back from the store")
    var products: [[UInt8]: Product] = [:]
    for _ in 0..<600 * depth {
      let product = rows.product()
      products[Array(product.id.utf8)] = product
    }
    let list = products.values.sorted { $0.id.isBytewiseLess(than: $1.id) }
    let half = list.count / 2
    let catalogue = try TestCatalogue(Array(list[..<half]))
    var later = Array(list[half...])
    for index in later.indices { later[index].delFlag = 0 }
    try catalogue.increment(later)
    let expected = list[..<half] + later
    for pass in 0..<3 {
      let snapshot = try catalogue.snapshot
      let stored = try snapshot.products
      try #require(stored.count == expected.count)
      for (product, wanted) in zip(stored, expected) { try expectSame(product, wanted) }
      var row = ProductRow()
      for (id, wanted) in zip(try snapshot.productRowsByID(), expected) {
        #expect(try snapshot.copy(id, to: &row) && row.givenFields == ProductRow.allFields)
        try expectSame(Product(row), wanted)
      }
      for wanted in expected {
        try expectSame(#require(try snapshot.product(id: wanted.id)), wanted)
        let id = Array(wanted.id.utf8)
        let fields = try snapshot.withProduct(id: id.span) { (view) throws(StoreError) in
          try Self.fields(of: view)
        }
        try expectSame(#require(fields), wanted)
        #expect(try hasSameContent(snapshot, wanted))
      }
      if pass == 0 { try catalogue.writer.compact() } else { try catalogue.reopen() }
    }
  }

  @Test func `each field alone comes back from the store`() throws {
    var products: [Product] = []
    func add(_ change: (inout Product) -> Void) {
      var product = Product("\(products.count)")
      change(&product)
      products.append(product)
    }
    let texts: [WritableKeyPath<Product, String>] = [
      \.barcode, \.brand, \.brandId, \.category, \.createBy, \.createTime, \.name, \.orgId, \.skuCode, \.unit,
      \.updateBy, \.updateTime,
    ]
    for path in texts {
      for text in ["a", "A", " a ", "2023-02-01 01:15:03", String(repeating: "é", count: 5000)] {
        add { $0[keyPath: path] = text }
      }
    }
    for path in [\Product.categoryId, \.delFlag, \.groupNum] {
      for integer in [0, 1, 2, -1, .max, .min, 1 << 31, -(1 << 31), 1 << 31 - 1] as [Int64] {
        add { $0[keyPath: path] = integer }
      }
    }
    for path in [\Product.length, \.tall, \.volume, \.weight, \.wide] {
      for double in [-0.0, 0.5, 1e308, .infinity, -.infinity, .nan, .leastNonzeroMagnitude] {
        add { $0[keyPath: path] = double }
      }
    }
    for path in [\Product.isGreeProduct, \.isGroupedProduct, \.isMarketingProduct, \.isSaleProduct] {
      add { $0[keyPath: path] = true }
    }
    let catalogue = try TestCatalogue(products)
    let snapshot = try catalogue.snapshot
    for wanted in products {
      try expectSame(#require(try snapshot.product(id: wanted.id)), wanted)
      let (same, other) = (try hasSameContent(snapshot, wanted), Product(wanted.id))
      let isOther = wanted != other || wanted.doubleBits != other.doubleBits
      #expect(try same && hasSameContent(snapshot, other) == !isOther, "\(wanted)")
    }
  }

  /// Whether the store's product has the content of `product`, which has the same id.
  private func hasSameContent(_ snapshot: CatalogSnapshot, _ product: Product) throws -> Bool {
    var row = ProductRow()
    product.fill(&row)
    let id = Array(product.id.utf8)
    return try snapshot.withProduct(id: id.span) { (view) throws(StoreError) in
      try view.hasSameContent(as: row)
    } == true
  }

  /// Reads a view field by field, last fields first: no field depends on one that was read before.
  private static func fields(of view: borrowing ProductView) throws(StoreError) -> Product {
    var product = Product()
    product.wide = view.wide
    product.extra = try view.checkedExtra()
    product.weight = view.weight
    product.volume = view.volume
    product.updateTime = view.updateTime
    product.updateBy = try view.updateBy
    product.unit = try view.unit
    product.tall = view.tall
    product.skuCode = view.skuCode
    product.orgId = try view.orgId
    product.name = view.name
    product.length = view.length
    product.isSaleProduct = view.isSaleProduct
    product.isMarketingProduct = view.isMarketingProduct
    product.isGroupedProduct = view.isGroupedProduct
    product.isGreeProduct = view.isGreeProduct
    product.id = view.id
    product.groupNum = view.groupNum
    product.delFlag = view.delFlag
    product.createTime = view.createTime
    product.createBy = try view.createBy
    product.categoryId = view.categoryId
    product.category = try view.category
    product.brandId = try view.brandId
    product.brand = try view.brand
    product.barcode = view.barcode
    return product
  }
}

/// Records that a program wrote nonsense into, with right checksums: nothing traps.
@Suite struct ProductViewFuzz {
  @Test func `a body of any bytes is an error that names the product, or a product`() throws {
    var rows = RowGenerator("a body of any bytes is an error that names the product, or a product")
    let folder = try TemporaryDirectory()
    let location = StoreLocation.test(
      folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    let writer = try StoreWriter(location, schema: CatalogSchema.schema)
    let count = 3000 * depth
    let snapshot = try writer.replace { transaction in
      for number in 0..<count {
        var draft = RecordDraft()
        draft.addKey(Array("\(number)".utf8).rawSpan)
        draft.addKey(Array("6901234567892".utf8).rawSpan)
        for _ in 0..<Int.random(in: 0..<4, using: &rows.random) {
          draft.addShared(try transaction.share(rows.random.bytes(3).rawSpan))
        }
        draft.body = rows.random.bytes(
          Int.random(in: 0..<[5, 20, 60, 200].randomElement(using: &rows.random)!))
        try transaction.put(CatalogSchema.products, draft)
      }
      var draft = RecordDraft()
      draft.addKey([0x01 as UInt8].rawSpan)
      draft.addKey([0xFF as UInt8].rawSpan)
      draft.body = [1, 2, 3]
      try transaction.put(CatalogSchema.relations, draft)
    }
    #expect(snapshot.rowCount(CatalogSchema.products) == count)
    writer.close()
    let catalogue = try #require(try CatalogReader.open(location)).snapshot()
    var right = 0
    for number in 0..<count {
      do {
        let product = try #require(try catalogue.product(id: "\(number)"))
        #expect(product.id == "\(number)")
        right += 1
      } catch StoreError.damaged(_, _, let what) {
        #expect(what.hasPrefix("product \(number): "))
      }
    }
    print("ProductViewFuzz: \(right) of \(count) bodies are products")
    #expect(try catalogue.verify().count >= count - right + 1)
    #expect(throws: StoreError.self) { _ = try catalogue.relations }
    // Fields one by one, which trust the body.
    try catalogue.forEachProduct { (view) throws(StoreError) in
      _ = (view.name, view.barcode, view.skuCode, view.createTime, view.updateTime)
      _ = (view.categoryId, view.groupNum, view.delFlag, view.length, view.wide)
    }
    _ = try CatalogDigest(.empty)
  }
}

@Suite struct RelationTests {
  @Test func `every field of random relations comes back from the store`() throws {
    var rows = RowGenerator("every field of random relations comes back from the store")
    var relations: [Relation] = []
    for _ in 0..<400 * depth { relations.append(rows.relation()) }
    relations.append(Relation())
    let catalogue = try TestCatalogue([], relations)
    let expected = relations.sorted(by: Relation.precedes)
    let snapshot = try catalogue.snapshot
    let stored = try snapshot.relations
    #expect(stored.map(\.textBytes) == expected.map(\.textBytes))
    #expect(Set(stored) == Set(expected))
    for relation in relations.suffix(60) {
      #expect(try snapshot.relations(ofSet: relation.productId).contains(relation))
      #expect(try snapshot.relations(ofComponent: relation.subProductId).contains(relation))
    }
  }

  @Test func `the order of relations is that of bytes, also where texts look the same`() {
    let composed = Relation("\u{E9}", "a")
    let decomposed = Relation("e\u{301}", "b")
    let between = Relation("z", "")
    #expect(Relation.precedes(decomposed, between))
    #expect(Relation.precedes(between, composed))
    #expect(Relation.precedes(decomposed, composed))
    #expect(!Relation.precedes(composed, decomposed))
  }
}

/// Compares byte by byte and bit by bit.
func expectSame(_ a: Product, _ b: Product, sourceLocation: SourceLocation = #_sourceLocation) throws {
  try #require(a.textBytes == b.textBytes, sourceLocation: sourceLocation)
  try #require(a.doubleBits == b.doubleBits, sourceLocation: sourceLocation)
  var (x, y) = (a, b)
  for path in [\Product.length, \.tall, \.volume, \.weight, \.wide] {
    x[keyPath: path] = 0
    y[keyPath: path] = 0
  }
  try #require(x == y, sourceLocation: sourceLocation)
}
