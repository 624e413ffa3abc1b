import Barcodes
import DocumentFormat
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// Catalogues with declared fields, compared with a naive model: all products, read one after the other.
@Suite struct DeclaredFieldModelTests {
  private static let names = ["price", "stock", "color", "arrival", "gone", "carton_ean", "inner", "free"]

  private static let declared: DeclaredFields = try! DeclaredFields(
    json: Array(
      #"""
      {"price": {"type": "decimal", "order": true}, "stock": {"type": "int", "order": true},
       "color": {"search": true, "order": true}, "arrival": {"type": "date", "order": true},
       "gone": {"type": "bool", "order": true}, "carton_ean": {"role": "code", "quantity": 12, "unit": "case"},
       "inner": {"role": "code", "quantity": 6}}
      """#.utf8))

  private static var indexes: CatalogIndexes {
    var indexes = CatalogIndexes.standard
    indexes.fields = declared
    return indexes
  }

  private static let codes = [
    "4006381333931", "04006381333931", "036000291452", "case-1", "CASE-1", " Case-2 ", "6901234567892", "x",
  ]

  private static func extra(_ rows: inout RowGenerator) throws -> ProductExtra {
    var fields: [String] = []
    for name in names where rows.chance(60) {
      let value =
        switch name {
        case "price":
          rows.pick(["1", "1.0", "\"2.50\"", "2.5", "0", "-3", "\"x\"", "null", "\"\"", "10", "0.1", "1e2", "\"1.00\""])
        case "stock": rows.pick(["0", "3", "\"3\"", "-7", "2.5", "\"many\"", "100"])
        case "color": rows.pick(["\"red\"", "\"Dark red\"", "\"blue\"", "\"\"", "7", "true", "\"r\\\"d\\n\""])
        case "arrival":
          rows.pick(["\"2026-01-31\"", "\"2026-02-01 10:00\"", "\"2025-12-24\"", "\"soon\"", "20260101"])
        case "gone": rows.pick(["true", "false", "\"yes\"", "\"maybe\"", "0"])
        case "free": rows.pick(["1", "\"1\"", "[1,\"red\"]", "null", "true", "{\"price\":1}"])
        default:
          rows.chance(20)
            ? "[\"\(rows.pick(codes))\",\"\(rows.pick(codes))\"]"
            : rows.chance(20) ? "4006381333931" : "\"\(rows.pick(codes))\""
        }
      fields.append("\"\(name)\":\(value)")
    }
    return try ProductExtra(json: "{\(fields.joined(separator: ","))}")
  }

  private static func product(_ rows: inout RowGenerator) throws -> Product {
    var product = Product("p\(Int.random(in: 0..<60, using: &rows.random))")
    product.barcode = rows.chance(50) ? rows.pick(codes) : ""
    product.name = rows.pick(["Lamp", "Table", "red lamp"])
    product.delFlag = rows.chance(10) ? 1 : 0
    product.extra = try extra(&rows)
    return product
  }

  // MARK: The model

  /// A value as its type reads it.
  private enum Value: Equatable {
    case missing, text(String), number(Double), flag(Bool)

    var rank: Int {
      switch self {
      case .missing: 0
      case .flag: 1
      case .number: 2
      case .text: 3
      }
    }

    func precedes(_ other: Value) -> Bool {
      switch (self, other) {
      case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
      case (.number(let a), .number(let b)): a < b
      case (.flag(let a), .flag(let b)): !a && b
      default: rank < other.rank
      }
    }
  }

  private static func value(_ product: Product, _ name: String) -> Value {
    let value = product.extra[name] ?? .null
    let digits: String? =
      switch value {
      case .integer(let number): "\(number)"
      case .double(let number): number == number.rounded() && number < 1e15 ? "\(Int(number))" : "\(number)"
      default: nil
      }
    switch (declared[name]?.type, value) {
    case (_, .null): return .missing
    case (.text, .text(let text)): return .text(text)
    case (.text, _): return digits.map { .text($0) } ?? .missing
    case (.decimal, .text(let text)): return Double(text).map { .number($0) } ?? .missing
    case (.decimal, _): return digits.flatMap(Double.init).map { .number($0) } ?? .missing
    case (.int, .text(let text)): return Int(text).map { .number(Double($0)) } ?? .missing
    case (.int, _): return digits.flatMap(Int.init).map { .number(Double($0)) } ?? .missing
    case (.bool, .bool(let flag)): return .flag(flag)
    case (.bool, .text(let text)): return text == "yes" ? .flag(true) : .missing
    case (.bool, .integer(let number)): return number == 0 ? .flag(false) : .missing
    case (.date, .text(let text)): return text.hasPrefix("20") ? .text(text) : .missing
    case (nil, .bool(let flag)): return .flag(flag)
    case (nil, .text(let text)): return .text(text)
    case (nil, .array), (nil, .object): return .text(value.json)
    case (nil, _): return digits.flatMap(Double.init).map { .number($0) } ?? .missing
    default: return .missing
    }
  }

  private static func holds(_ value: Value, _ comparison: String, _ constant: Value) -> Bool {
    switch comparison {
    case "==": return value == constant
    case "!=": return value != constant
    default: break
    }
    guard value.rank == constant.rank, value != .missing else { return false }
    switch comparison {
    case "<": return value.precedes(constant)
    case "<=": return !constant.precedes(value)
    case ">": return constant.precedes(value)
    default: return !value.precedes(constant)
    }
  }

  private static func constants(_ name: String) -> [(text: String, value: Value)] {
    switch name {
    case "price", "stock": ["1", "2.5", "0", "-3", "3", "100", "2.4999"].map { ($0, .number(Double($0)!)) }
    case "color": ["red", "blue", "", "7", "Dark red"].map { ("'\($0)'", .text($0)) }
    case "arrival": ["2026-01-31", "2026", "2025-12-24"].map { ("'\($0)'", .text($0)) }
    case "gone": [("true", .flag(true)), ("false", .flag(false))]
    default: [("1", .number(1)), ("'1'", .text("1")), ("true", .flag(true))]
    }
  }

  private static func check(_ snapshot: CatalogSnapshot, _ products: [Product], _ rows: inout RowGenerator) throws {
    for name in ["price", "stock", "color", "arrival", "gone", "free"] {
      for _ in 0..<6 {
        let comparison = rows.pick(["==", "!=", "<", "<=", ">", ">="])
        let constant = rows.pick(constants(name))
        let text = "extra.\(name) \(comparison) \(constant.text)"
        let query = try snapshot.products(where: text)
        let expected = products.filter { holds(value($0, name), comparison, constant.value) }.map(\.id).sorted()
        #expect(try query.fetch().map(\.id).sorted() == expected, "\(text)")
        #expect(try query.count() == expected.count)
      }
      let missing = try snapshot.products(where: "extra.\(name) is null").fetch().map(\.id).sorted()
      #expect(missing == products.filter { value($0, name) == .missing }.map(\.id).sorted())
      // An order, with an index and without.
      let ordered = products.sorted { a, b in
        let (x, y) = (value(a, name), value(b, name))
        return x.precedes(y) || x == y && a.id.isBytewiseLess(than: b.id)
      }
      let all = try snapshot.products(where: "true")
      #expect(try all.order(by: "extra.\(name), id").fetch().map(\.id) == ordered.map(\.id), "\(name)")
      let limited = try all.order(by: "extra.\(name), id").limit(7)
      #expect(try limited.fetch().map(\.id) == ordered.prefix(7).map(\.id), "\(name)")
      let backward = try all.order(by: "extra.\(name) desc, id desc").limit(5).fetch().map(\.id)
      #expect(backward == ordered.reversed().prefix(5).map(\.id), "\(name)")
      // Groups.
      let groups = try all.grouped(by: [.extra(name)])
      #expect(groups.reduce(0) { $0 + $1.count } == products.count)
      for group in groups {
        let key: Value =
          switch group.key[0] {
          case .null: .missing
          case .bool(let flag): .flag(flag)
          case .integer(let number): .number(Double(number))
          case .double(let number): .number(number)
          case .text(let text): .text(text)
          default: .text("?")
          }
        #expect(group.count == products.count { value($0, name) == key }, "\(name) \(key)")
      }
    }
    for code in codes { try checkScan(code, snapshot, products) }
    // Words of a searched field, where it has that word.
    let found = try snapshot.search("blue").results.map(\.product.id).sorted()
    let blue = products.filter { $0.delFlag == 0 && value($0, "color") == .text("blue") }
    #expect(found == blue.map(\.id).sorted())
  }

  /// The codes that a field of a product contains.
  private static func codes(_ product: Product, _ name: String) -> [String] {
    func text(_ value: DocumentValue) -> String? {
      switch value {
      case .text(let text): text
      case .integer(let number): "\(number)"
      default: nil
      }
    }
    guard let value = product.extra[name] else { return [] }
    if case .array(let elements) = value { return elements.compactMap(text) }
    return text(value).map { [$0] } ?? []
  }

  private static func checkScan(_ code: String, _ snapshot: CatalogSnapshot, _ products: [Product]) throws {
    let match = try snapshot.match(code)
    let live = products.filter { $0.delFlag == 0 }
    let text = code.trimmedAsCode
    func ids(_ isMatch: (String) -> Bool) -> (own: [String], further: [(id: String, field: String)]) {
      let own = live.filter { isMatch($0.barcode.trimmedAsCode) }.map(\.id)
      let further = live.flatMap { product in
        ["carton_ean", "inner"].flatMap { name in
          codes(product, name).filter { isMatch($0.trimmedAsCode) }.map { _ in (id: product.id, field: name) }
        }
      }
      return (own, further)
    }
    // Exactly as it is; own barcodes first.
    let exact = ids { $0 == text }
    if !exact.own.isEmpty {
      #expect(match.products.map(\.id) == exact.own.sorted { $0.isBytewiseLess(than: $1) } && match.package == nil)
      return
    }
    let folded = ids { $0.uppercased() == text.uppercased() }
    if exact.further.isEmpty, !folded.own.isEmpty { return }
    guard !exact.further.isEmpty else { return }
    let expected = Set(exact.further.map(\.id)).sorted { $0.isBytewiseLess(than: $1) }
    // Another spelling of an own barcode in other letters precedes further codes that are exact.
    guard folded.own.isEmpty else { return }
    #expect(match.products.map(\.id) == expected, "\(code)")
    let quantities = Set(exact.further.map { $0.field == "inner" ? 6 : 12 })
    #expect(
      match.package.map { [$0.quantity] } ?? []
        == (quantities.count == 1 ? [ExactDecimal(Int64(quantities.first!))] : []))
    if let package = match.package { #expect(package.kind == (quantities.contains(6) ? "inner" : "carton_ean")) }
  }

  // MARK: Tests

  @Test(arguments: 0..<6)
  func `catalogues with declared fields answer as the model does`(run: Int) throws {
    var rows = RowGenerator("catalogues with declared fields answer as the model does", run: run)
    let catalogue = try TestCatalogue(indexes: Self.indexes)
    var model: [String: Product] = [:]
    for step in 0..<5 {
      var batch: [String: Product] = [:]
      for _ in 0..<(step == 0 ? 40 : 12) {
        let product = try Self.product(&rows)
        batch[product.id] = product
      }
      // Deleted products leave the catalogue with an increment.
      if step == 0 {
        try catalogue.full(batch.values.sorted { $0.id < $1.id })
        model = batch
      } else {
        try catalogue.increment(batch.values.sorted { $0.id < $1.id })
        for (id, product) in batch { model[id] = product.delFlag == 0 ? product : nil }
      }
      if step == 3 { try catalogue.writer.compact() }
      if step == 2 { try catalogue.reopen(indexes: Self.indexes) }
      // A writer with other settings keeps the indexes up to date.
      if step == 1 { try catalogue.reopen() }
      let snapshot = try catalogue.snapshot.declaring(Self.declared)
      #expect(snapshot.fieldsWithoutIndex.isEmpty)
      try Self.check(snapshot, model.values.sorted { $0.id < $1.id }, &rows)
      #expect(try snapshot.verify().isEmpty)
    }
  }

  @Test func `a catalogue without the indexes answers the same, but for codes and words`() throws {
    var rows = RowGenerator("a catalogue without the indexes answers the same")
    var model: [String: Product] = [:]
    for _ in 0..<50 {
      let product = try Self.product(&rows)
      model[product.id] = product
    }
    var carton = Product("carton")
    carton.extra = try ProductExtra(json: #"{"carton_ean":"9300675001007","color":"ultramarine"}"#)
    let catalogue = try TestCatalogue()
    try catalogue.full(model.values.sorted { $0.id < $1.id } + [carton])
    var snapshot = try catalogue.snapshot.declaring(Self.declared)
    #expect(snapshot.fieldsWithoutIndex == ["arrival", "carton_ean", "color", "gone", "inner", "price", "stock"])
    #expect(try snapshot.match("9300675001007").isEmpty && snapshot.search("ultramarine").results.isEmpty)
    let query = try snapshot.products(where: "extra.color == 'ultramarine'").order(by: "-extra.price").limit(2)
    #expect(try query.fetch().map(\.id) == ["carton"])
    #expect(try query.plan == .scan)
    // The next compaction with the declarations has them.
    try catalogue.reopen(indexes: Self.indexes)
    try catalogue.writer.compact()
    snapshot = try catalogue.snapshot.declaring(Self.declared)
    #expect(snapshot.fieldsWithoutIndex.isEmpty)
    let match = try snapshot.match("9300675001007")
    #expect(match.products.map(\.id) == ["carton"] && match.pieceCount == 12 && match.package?.unit == "case")
    #expect(match.package?.kind == "carton_ean" && match.package?.code == "9300675001007")
    let results = try snapshot.search("ultramarine").results
    #expect(results.map(\.product.id) == ["carton"])
    #expect(results.first?.matched == [.init(field: "extra.color", ranges: [0..<11])])
    // Without declarations the same catalogue knows no codes of fields.
    #expect(try catalogue.snapshot.match("9300675001007").isEmpty)
  }

  @Test func `an order and a comparison use the index of a field`() throws {
    var products: [Product] = []
    for number in 0..<200 {
      var product = Product("p\(number)")
      product.extra = try ProductExtra(json: "{\"price\":\(number).50}")
      products.append(product)
    }
    let catalogue = try TestCatalogue(indexes: Self.indexes)
    try catalogue.full(products)
    let snapshot = try catalogue.snapshot.declaring(Self.declared)
    #expect(try snapshot.products(where: "extra.price < 3").plan == .extraRange("price", products: 3))
    #expect(try snapshot.products(where: "extra.price in [1.5, 2.5]").plan == .extraRange("price", products: 2))
    let cheapest = try snapshot.products(where: "true").order(by: "-extra.price").limit(2)
    #expect(try cheapest.plan == .extraOrdered("price", products: 200, isDescending: true))
    #expect(try cheapest.fetch().map(\.id) == ["p199", "p198"])
    #expect(try cheapest.plan.indexes == ["extra.price"])
    let sums = try snapshot.products(where: "extra.price < 3").grouped(
      by: [], [.sum(.extra("price")), .maximum(.extra("price")), .average(.extra("price"))])
    #expect(sums.map(\.values) == [[.double(4.5), .double(2.5), .double(1.5)]])
  }

  @Test func `decimals are compared to the last digit`() throws {
    var products: [Product] = []
    for (id, price) in [("a", "0.10"), ("b", "0.1000000000000000000001"), ("c", "9007199254740993.5")] {
      var product = Product(id)
      product.extra = try ProductExtra(json: "{\"price\":\(price)}")
      products.append(product)
    }
    let catalogue = try TestCatalogue(indexes: Self.indexes)
    try catalogue.full(products)
    let snapshot = try catalogue.snapshot.declaring(Self.declared)
    func ids(_ condition: String) throws -> [String] { try snapshot.products(where: condition).fetch().map(\.id) }
    #expect(try ids("extra.price == 0.1") == ["a"] && ids("extra.price > 0.1") == ["b", "c"])
    #expect(try ids("extra.price in [0.1, 2]") == ["a"])
    #expect(try ids("extra.price > 9007199254740993") == ["c"])
    #expect(try snapshot.products(where: "true").order(by: "-extra.price").fetch().map(\.id) == ["c", "b", "a"])
  }

  @Test func `a wrong name suggests the right one`() throws {
    let catalogue = try TestCatalogue([Product("1")])
    let snapshot = try catalogue.snapshot.declaring(Self.declared)
    func message(_ body: () throws -> Void) -> String {
      do { try body() } catch { return "\(error)" }
      return ""
    }
    let misspelled = message { _ = try snapshot.products(where: "extra.prise > 2") }
    #expect(misspelled == "column 1: no field 'extra.prise' is declared; did you mean 'extra.price'?")
    #expect(
      message { _ = try snapshot.products(where: "true").order(by: "id, extra.colour") }.contains("'extra.color'"))
    #expect(message { _ = try snapshot.products(where: "price > 2") }.contains("did you mean 'extra.price'?"))
    #expect(message { _ = try snapshot.products(where: "extra.price == 'x'") }.contains("extra.price is a number"))
    #expect(message { _ = try snapshot.products(where: "extra.price.net > 1") }.contains("no product has a field"))
    // Not declared, and like no declared one: it is what it is in JSON.
    #expect(try snapshot.products(where: "extra.supplier == 'x' || extra.supplier > 2").count() == 0)
    let columns = try ProductColumns(parsing: "id, extra.price,extra.a\\.b", declared: Self.declared)
    #expect(columns.fields == [.id, .extra("price"), .extra("a.b")])
    #expect(throws: ProductQueryError.self) { try ProductColumns(parsing: "extra.prise", declared: Self.declared) }
  }

  @Test func `a key that is not that of its row is found`() throws {
    var product = Product("1")
    product.extra = try ProductExtra(json: #"{"price":1,"carton_ean":"9300675001007"}"#)
    let catalogue = try TestCatalogue(indexes: Self.indexes)
    try catalogue.full([product])
    let store = try #require(try catalogue.snapshot.store)
    // A schema that derives other keys stands for a file with wrong ones.
    for name in ["extra.decimal.price", "code.carton_ean", "search+color"] {
      let wrong = Schema.OrderedIndex(name, hasFragments: name.hasPrefix("search")) { _, receive throws(StoreError) in
        receive([1, 2, 3].rawSpan)
      }
      let tables = [
        Schema.Table(
          "products",
          keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("code", skipsEmptyKeys: true)],
          orderedIndexes: [wrong])
      ]
      #expect(try store.orderedFindings(Schema(tables)).contains { $0.what.contains(name) })
    }
    #expect(try catalogue.snapshot.verify().isEmpty)
  }
}
