import CatalogRows
import DocumentFormat
import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct ProductQueryTests {
  /// Five products; `e` was sent as deleted.
  private static let products: [Product] = {
    var products: [Product] = []
    func add(_ id: String, _ barcode: String, _ name: String, _ change: (inout Product) -> Void) {
      var product = Product(id, barcode, name: name)
      product.brand = "GREE"
      change(&product)
      products.append(product)
    }
    add("a", "6901", "Lamp") { product in
      product.weight = 11.5
      product.isSaleProduct = true
      product.updateTime = "2026-01-31 12:00:00"
    }
    add("b", "6902", "lamp shade") { product in
      product.weight = 0.25
      product.isSaleProduct = true
      product.groupNum = 12
      product.updateTime = "yesterday"
    }
    add("c", "6902", "空调") { product in
      product.weight = 40
      product.brand = ""
      product.categoryId = 9_007_199_254_740_993
    }
    add("d", "", "Fan") { product in
      product.isMarketingProduct = true
      product.brand = "格力"
      product.createTime = "2025-12-31 23:59:59"
    }
    add("e", "  ", "Old lamp") { product in
      product.weight = 12
      product.isSaleProduct = true
      product.delFlag = 1
    }
    return products
  }()

  private let catalogue: TestCatalogue
  private let snapshot: CatalogSnapshot

  init() throws {
    catalogue = try TestCatalogue(Self.products)
    snapshot = try catalogue.snapshot
  }

  private func ids(_ query: ProductQuery) throws -> String { try query.fetch().map(\.id).joined() }

  @Test(arguments: [
    ("isSaleProduct", "abe"), ("!isSaleProduct", "cd"), ("weight > 10 && isSaleProduct", "ae"),
    ("weight > 10 && isSaleProduct && delFlag == 0", "a"), ("isSaleProduct == false", "cd"),
    ("isMarketingProduct || !isSaleProduct && weight >= 40.0", "cd"), ("weight == 0", "d"),
    ("weight in [12, 0.25]", "be"),
    ("categoryId == 9007199254740993", "c"), ("categoryId == 9007199254740992.0", ""), ("groupNum != 1", "b"),
    ("weight > nan", "abcde"), ("weight < inf && delFlag = 1", "e"), ("name == 'Lamp'", "a"), ("name < 'M'", "ad"),
    ("name like '%lamp%'", "be"), ("name like '%LAMP%' nocase", "abe"), ("name like '空_'", "c"),
    ("name contains 'amp'", "abe"), ("name hasprefix 'l' nocase", "ab"), ("brand == ''", "c"),
    ("brand hasprefix '格'", "d"),
    ("brand in ['格力', '']", "cd"), ("updateTime > '2026'", "ab"),
    ("updateTime >= '2026-01-31 12:00:00' && id == 'a'", "a"),
    ("updateTime like '____-01-%'", "a"), ("createTime < '2026' && createTime != ''", "d"), ("true", "abcde"),
    ("false", ""), ("name is null", ""), ("name is not null", "abcde"), ("weight == null || weight <= null", ""),
    ("weight in [null, 40]", "c"), ("weight in []", ""), ("barcode == '  '", "e"), ("barcode == ''", "d"),
    ("barcode in ['6902', '']", "bcd"), ("barcode == '6902' && weight > 1", "c"), ("id in ['e', 'a', 'a', 'x']", "ae"),
    ("id == 'a' || barcode == '6902'", "abc"), ("id == 'a' && barcode == '6902'", ""), ("id == ''", ""),
  ])
  func `a condition finds the products that meet it, in the order of the file`(text: String, found: String) throws {
    let query = try snapshot.products(where: text)
    #expect(try ids(query) == found)
    #expect(try query.count() == found.count)
    #expect(try query.first()?.id == found.first.map { String($0) })
    // The same from a condition without a text.
    #expect(try ids(snapshot.products(where: Condition(parsing: text))) == found)
  }

  @Test(arguments: [
    ("wieght > 10", 1, "no product has a field 'wieght'; did you mean 'weight'?"),
    ("isSaleProduct && Name == 'x'", 18, "did you mean 'name'?"), ("issaleproduct", 1, "did you mean 'isSaleProduct'?"),
    ("colour == 'red'", 1, "no product has a field 'colour'. The fields are barcode, brand, brandId,"),
    ("name == 'x' || (a.b is null)", 17, "no product has a field 'a.b'"),
    ("id == 'x' && nmae in ['x']", 14, "did you mean 'name'?"), ("nam like 'x'", 1, "did you mean 'name'?"),
    ("nam contains 'x'", 1, "did you mean 'name'?"), ("nam hasprefix 'x'", 1, "did you mean 'name'?"),
  ])
  func `a field that no product has is an error with its column and a suggestion`(
    text: String, column: Int, message: String
  ) throws {
    let error = try #require(throws: ProductQueryError.self) { try snapshot.products(where: text) }
    #expect(error.column == column)
    #expect("\(error)".hasPrefix("column \(column): ") && "\(error)".contains(message), "\(error)")
    let same = try #require(throws: ProductQueryError.self) { try snapshot.products(where: Condition(parsing: text)) }
    #expect(same.column == nil && "\(error)" == "column \(column): \(same)")
  }

  @Test(arguments: [
    ("weight == 'x'", 11, "weight is a number; compare it with a number, not with 'x'"),
    ("id == 'a' && weight != 'x'", 24, "weight is a number"),
    ("name > 5", 8, "name is a text; compare it with a text, not with 5"),
    ("name in ['a', 5, 'b']", 15, "not with 5"), ("weight in [1, true]", 15, "not with true"),
    ("isSaleProduct == 1", 18, "isSaleProduct is true or false; compare it with one of these, not with 1"),
    ("isSaleProduct == 'true'", 18, "not with 'true'"),
    ("weight", 1, "which alone is no condition; compare it, as in weight > 0"),
    ("isSaleProduct && !name", 19, "compare it, as in name != ''"), ("name == true", 9, "not with true"),
    ("weight like '1%'", 1, "weight is a number, and like is for texts"),
    ("isSaleProduct hasprefix 't'", 1, "isSaleProduct is true or false, and hasprefix is for texts"),
    ("weight contains 1", 1, "contains is for texts"), ("name contains 1", 15, "contains needs a text, not 1"),
    ("createTime > date('2026-01-31')", 14, "a time is a text such as '2026-01-31 12:00:00'"),
    ("name == bytes('AQ==')", 9, "not with bytes('AQ==')"),
  ])
  func `a comparison that can never hold is an error with the kind of the field`(
    text: String, column: Int, message: String
  ) throws {
    let error = try #require(throws: ProductQueryError.self) { try snapshot.products(where: text) }
    #expect(error.column == column, "\(error)")
    #expect("\(error)".hasPrefix("column \(column): ") && "\(error)".contains(message), "\(error)")
    #expect(throws: ProductQueryError.self) { try snapshot.products(where: Condition(parsing: text)) }
  }

  @Test func `arrays and objects are constants of no field`() throws {
    let name = try FieldPath(parsing: "name")
    for constant in [DocumentValue.array([.text("Lamp")]), .object([])] {
      #expect(throws: ProductQueryError.self) {
        try snapshot.products(where: .compare(name, .equal, constant))
      }
      #expect(throws: ProductQueryError.self) {
        try snapshot.products(where: .contains(name, constant, ignoringCase: false))
      }
    }
  }

  @Test func `an error of syntax keeps its column, and a long name is cut`() throws {
    let error = try #require(throws: ProductQueryError.self) { try snapshot.products(where: "weight > ") }
    #expect(error == .syntax(QuerySyntaxError(column: 10, expected: error.expected, found: "the end")))
    let long = String(repeating: "x", count: 100_000)
    for text in [long, "name == 'a' && \(long) == 1", "weight == '\(long)'"] {
      let error = try #require(throws: ProductQueryError.self) { try snapshot.products(where: text) }
      #expect("\(error)".utf8.count < 700)
    }
  }

  // MARK: Plans

  @Test(arguments: [
    ("id == 'a'", "index on id (1 key)", 1), ("id in ['a', 'b', 'a', 'x']", "index on id (3 keys)", 2),
    ("barcode == '6902'", "index on barcode (1 key)", 2),
    ("barcode in ['6901', '6902']", "index on barcode (2 keys)", 3),
    ("id == 'a' || barcode in ['6901', '6902']", "index on id (1 key) and index on barcode (2 keys)", 3),
    ("weight > 1 && id in ['a', 'b'] && barcode == '6901'", "index on barcode (1 key)", 1),
    ("id == 'a' && weight > 1 && isSaleProduct", "index on id (1 key)", 1),
    ("id == 'a' || weight > 1", "scan all products", 5), ("!(id == 'a')", "scan all products", 5),
    ("id != 'a'", "scan all products", 5), ("id > 'a'", "scan all products", 5),
    ("barcode == ' '", "scan all products", 5),
    ("barcode in ['6901', '']", "scan all products", 5), ("name == 'Lamp'", "scan all products", 5),
    ("id in []", "nothing: no product can match", 0), ("name is null", "nothing: no product can match", 0),
    ("weight > 1 && id == null", "nothing: no product can match", 0), ("false", "nothing: no product can match", 0),
    ("id in [null, 'c']", "index on id (1 key)", 1),
  ])
  func `equality on id and barcode is looked up, everything else is a scan`(
    text: String, plan: String, reads: Int
  ) throws {
    let query = try snapshot.products(where: text)
    #expect(try query.plan.description == plan)
    var read = 0
    try query.forEach(countingInto: &read) { _ in true }
    #expect(read == reads)
  }

  /// Two hundred products: brands of ten, times that grow with the number, barcodes that begin with it.
  private static func shelf() throws -> CatalogSnapshot {
    let products = (100..<300).map { number in
      var product = Product("p\(number)", "\(number)0001")
      product.brand = "Brand \(number / 10)"
      product.updateTime = "2026-01-01 00:\(number / 60):\(10 + number % 50)"
      return product
    }
    return try TestCatalogue(products).snapshot
  }

  @Test(arguments: [
    ("brand == 'Brand 12'", "", "ordered index on brand (at most 10 products)", 10, 10),
    ("brand == 'BRAND 12'", "", "ordered index on brand (at most 10 products)", 10, 0),
    ("brand in ['Brand 12', 'Brand 13', 'x', null]", "", "ordered index on brand (at most 20 products)", 20, 20),
    ("barcode hasprefix '12'", "", "ordered index on barcode (at most 10 products)", 10, 10),
    ("barcode hasprefix '12' nocase && weight == 0", "", "ordered index on barcode (at most 10 products)", 10, 10),
    ("id >= 'p290' && weight == 0", "", "ordered index on id (at most 10 products)", 10, 10),
    ("id > 'p290' && id <= 'p292'", "", "ordered index on id (at most 2 products)", 2, 2),
    ("id > 'p292' && id < 'p200'", "", "ordered index on id (at most 0 products)", 0, 0),
    ("id hasprefix 'p12'", "", "ordered index on id (at most 10 products)", 10, 10),
    ("id hasprefix 'p12' && brand == 'Brand 12'", "name", "ordered index on id (at most 10 products)", 10, 10),
    ("id hasprefix 'P12' nocase", "", "scan all products", 200, 10), ("id > 'p200'", "", "scan all products", 200, 99),
    ("true", "-id", "ordered index on id (at most 200 products) backward in its order, up to the limit", 15, 15),
    ("id < 'p200'", "id, name", "ordered index on id (at most 100 products) in its order, up to the limit", 15, 15),
    ("brand == 'Brand 12'", "-updateTime", "ordered index on brand (at most 10 products)", 10, 10),
    ("true", "name", "scan all products", 200, 15),
  ])
  func `ordered indexes give parts of the catalogue, and orders up to a limit`(
    text: String, order: String, plan: String, reads: Int, count: Int
  ) throws {
    var query = try Self.shelf().products(where: text)
    if !order.isEmpty { query = try query.order(by: order).limit(15) }
    #expect(try query.plan.description == plan)
    var read = 0
    var found = 0
    try query.forEach(countingInto: &read) { _ in
      found += 1
      return true
    }
    #expect(read == reads)
    #expect(found == count)
  }

  @Test func `a scan stops at the limit, or when the body says so`() throws {
    let query = try snapshot.products(where: "isSaleProduct")
    var read = 0
    try query.limit(1).forEach(countingInto: &read) { _ in true }
    #expect(read == 1)
    read = 0
    try query.offset(1).limit(1).forEach(countingInto: &read) { _ in true }
    #expect(read == 2)
    read = 0
    try query.forEach(countingInto: &read) { _ in false }
    #expect(read == 1)
    read = 0
    try query.limit(0).forEach(countingInto: &read) { _ in true }
    #expect(read == 0)
    read = 0
    try query.order(by: "name").limit(1).forEach(countingInto: &read) { _ in true }
    #expect(read == 5)
  }

  // MARK: Order

  @Test(arguments: [
    ("id desc", "edcba"), ("-weight", "ceabd"), ("weight", "dbaec"), ("brand, -id", "cebad"),
    ("isSaleProduct, name", "dcaeb"),
    ("-isSaleProduct, weight desc", "eabcd"), ("updateTime desc, id", "bacde"), ("delFlag", "abcde"),
    ("groupNum desc", "bacde"),
  ])
  func `an order sorts as documents are sorted, and equal products keep their order`(text: String, found: String) throws
  {
    let query = try snapshot.products(where: "true").order(by: text)
    #expect(try ids(query) == found)
    #expect(try ids(query.offset(1).limit(3)) == String(found.dropFirst().prefix(3)))
    #expect(try ids(query.offset(4).limit(.max)) == String(found.suffix(1)))
    #expect(try ids(query.offset(9)) == "")
    #expect(try ids(snapshot.products(where: .always).order(by: Ordering(parsing: text))) == found)
    #expect(try query.offset(1).limit(3).count() == 3)
  }

  @Test func `sort keys are added one after the other`() throws {
    #expect(try ids(snapshot.products(where: "true").order(by: "isSaleProduct").order(by: "-id")) == "dceba")
  }

  @Test(arguments: [("nmae", 1), ("name, wieght desc", 7), ("name,", 6), ("-", 2), ("", 1), ("name down", 6)])
  func `an order by a field that no product has is an error with its column`(text: String, column: Int) throws {
    let query = try snapshot.products(where: "true")
    let error = try #require(throws: ProductQueryError.self) { try query.order(by: text) }
    #expect(error.column == column)
  }

  @Test func `offset and limit are those of the file without an order`() throws {
    let query = try snapshot.products(where: "weight >= 0")
    #expect(try ids(query.offset(1).limit(2)) == "bc" && ids(query.offset(4)) == "e" && ids(query.limit(0)) == "")
    #expect(try query.offset(1).limit(2).count() == 2 && query.offset(4).count() == 1 && query.offset(7).count() == 0)
    let all = try snapshot.products(where: "true")
    #expect(try all.offset(1).limit(2).count() == 2 && all.offset(4).count() == 1 && all.offset(7).count() == 0)
    #expect(try query.offset(2).first()?.id == "c" && query.limit(0).first() == nil)
  }

  // MARK: Groups

  @Test func `groups have a count and aggregates, in the order of their keys`() throws {
    let query = try snapshot.products(where: "true")
    let groups = try query.grouped(
      by: [.brand], [.sum(.weight), .minimum(.name), .maximum(.weight), .average(.weight), .sum(.groupNum)])
    #expect(groups.map(\.key) == [[.text("")], [.text("GREE")], [.text("格力")]])
    #expect(groups.map(\.count) == [1, 3, 1])
    #expect(groups[1].values == [.double(23.75), .text("Lamp"), .double(12), .double(23.75 / 3), .integer(14)])
    #expect(groups[2].values == [.double(0), .text("Fan"), .double(0), .double(0), .integer(1)])
    let pairs = try query.grouped(by: [.isSaleProduct, .delFlag])
    #expect(
      pairs.map(\.key) == [[.bool(false), .integer(0)], [.bool(true), .integer(0)], [.bool(true), .integer(1)]])
    #expect(pairs.map(\.count) == [2, 2, 1])
    #expect(try query.grouped(by: []).map(\.count) == [5])
    #expect(try snapshot.products(where: "false").grouped(by: [.brand]).isEmpty)
    let ofNothing = try snapshot.products(where: "false").grouped(by: [], [.sum(.weight), .minimum(.name)])
    #expect(ofNothing == [ProductGroup(key: [], count: 0, values: [.integer(0), .null])])
    // The products that the query lends are grouped, in their window.
    #expect(try query.order(by: "-weight").limit(2).grouped(by: [.id]).map(\.key) == [[.text("c")], [.text("e")]])
  }

  @Test func `a sum or an average of a text or a Boolean is an error`() throws {
    let query = try snapshot.products(where: "true")
    for field in [ProductQueryField.name, .isSaleProduct, .createTime] {
      for aggregate in [ProductAggregate.sum(field), .average(field)] {
        let error = #expect(throws: ProductQueryError.self) { try query.grouped(by: [.brand], [aggregate]) }
        #expect("\(String(describing: error))".contains("is not a number"))
      }
      #expect(try query.grouped(by: [], [.minimum(field), .maximum(field)]).count == 1)
    }
  }

  @Test func `sums of integers are exact, those of doubles compensated, and NaN and infinity stay`() throws {
    var products: [Product] = []
    let numbers: [(Int64, Double)] = [(.max, 1e100), (.max, 1), (1, -1e100), (1, 0.5), (0, -0.0)]
    for (index, (whole, double)) in numbers.enumerated() {
      var product = Product("\(index)")
      (product.categoryId, product.delFlag) = (whole, index < 2 ? Int64.min : 0)
      (product.weight, product.length) = (double, index == 0 ? .infinity : 1)
      (product.wide, product.tall) = (index == 3 ? .nan : 1, index == 1 ? -.infinity : index == 2 ? .infinity : 0)
      products.append(product)
    }
    let catalogue = try TestCatalogue(products)
    let group = try #require(
      try catalogue.snapshot.products(where: "true").grouped(
        by: [],
        [
          .sum(.categoryId), .sum(.delFlag), .sum(.weight), .sum(.length), .sum(.wide), .sum(.tall), .minimum(.wide),
          .maximum(.length), .average(.categoryId), .sum(.groupNum),
        ]
      ).first)
    let sum = 2 * Double(Int64.max) + 2
    #expect(
      group.values == [
        .double(sum), .double(-0x1p64), .double(1.5), .double(.infinity), .double(.nan), .double(.nan), .double(.nan),
        .double(.infinity), .double(sum / 5), .integer(5),
      ])
    let one = try catalogue.snapshot.products(where: "id in ['0', '3']").grouped(by: [], [.sum(.categoryId)])
    #expect(one[0].values == [.unsigned(1 << 63)])
    // Zeros of either sign are equal.
    var (zero, negativeZero) = (Product("0"), Product("1"))
    (zero.weight, negativeZero.weight) = (0, -0.0)
    let zeros = try TestCatalogue([zero, negativeZero])
    let query = try zeros.snapshot.products(where: "weight == -0.0")
    #expect(try query.grouped(by: [.weight]).map(\.count) == [2])
  }

  // MARK: Snapshots

  @Test func `a catalogue without commits has no products, and mistakes are found all the same`() throws {
    #expect(try CatalogSnapshot.empty.products(where: "isSaleProduct || id == 'a'").fetch() == [])
    #expect(try CatalogSnapshot.empty.products(where: "true").count() == 0)
    #expect(try CatalogSnapshot.empty.products(where: "weight > 1").order(by: "name").grouped(by: [.brand]) == [])
    #expect(throws: ProductQueryError.self) { try CatalogSnapshot.empty.products(where: "wieght > 1") }
  }

  @Test func `a query reads its own commit, whatever comes later`() throws {
    let query = try snapshot.products(where: "name contains 'amp' || id == 'a'").order(by: "id")
    var changed = Product("a", "6901", name: "Torch")
    changed.weight = 1
    try catalogue.increment([changed, Product("f", "", name: "Camp stove"), Product("b", delFlag: 1)])
    #expect(try query.fetch().map(\.name) == ["Lamp", "lamp shade", "Old lamp"])
    let later = try catalogue.snapshot.products(where: "name contains 'amp' || id == 'a'").order(by: "id")
    #expect(try later.fetch().map(\.name) == ["Torch", "Old lamp", "Camp stove"])
    #expect(try catalogue.snapshot.products(where: "barcode == '6901'").fetch() == [changed])
    let earlier = try #require(try catalogue.snapshot.at(1))
    #expect(try earlier.products(where: "weight > 10").fetch().map(\.id) == ["a", "c", "e"])
  }

  // MARK: Lists of fields

  @Test func `a list of fields keeps its order, and mistakes have their column`() throws {
    #expect(try ProductColumns(parsing: "id,name", declared: DeclaredFields()).fields == [.id, .name])
    #expect(try ProductColumns(parsing: " weight ,\tid ", declared: DeclaredFields()).fields == [.weight, .id])
    for (text, column) in [
      ("", 1), (",", 1), ("id,", 4), ("id, ", 5), ("id,,name", 4), ("id, nmae", 5), ("id,id", 4), ("id name", 1),
      ("ID", 1),
    ] {
      let error = try #require(throws: ProductQueryError.self) {
        try ProductColumns(parsing: text, declared: DeclaredFields())
      }
      #expect(error.column == column, "\(text): \(error)")
    }
  }

  @Test func `every field has its own kind and is read in place`() throws {
    let product = try #require(try snapshot.product(id: "a"))
    var row = ProductRow()
    product.fill(&row)
    try snapshot.withProduct(id: "a") { (view) throws(StoreError) in
      var scratch: [UInt8] = []
      for field in ProductField.allCases {
        let value = try ResolvedField.field(field).value(of: view, in: .empty, &scratch)
        #expect(value.kind == field.kind, "\(field)")
        if let text = field.text { #expect(value == .text(row[text]), "\(field)") }
      }
    }
  }
}

extension ProductQueryError {
  /// What an error of syntax says was expected.
  fileprivate var expected: String { if case .syntax(let error) = self { error.expected } else { "" } }
}
