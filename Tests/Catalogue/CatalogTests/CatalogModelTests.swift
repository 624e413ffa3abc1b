import Barcodes
import CatalogRows
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What the protocol says, in the plainest form.
private struct Model {
  var products: [String: Product] = [:]
  var relations: [Relation] = []
  var codes: [ProductCode] = []
  var cursor = ""

  mutating func full(_ rows: [Product], _ relations: [Relation], _ codes: [ProductCode]) {
    self.codes = codes
    products = [:]
    for row in rows { products[row.id] = row }
    self.relations = relations
  }

  /// - Parameter newCodes: The list of codes; `nil` for a payload without one.
  mutating func increment(_ rows: [Product], _ payload: [Relation], _ newCodes: [ProductCode]?) {
    let deleted = Set(rows.filter { $0.delFlag != 0 }.map(\.id))
    for row in rows where row.delFlag == 0 {
      products[row.id] = row
      relations.removeAll { $0.productId == row.id }
    }
    let upserted = Set(rows.filter { $0.delFlag == 0 }.map(\.id))
    relations += payload.filter { upserted.contains($0.productId) }
    if let newCodes {
      codes.removeAll { upserted.contains($0.productId) }
      codes += newCodes.filter { upserted.contains($0.productId) }
    }
    codes.removeAll { deleted.contains($0.productId) }
    for id in deleted {
      products[id] = nil
      relations.removeAll { $0.productId == id }
    }
  }
}

@Suite struct CatalogModelTests {
  private static let ids =
    (0..<25).map { "p\($0)" } + ["", "\"'; --", "时", String(repeating: "k", count: 300)]
  private static let barcodes = [
    "", " ", "6901234567892", "06901234567892", "6901234567892 ", "sg1234", "SG1234", "SG1234N", "abcd",
    "ABCD ",
    String(repeating: "9", count: 254), String(repeating: "9", count: 255),
    String(repeating: "9", count: 256), "编号一二",
  ]

  @Test(arguments: 0..<4)
  func `random updates lead where a dictionary leads`(run: Int) throws {
    var rows = RowGenerator("random updates lead where a dictionary leads", run: run)
    var indexes = CatalogIndexes.standard
    indexes.fields = Self.declared
    let catalogue = try TestCatalogue(indexes: indexes)
    var model = Model()
    var history: [UInt64: Model] = [:]
    for step in 0..<60 * depth {
      switch Int.random(in: 0..<20, using: &rows.random) {
      case 0:
        let (products, relations) = payload(&rows, 40)
        let codes = codes(&rows, rows.chance(50) ? 0 : 40)
        model.full(products, relations, codes)
        model.cursor = "f\(step)"
        try catalogue.full(products, relations, codes: codes, cursor: model.cursor)
        history = [:]
      case 1:
        try catalogue.writer.compact()
        history = [:]
      case 2: try catalogue.reopen(indexes: indexes)
      case 3:
        let (products, relations) = payload(&rows, 10)
        var increment = catalogue.writer.beginIncrement(threshold: 1)
        #expect(throws: CatalogError.self) { try increment.take(products + [Product("x")], relations) }
      case 4:
        guard let (sequence, earlier) = history.randomElement(using: &rows.random) else { continue }
        model = earlier
        #expect(try catalogue.writer.rollback(to: sequence) != nil)
      default:
        let (products, relations) = payload(&rows, 8)
        let codes = rows.chance(50) ? nil : codes(&rows, 12)
        let before = model
        model.increment(products, relations, codes)
        model.cursor = "i\(step)"
        let report = try catalogue.increment(products, relations, codes: codes, cursor: model.cursor)
        let written = codes.map { $0.count - report.counts.codesIgnored } ?? 0
        #expect(report.counts.codesWritten == written)
        #expect(before.codes.count + written - report.counts.codesDeleted == model.codes.count)
      }
      let snapshot = try catalogue.snapshot
      if snapshot.sequence > 0 { history[snapshot.sequence] = model }
      try compare(snapshot, model)
      if let (sequence, earlier) = history.randomElement(using: &rows.random) {
        try compare(#require(try snapshot.at(sequence)), earlier)
      }
    }
  }

  private func payload(_ rows: inout RowGenerator, _ limit: Int) -> ([Product], [Relation]) {
    var products: [Product] = []
    for _ in 0..<Int.random(in: 0..<limit, using: &rows.random) {
      var product = Product(rows.pick(Self.ids), rows.pick(Self.barcodes), name: rows.pick(["", "a", "b"]))
      if rows.chance(25) { product.delFlag = rows.pick([1, -1, 2]) }
      product.unit = rows.pick(["", "台", "套"])
      product.weight = rows.pick([0, -0.0, 0.35])
      if rows.chance(50) { product.extra = rows.pick(Self.extras) }
      products.append(product)
    }
    var relations: [Relation] = []
    for _ in 0..<Int.random(in: 0..<limit, using: &rows.random) {
      relations.append(
        Relation(rows.pick(Self.ids), rows.pick(Self.ids), rows.integer(), id: rows.pick(["", "r"])))
    }
    return (products, relations)
  }

  private func codes(_ rows: inout RowGenerator, _ limit: Int) -> [ProductCode] {
    let texts = Self.barcodes.filter { $0.utf8.count <= 255 } + ["0", "00", "000000000000000001", "sg1234n", "\u{0}7"]
    var codes: [ProductCode] = []
    for _ in 0..<(limit == 0 ? 0 : Int.random(in: 0..<limit, using: &rows.random)) {
      let quantities = ["1", "1.0", "6", "24", "0.5", "9223372036854775807", "0.000000000000000001", "1.250"]
      codes.append(
        ProductCode(
          rows.pick(Self.ids), rows.pick(texts), ExactDecimal(rows.pick(quantities)) ?? CodeRow.one,
          unit: rows.pick(["", "case", "箱"]), kind: rows.pick(["", "old"]),
          id: rows.pick(["", "0", "007", "c1", "123456789012345678", "1234567890123456789"])))
    }
    return codes
  }

  private func compare(_ snapshot: CatalogSnapshot, _ model: Model) throws {
    try #require(snapshot.cursor == model.cursor)
    let products = model.products.values.sorted { $0.id.isBytewiseLess(than: $1.id) }
    try #require(snapshot.products == products)
    try #require(snapshot.productCount == products.count)
    let stored = try snapshot.relations
    try #require(Self.multiset(stored) == Self.multiset(model.relations))
    try #require(snapshot.relationCount == model.relations.count)
    try #require(Self.multiset(snapshot.codes) == Self.multiset(model.codes))
    try #require(snapshot.codeCount == model.codes.count)
    try #require(snapshot.orphanCodeCount() == model.codes.count { model.products[$0.productId] == nil })
    try #require(snapshot.verify().isEmpty)
    for id in Self.ids + ["nobody"] {
      try #require(snapshot.product(id: id) == model.products[id])
      try #require(snapshot.containsProduct(id: id) == (model.products[id] != nil))
      let ofSet = model.relations.filter { $0.productId == id }
      try #require(Self.multiset(snapshot.relations(ofSet: id)) == Self.multiset(ofSet))
      var lent = 0
      try snapshot.forEachRelation(ofSet: Array(id.utf8).span) { (view) throws(StoreError) in
        lent += ofSet.contains { $0.id == view.id.string && $0.groupNum == view.groupNum } ? 1 : 1000
        return true
      }
      try #require(lent == ofSet.count)
      let ofProduct = model.codes.filter { $0.productId == id }
      try #require(Self.multiset(snapshot.codes(ofProduct: id)) == Self.multiset(ofProduct))
      let components = try snapshot.components(of: id)
      // What was sent as deleted is missing.
      try #require(
        components.allSatisfy { component in
          let product = model.products[component.relation.subProductId]
          return component.product == (product?.delFlag == 0 ? product : nil)
        })
      try #require(components.count == ofSet.count)
      let sets = Set(model.relations.filter { $0.subProductId == id }.map(\.productId))
      try #require(snapshot.sets(with: id) == sets.sorted { $0.isBytewiseLess(than: $1) })
    }
    for barcode in Self.barcodes + ["nothing"] {
      let found = try snapshot.products(barcode: barcode)
      // Without a barcode, or with blanks alone, a product is not found by it.
      let isBlank = barcode.allSatisfy { $0 == " " }
      try #require(found == (isBlank ? [] : products.filter { $0.barcode == barcode }))
      try #require(snapshot.containsProduct(barcode: barcode) == !found.isEmpty)
    }
    for code in Set(model.codes.map(\.code)) {
      let text = CodeKey.of(code)
      let own = model.codes.contains {
        CodeKey.of($0.code) == text && $0.code.trimmedAsCode == code.trimmedAsCode
          && model.products[$0.productId].map { $0.delFlag == 0 } ?? false
      }
      let found = try snapshot.withProduct(code: code.utf8.span) { (view, _) throws(StoreError) in view.id }
      try #require((found != nil) == (own && !text.isEmpty))
      // No product's own barcode, so that only the code can match it.
      if products.contains(where: { CodeKey.of($0.barcode) == text && $0.delFlag == 0 }) || text.isEmpty { continue }
      let match = try snapshot.match(code, options: Self.exactOnly)
      if own, match.scan.payload == code { try #require(match.kind == .exact && match.key == code.trimmedAsCode) }
    }
    // Every commit has the indexes of the declared fields, or none yet; `verify` derived their keys.
    let declared = snapshot.declaring(Self.declared)
    if snapshot.productCount > 0, declared.fieldsWithoutIndex.isEmpty {
      for number in 0..<3 {
        let found = try declared.products(furtherCode: "CARTON-\(number)").map(\.id).sorted()
        let expected = products.filter { $0.delFlag == 0 && $0.extra == Self.extras[number] }.map(\.id).sorted()
        try #require(Set(found).isSuperset(of: expected))
        let condition = try declared.products(where: "extra.price == \(number).5")
        try #require(condition.count() == products.count { $0.extra == Self.extras[number] })
      }
    }
    // Each more than once, and more than a group of them.
    let batch = (0..<3).flatMap { _ in Self.barcodes + ["nothing", "", " "] }
    var single: [[Product]] = []
    for barcode in batch { single.append(try snapshot.products(barcode: barcode)) }
    try #require(snapshot.products(barcodes: batch) == single)
  }

  private static let declared: DeclaredFields = try! DeclaredFields(
    json: Array(
      #"{"price":{"type":"decimal","order":true},"carton":{"role":"code"},"color":{"search":true}}"#.utf8))
  private static let extras: [ProductExtra] = (0..<3).map { number in
    try! ProductExtra(json: #"{"price":\#(number).50,"carton":["carton-\#(number)"],"color":"red \#(number)"}"#)
  }

  private static let exactOnly: MatchingOptions = {
    var options = MatchingOptions()
    options.heads.isEnabled = false
    return options
  }()

  private static func multiset<Row: Hashable>(_ rows: [Row]) -> [Row: Int] {
    Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
  }
}
