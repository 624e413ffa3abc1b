package import Barcodes
import Catalog
import CatalogRows
import LogStore
import StoreTestSupport

/// A catalogue in a temporary directory, with its writer.
package final class TestCatalogue {
  package let folder: TemporaryDirectory
  package let location: StoreLocation
  package private(set) var writer: CatalogWriter

  package init(indexes: CatalogIndexes = .standard) throws {
    folder = try TemporaryDirectory()
    location = StoreLocation.test(folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    writer = try CatalogWriter(location, indexes: indexes)
  }

  /// A catalogue that one full update filled.
  package convenience init(
    _ products: [Product], _ relations: [Relation] = [], codes: [ProductCode] = []
  ) throws {
    try self.init()
    try full(products, relations, codes: codes)
  }

  /// A catalogue from the bytes of a file.
  package init(stored bytes: [UInt8], indexes: CatalogIndexes = .standard) throws {
    folder = try TemporaryDirectory()
    location = StoreLocation.test(folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    try folder.directory.open("catalog.log", .create)?.write(bytes, at: 0)
    writer = try CatalogWriter(location, indexes: indexes)
  }

  deinit { writer.close() }

  package var snapshot: CatalogSnapshot { get throws { try writer.snapshot() } }

  /// The bytes of the file.
  package var logBytes: [UInt8] {
    get throws {
      guard let file = try location.directory.open("catalog.log", .read) else { return [] }
      return try file.read(file.size(), at: 0)
    }
  }

  package func reopen(indexes: CatalogIndexes = .standard) throws {
    writer.close()
    writer = try CatalogWriter(location, indexes: indexes)
  }

  @discardableResult
  package func full(
    _ products: [Product], _ relations: [Relation] = [], codes: [ProductCode] = [], cursor: String = "full",
    lossLimit: LossLimit = .open
  ) throws -> UpdateReport {
    var update = try writer.beginFullUpdate(lossLimit)
    try update.take(products, relations, codes)
    return try update.commit(cursor: cursor)
  }

  @discardableResult
  package func increment(
    _ products: [Product], _ relations: [Relation] = [], codes: [ProductCode]? = nil, cursor: String = "increment",
    threshold: Int? = nil
  ) throws -> UpdateReport {
    var increment = writer.beginIncrement(threshold: threshold)
    try increment.take(products, relations, codes ?? [])
    increment.keepsCodes = codes == nil
    return try increment.commit(cursor: cursor)
  }
}

extension RowSink {
  package mutating func take(
    _ products: [Product], _ relations: [Relation], _ codes: [ProductCode] = []
  ) throws {
    var productRow = ProductRow()
    for product in products {
      product.fill(&productRow)
      try self.product(productRow)
    }
    var relationRow = RelationRow()
    for relation in relations {
      relation.fill(&relationRow)
      try self.relation(relationRow)
    }
    var codeRow = CodeRow()
    for code in codes {
      code.fill(&codeRow)
      try self.code(codeRow)
    }
  }
}

extension Product {
  package init(_ id: String, _ barcode: String = "", name: String = "", delFlag: Int64 = 0) {
    self.init()
    self.id = id
    self.barcode = barcode
    self.name = name
    self.delFlag = delFlag
  }
}

extension Relation {
  package init(_ set: String, _ component: String, _ count: Int64 = 1, id: String = "") {
    self.init()
    productId = set
    subProductId = component
    groupNum = count
    self.id = id
  }
}

extension ProductCode {
  package init(
    _ product: String, _ code: String, _ quantity: ExactDecimal = CodeRow.one, unit: String = "", kind: String = "",
    id: String = ""
  ) {
    self.init()
    productId = product
    self.code = code
    self.quantity = quantity
    self.unit = unit
    self.kind = kind
    self.id = id
  }
}

extension CatalogSnapshot {
  /// The codes in the order of `dump`.
  package var codes: [ProductCode] {
    get throws {
      var codes: [ProductCode] = []
      try forEachCode { (code) throws(StoreError) in codes.append(code) }
      return codes.sorted(by: ProductCode.precedes)
    }
  }

  /// The products in the order of ids, by code point.
  package var products: [Product] {
    get throws {
      var products: [Product] = []
      try forEachProduct { (view) throws(StoreError) in products.append(try Product(view)) }
      return products.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }
  }

  package var relations: [Relation] {
    get throws {
      var relations: [Relation] = []
      try forEachRelation { (relation) throws(StoreError) in relations.append(relation) }
      return relations.sorted(by: Relation.precedes)
    }
  }

  /// The canonical dump that `series.json` has the digests of.
  package var canonicalDump: [UInt8] {
    get throws {
      var dump: [UInt8] = []
      for product in try products { dump += product.canonicalLine }
      let lines = try relations.map(\.canonicalLine).sorted { $0.lexicographicallyPrecedes($1) }
      for line in lines { dump += line }
      var row = CodeRow()
      for code in try codes.sorted(by: {
        ($0.productId, $0.code, $0.id, $0.kind) < ($1.productId, $1.code, $1.id, $1.kind)
      }) {
        code.fill(&row)
        RowJSON.appendDump(row, to: &dump)
        dump.append(UInt8(ascii: "\n"))
      }
      return dump
    }
  }
}

extension Product {
  package var canonicalLine: [UInt8] {
    var row = ProductRow()
    fill(&row)
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    return Array("{\"p\":{".utf8) + json.dropFirst("{\"type\":\"product\",".utf8.count) + Array("}\n".utf8)
  }
}

extension Relation {
  package var canonicalLine: [UInt8] {
    var row = RelationRow()
    fill(&row)
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    return Array("{\"r\":{".utf8) + json.dropFirst("{\"type\":\"relation\",".utf8.count) + Array("}\n".utf8)
  }
}

extension TestCatalogue {
  package convenience init(_ products: [Product], cursor: String) throws {
    try self.init()
    try full(products, cursor: cursor)
  }
}
