import Catalog
import CatalogRows
import Foundation
import LogStore
import RowFiles
import ServerAnswers
import StoreTestSupport

/// A catalogue in a temporary directory, with its writer.
final class TestCatalogue {
  let folder: TemporaryDirectory
  let location: StoreLocation
  private(set) var writer: CatalogWriter

  init(indexes: CatalogIndexes = .standard) throws {
    folder = try TemporaryDirectory()
    location = StoreLocation(folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    writer = try CatalogWriter(location, indexes: indexes)
  }

  /// A catalogue that one full update filled.
  convenience init(_ products: [Product], _ relations: [Relation] = []) throws {
    try self.init()
    try full(products, relations)
  }

  deinit { writer.close() }

  var snapshot: CatalogSnapshot { get throws { try writer.snapshot() } }

  /// The bytes of the file.
  var logBytes: [UInt8] {
    get throws {
      guard let file = try location.directory.open("catalog.log", .read) else { return [] }
      return try file.read(file.size(), at: 0)
    }
  }

  func reopen(indexes: CatalogIndexes = .standard) throws {
    writer.close()
    writer = try CatalogWriter(location, indexes: indexes)
  }

  @discardableResult
  func full(
    _ products: [Product], _ relations: [Relation] = [], cursor: String = "full", lossLimit: LossLimit = .open
  ) throws -> UpdateReport {
    var update = try writer.beginFullUpdate(lossLimit)
    try update.take(products, relations)
    return try update.commit(cursor: cursor)
  }

  @discardableResult
  func increment(
    _ products: [Product], _ relations: [Relation] = [], cursor: String = "increment", threshold: Int? = nil
  ) throws -> UpdateReport {
    var increment = writer.beginIncrement(threshold: threshold)
    try increment.take(products, relations)
    return try increment.commit(cursor: cursor)
  }
}

extension RowSink {
  mutating func take(_ products: [Product], _ relations: [Relation]) throws {
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
  }
}

extension Product {
  init(_ id: String, _ barcode: String = "", name: String = "", delFlag: Int64 = 0) {
    self.init()
    self.id = id
    self.barcode = barcode
    self.name = name
    self.delFlag = delFlag
  }
}

extension Relation {
  init(_ set: String, _ component: String, _ count: Int64 = 1, id: String = "") {
    self.init()
    productId = set
    subProductId = component
    groupNum = count
    self.id = id
  }
}

extension CatalogSnapshot {
  /// The products in the order of ids, by code point.
  var products: [Product] {
    get throws {
      var products: [Product] = []
      try forEachProduct { (view) throws(StoreError) in products.append(try Product(view)) }
      return products.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }
  }

  var relations: [Relation] {
    get throws {
      var relations: [Relation] = []
      try forEachRelation { (relation) throws(StoreError) in relations.append(relation) }
      return relations.sorted(by: Relation.precedes)
    }
  }

  /// The canonical dump that `series.json` has the digests of.
  var canonicalDump: [UInt8] {
    get throws {
      var dump: [UInt8] = []
      for product in try products { dump += product.canonicalLine }
      let lines = try relations.map(\.canonicalLine).sorted { $0.lexicographicallyPrecedes($1) }
      for line in lines { dump += line }
      return dump
    }
  }
}

extension Product {
  var canonicalLine: [UInt8] {
    var row = ProductRow()
    fill(&row)
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    return Array("{\"p\":{".utf8) + json.dropFirst("{\"type\":\"product\",".utf8.count) + Array("}\n".utf8)
  }
}

extension Relation {
  var canonicalLine: [UInt8] {
    var row = RelationRow()
    fill(&row)
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    return Array("{\"r\":{".utf8) + json.dropFirst("{\"type\":\"relation\",".utf8.count) + Array("}\n".utf8)
  }
}

/// Collects rows as values.
struct RowCollector: RowSink {
  var products: [Product] = []
  var relations: [Relation] = []

  mutating func product(_ row: borrowing ProductRow) { products.append(Product(row)) }
  mutating func relation(_ row: borrowing RelationRow) { relations.append(Relation(row)) }
}

/// The files that the tests read.
enum Resource {
  static func bytes(_ name: String) throws -> [UInt8] {
    let file = Bundle.module.bundleURL.appendingPathComponent("Resources/" + name)
    return [UInt8](try Data(contentsOf: file))
  }

  /// The contents of a gzip file, unpacked by the module that unpacks the server's answers.
  static func unpacked(_ name: String) throws -> [UInt8] {
    let packed = Data(try bytes(name)).base64EncodedString()
    let envelope = Array("{\"message\":\"\",\"code\":1000,\"data\":\"\(packed)\"}".utf8)
    var unpacker = try ResponseUnpacker()
    var bytes: [UInt8] = []
    try unpacker.consume(envelope.span) { (chunk) throws(WireError) in
      for index in chunk.indices { bytes.append(chunk[index]) }
    }
    try unpacker.finish()
    return bytes
  }

  /// The rows of a gzip file of lines.
  static func rows(_ name: String, _ kind: RowLines.Kind) throws -> RowCollector {
    let bytes = try unpacked(name)
    var rows = RowCollector()
    var lines = RowLines(kind: kind)
    try lines.consume(bytes.span, into: &rows)
    _ = try lines.finish(into: &rows)
    return rows
  }

  static func json<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(try bytes(name)))
  }
}

/// Decodes a server's answer in pieces of 10,007 bytes.
func decode<Sink: RowSink>(_ answer: [UInt8], into sink: inout Sink) throws(WireError) -> PayloadSummary {
  var decoder = try ResponseDecoder()
  var start = 0
  while start < answer.count {
    let end = min(start + 10_007, answer.count)
    try decoder.consume(answer.span.extracting(start..<end), into: &sink)
    start = end
  }
  return try decoder.finish()
}

extension TestCatalogue {
  convenience init(_ products: [Product], cursor: String) throws {
    try self.init()
    try full(products, cursor: cursor)
  }
}
