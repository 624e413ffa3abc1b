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
  var cursor = ""

  mutating func full(_ rows: [Product], _ relations: [Relation]) {
    products = [:]
    for row in rows { products[row.id] = row }
    self.relations = relations
  }

  mutating func increment(_ rows: [Product], _ payload: [Relation]) {
    let deleted = Set(rows.filter { $0.delFlag != 0 }.map(\.id))
    for row in rows where row.delFlag == 0 {
      products[row.id] = row
      relations.removeAll { $0.productId == row.id }
    }
    let upserted = Set(rows.filter { $0.delFlag == 0 }.map(\.id))
    relations += payload.filter { upserted.contains($0.productId) }
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
    let catalogue = try TestCatalogue()
    var model = Model()
    var history: [UInt64: Model] = [:]
    for step in 0..<60 * depth {
      switch Int.random(in: 0..<20, using: &rows.random) {
      case 0:
        let (products, relations) = payload(&rows, 40)
        model.full(products, relations)
        model.cursor = "f\(step)"
        try catalogue.full(products, relations, cursor: model.cursor)
        history = [:]
      case 1:
        try catalogue.writer.compact()
        history = [:]
      case 2: try catalogue.reopen()
      case 3:
        let (products, relations) = payload(&rows, 10)
        var increment = catalogue.writer.beginIncrement(threshold: 1)
        #expect(throws: CatalogError.self) { try increment.take(products + [Product("x")], relations) }
      default:
        let (products, relations) = payload(&rows, 8)
        model.increment(products, relations)
        model.cursor = "i\(step)"
        try catalogue.increment(products, relations, cursor: model.cursor)
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
      products.append(product)
    }
    var relations: [Relation] = []
    for _ in 0..<Int.random(in: 0..<limit, using: &rows.random) {
      relations.append(
        Relation(rows.pick(Self.ids), rows.pick(Self.ids), rows.integer(), id: rows.pick(["", "r"])))
    }
    return (products, relations)
  }

  private func compare(_ snapshot: CatalogSnapshot, _ model: Model) throws {
    try #require(snapshot.cursor == model.cursor)
    let products = model.products.values.sorted { $0.id.isBytewiseLess(than: $1.id) }
    try #require(snapshot.products == products)
    try #require(snapshot.productCount == products.count)
    let stored = try snapshot.relations
    try #require(Self.multiset(stored) == Self.multiset(model.relations))
    try #require(snapshot.relationCount == model.relations.count)
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
    // Each more than once, and more than a group of them.
    let batch = (0..<3).flatMap { _ in Self.barcodes + ["nothing", "", " "] }
    var single: [[Product]] = []
    for barcode in batch { single.append(try snapshot.products(barcode: barcode)) }
    try #require(snapshot.products(barcodes: batch) == single)
  }

  private static func multiset(_ relations: [Relation]) -> [Relation: Int] {
    Dictionary(relations.map { ($0, 1) }, uniquingKeysWith: +)
  }
}
