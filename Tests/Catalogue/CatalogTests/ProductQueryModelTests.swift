import Bytes
import CatalogRows
import DocumentFormat
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// A product as a document whose fields have the server's names.
private func document(_ product: Product) -> DocumentValue {
  var row = ProductRow()
  product.fill(&row)
  return .object(
    ProductField.allCases.map { field in
      switch field.slot {
      case .text(let slot): .init(field.key, .text(row.texts.string(slot)))
      case .integer(let slot): .init(field.key, .integer(row.integers[slot]))
      case .flag(let slot): .init(field.key, .bool(row.flags >> UInt32(slot) & 1 == 1))
      case .double(let slot): .init(field.key, .double(row.doubles[slot]))
      }
    })
}

extension Product {
  /// Cuts long texts, which make conditions on them slow.
  fileprivate mutating func shortenTexts() {
    var row = ProductRow()
    fill(&row)
    for text in ProductText.allCases { row.texts.set(text.rawValue, String(row[text].prefix(100))) }
    self = Product(row)
  }
}

/// Random conditions on products, whose constants are often values of a product.
private struct ConditionGenerator {
  var rows: RowGenerator
  let documents: [DocumentValue]

  mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &rows.random) }

  mutating func field(_ kind: DocumentKind? = nil) -> ProductField {
    rows.pick(ProductField.allCases.filter { kind == nil || $0.kind == kind })
  }

  static func path(_ field: ProductField) -> FieldPath { try! FieldPath(names: [field.key]) }

  /// A constant that a field can be compared with.
  mutating func constant(_ field: ProductField) -> DocumentValue {
    if rows.chance(4) { return .null }
    let value = rows.chance(70) ? rows.pick(documents)[field.key]! : rows.pick(documents)[self.field(field.kind).key]!
    switch value {
    case .text(let text): return .text(rows.chance(70) ? text : rows.text())
    case .double(let double):
      if rows.chance(20), let integer = Int64(exactly: double) { return .integer(integer) }
      return .double(rows.chance(80) ? double : rows.pick([rows.double(), .nan, .infinity, double.nextUp]))
    case .integer(let integer):
      if rows.chance(20) { return .double(Double(integer)) }
      return rows.chance(80) ? value : rows.pick([.integer(rows.integer()), .unsigned(.max), .unsigned(1 << 63)])
    default: return rows.chance(80) ? value : .bool(rows.chance(50))
    }
  }

  /// A part of a text of some product.
  mutating func part(_ field: ProductField) -> String {
    guard case .text(let text)? = rows.pick(documents)[field.key], rows.chance(85) else { return rows.text() }
    let scalars = Array(text.unicodeScalars.prefix(200))
    let start = int(0..<scalars.count + 1)
    var part = String.UnicodeScalarView()
    part.append(contentsOf: scalars[start..<start + int(0..<scalars.count - start + 1)])
    return rows.chance(30) ? String(part).uppercased() : String(part)
  }

  mutating func pattern(_ field: ProductField) -> String {
    var pattern = rows.chance(50) ? "%" : ""
    for scalar in part(field).unicodeScalars.prefix(30) {
      switch int(0..<8) {
      case 0: pattern += "_"
      case 1: pattern += "%"
      case 2: pattern += "\\" + String(scalar)
      default: pattern.unicodeScalars.append(scalar)
      }
    }
    return pattern + (rows.chance(50) ? "%" : "")
  }

  mutating func condition(depth: Int = 0) -> Condition {
    let ignoringCase = rows.chance(50)
    switch int(0..<(depth >= 3 ? 9 : 12)) {
    case 0, 1, 2:
      let field = self.field()
      return .compare(Self.path(field), rows.pick(Condition.Comparison.allCases), constant(field))
    case 3:
      let field = rows.chance(50) ? rows.pick([ProductField.id, .barcode, .brand, .updateTime]) : self.field()
      return .compare(Self.path(field), .equal, constant(field))
    case 4:
      let field = rows.chance(30) ? rows.pick([ProductField.id, .barcode]) : self.field()
      return .isIn(Self.path(field), (0..<rows.pick([0, 1, 3, 12])).map { _ in constant(field) })
    case 5:
      let field = self.field(.text)
      return .contains(Self.path(field), .text(part(field)), ignoringCase: ignoringCase)
    case 6:
      let field = self.field(.text)
      return .like(Self.path(field), pattern(field), ignoringCase: ignoringCase)
    case 7:
      let field = self.field(.text)
      let whole = rows.pick(documents)[field.key]!
      guard case .text(let text) = whole else { preconditionFailure("the field is a text") }
      let prefix = String(String.UnicodeScalarView(text.unicodeScalars.prefix(int(0..<6))))
      return .hasPrefix(Self.path(field), ignoringCase ? prefix.uppercased() : prefix, ignoringCase: ignoringCase)
    case 8:
      return rows.chance(50)
        ? .isNull(Self.path(field())) : .compare(Self.path(field(.bool)), .equal, .bool(true))
    case 9: return .and((0..<rows.pick([0, 2, 3])).map { _ in condition(depth: depth + 1) })
    case 10: return .or((0..<rows.pick([0, 2, 3])).map { _ in condition(depth: depth + 1) })
    default: return .not(condition(depth: depth + 1))
    }
  }
}

/// Queries of products against the same conditions, orders and groups of the products as documents.
@Suite struct ProductQueryModelTests {
  /// A catalogue with a tail and dead rows, or compacted; its products in the order of the file, and as documents.
  private struct Scene {
    let catalogue: TestCatalogue
    let snapshot: CatalogSnapshot
    var products: [Product] = []
    let documents: [DocumentValue]
    /// The encoded documents.
    let bytes: [[UInt8]]
    var generator: ConditionGenerator

    init(_ name: String, run: Int) throws {
      var rows = RowGenerator(name, run: run)
      var unique: [[UInt8]: Product] = [:]
      for _ in 0..<70 {
        var product = rows.product()
        // A few long texts are enough.
        if rows.chance(95) { product.shortenTexts() }
        unique[Array(product.id.utf8)] = product
      }
      var list = unique.values.sorted { $0.id.isBytewiseLess(than: $1.id) }
      // Groups need fields in common, and a barcode more than one product.
      for index in list.indices {
        list[index].brand = rows.pick(["", "GREE", "格力", list[0].brand])
        list[index].unit = rows.pick(["kg", ""])
        if rows.chance(30) { list[index].barcode = rows.pick(["6901", " 6901", "ab", "AB", "", "  "]) }
        if rows.chance(60) { list[index].updateTime = "2026-01-02 03:04:\(rows.pick([10, 11, 12]))" }
        if rows.chance(50) { list[index].weight = Double(Int.random(in: -5..<5, using: &rows.random)) }
      }
      catalogue = try TestCatalogue(list)
      var changed = Array(list.prefix(20))
      for index in changed.indices {
        changed[index].name = rows.text()
        changed[index].delFlag = 0
      }
      try catalogue.increment(changed)
      if run % 2 == 1 { try catalogue.writer.compact() }
      snapshot = try catalogue.snapshot
      var products: [Product] = []
      try snapshot.forEachProduct { (view) throws(StoreError) in products.append(try Product(view)) }
      self.products = products
      documents = products.map(document)
      bytes = documents.map(\.documentBytes)
      generator = ConditionGenerator(rows: rows, documents: documents)
    }

    /// The indices of the products that a condition holds for as documents.
    func matches(_ condition: Condition) throws -> [Int] {
      let compiled = CompiledCondition(condition)
      return try bytes.indices.filter { index in
        let document = bytes[index]
        return try compiled.matches(DocumentView(document.rawSpan))
      }
    }

    /// The sort key of a product as a document.
    func key(_ ordering: Ordering, _ index: Int) throws -> [UInt8] {
      let document = bytes[index]
      return try ordering.sortKey(of: DocumentView(document.rawSpan))
    }

    func ids(_ indices: some Sequence<Int>) -> [[UInt8]] { indices.map { Array(products[$0].id.utf8) } }
  }

  private func ids(_ query: ProductQuery) throws -> [[UInt8]] { try query.fetch().map { Array($0.id.utf8) } }

  @Test(arguments: 0..<4)
  func `a query finds the products that its condition holds for as documents`(run: Int) throws {
    var scene = try Scene("a query finds the products that its condition holds for as documents", run: run)
    var found = 0
    var lookups = 0
    for _ in 0..<250 * depth {
      let condition = scene.generator.condition()
      let expected = try scene.matches(condition)
      let query = try scene.snapshot.products(where: condition)
      try #require(try ids(query) == scene.ids(expected), "\(condition)")
      try #require(try query.count() == expected.count, "\(condition)")
      let again = try scene.snapshot.products(where: condition.description)
      try #require(try ids(again) == scene.ids(expected), "\(condition)")
      found += expected.count
      if try query.plan != .scan, !expected.isEmpty { lookups += 1 }
    }
    #expect(found > 1000 * depth && lookups > 1, "\(found) found, \(lookups) by a lookup")
  }

  @Test(arguments: 0..<4)
  func `an order, an offset and a limit give what documents in that order give`(run: Int) throws {
    var scene = try Scene("an order, an offset and a limit give what documents in that order give", run: run)
    for _ in 0..<100 * depth {
      let condition = scene.generator.rows.chance(50) ? Condition.always : scene.generator.condition()
      let terms = (0..<scene.generator.int(1..<4)).map { _ in
        let field =
          scene.generator.rows.chance(40)
          ? scene.generator.rows.pick([ProductField.id, .updateTime]) : scene.generator.field()
        return Ordering.Term(ConditionGenerator.path(field), isDescending: scene.generator.rows.chance(50))
      }
      let ordering = Ordering(terms)
      let (offset, limit) = (scene.generator.int(0..<80), scene.generator.int(0..<80))
      let keys = try scene.matches(condition).map { (key: try scene.key(ordering, $0), index: $0) }
      let sorted = keys.sorted { a, b in
        a.key == b.key ? a.index < b.index : a.key.lexicographicallyPrecedes(b.key)
      }
      let query = try scene.snapshot.products(where: condition).order(by: ordering).offset(offset).limit(limit)
      let expected = scene.ids(sorted.dropFirst(offset).prefix(limit).map(\.index))
      try #require(try ids(query) == expected, "\(condition) by \(ordering), \(offset), \(limit)")
      try #require(try query.count() == expected.count)
    }
  }

  @Test(arguments: 0..<4)
  func `groups are those of the products as documents`(run: Int) throws {
    var scene = try Scene("groups are those of the products as documents", run: run)
    for _ in 0..<60 * depth {
      let condition = scene.generator.rows.chance(50) ? Condition.always : scene.generator.condition()
      let fields = (0..<scene.generator.int(0..<3)).map { _ in
        scene.generator.rows.chance(60)
          ? scene.generator.rows.pick([ProductField.brand, .unit, .weight, .isSaleProduct]) : scene.generator.field()
      }
      let (least, greatest) = (scene.generator.field(), scene.generator.field())
      let number = scene.generator.rows.pick([ProductField.categoryId, .delFlag, .groupNum])
      let groups = try scene.snapshot.products(where: condition).grouped(
        by: fields.map { .field($0) },
        [.minimum(.field(least)), .maximum(.field(greatest)), .sum(.field(number)), .average(.field(number))])
      let ordering = Ordering(fields.map { Ordering.Term(ConditionGenerator.path($0)) })
      var expected: [[UInt8]: [Int]] = [:]
      for index in try scene.matches(condition) { expected[try scene.key(ordering, index), default: []].append(index) }
      if fields.isEmpty, expected.isEmpty {
        // Without fields, no products are one group.
        try #require(groups == [ProductGroup(key: [], count: 0, values: [.null, .null, .integer(0), .null])])
        continue
      }
      let sorted = expected.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
      try #require(groups.count == sorted.count)
      for (group, members) in zip(groups, sorted) {
        let documents = members.map { scene.documents[$0] }
        try #require(group.count == members.count)
        try #require(group.key == fields.map { documents[0][$0.key]! })
        let extremes = [
          try extreme(members, of: scene, least, isDescending: false),
          try extreme(members, of: scene, greatest, isDescending: true),
        ]
        try #require(Array(group.values[..<2]) == extremes)
        let sum = documents.reduce(Int128(0)) { sum, document in
          guard case .integer(let value)? = document[number.key] else { preconditionFailure("it is an integer") }
          return sum + Int128(value)
        }
        let value =
          Int64(exactly: sum).map(DocumentValue.integer) ?? UInt64(exactly: sum).map(DocumentValue.unsigned)
        try #require(group.values[2] == value ?? .double(Double(sum)))
        try #require(group.values[3] == .double(Double(sum) / Double(members.count)))
      }
    }
  }

  /// The first value of a field in its order.
  private func extreme(
    _ members: [Int], of scene: Scene, _ field: ProductField, isDescending: Bool
  ) throws -> DocumentValue {
    let ordering = Ordering([.init(try FieldPath(names: [field.key]), isDescending: isDescending)])
    let keyed = try members.map { (key: try scene.key(ordering, $0), value: scene.documents[$0][field.key]!) }
    return try #require(keyed.min { $0.key.lexicographicallyPrecedes($1.key) }).value
  }

  @Test func `parsing arbitrary text as a condition on products never traps`() throws {
    var random = SeededGenerator(for: "hostile conditions on products")
    let catalogue = try TestCatalogue([Product("a", "6901", name: "Lamp")])
    let snapshot = try catalogue.snapshot
    let pieces = [
      "name", "weight", "id", "isSaleProduct", "barcode", ".", "\\", "'", "(", ")", "!", "&&", "or", "==", "<", "1",
      "-",
      "in", "[", "]", ",", " ", " ", "like", "is null", "'x'", "true", "contains", "é", "wieght",
    ]
    for _ in 0..<3000 * depth {
      let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
        .joined()
      do {
        _ = try snapshot.products(where: text).fetch()
      } catch let error as ProductQueryError {
        let column = error.column ?? 0
        #expect(column >= 1 && column <= text.unicodeScalars.count + 2, "\(text): \(error)")
      }
      _ = try? snapshot.products(where: "true").order(by: text)
      _ = try? ProductColumns(parsing: text, declared: DeclaredFields())
    }
  }
}
