import Catalog
import CatalogRows
import Foundation
import RowFiles
import ServerAnswers

/// Collects rows as values.
package struct RowCollector: RowSink {
  package var products: [Product] = []
  package var relations: [Relation] = []
  package var codes: [ProductCode] = []

  package init() {}

  package mutating func product(_ row: borrowing ProductRow) { products.append(Product(row)) }
  package mutating func relation(_ row: borrowing RelationRow) { relations.append(Relation(row)) }
  package mutating func code(_ row: borrowing CodeRow) { codes.append(ProductCode(row)) }
}

/// The files that the tests read.
package enum Resource {
  package static func bytes(_ name: String) throws -> [UInt8] {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return [UInt8](try Data(contentsOf: tests.appending(path: "Catalogue/CatalogTests/Resources/" + name)))
  }

  /// The contents of a gzip file.
  package static func unpacked(_ name: String) throws -> [UInt8] {
    var unpacker = OptionalGzip()
    return try unpacker.unpack(try bytes(name)) + unpacker.finish()
  }

  /// The rows of a gzip file of lines.
  package static func rows(_ name: String, _ kind: RowLines.Kind) throws -> RowCollector {
    let bytes = try unpacked(name)
    var rows = RowCollector()
    var lines = RowLines(kind: kind)
    try lines.consume(bytes.span, into: &rows)
    _ = try lines.finish(into: &rows)
    return rows
  }

  package static func json<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(try bytes(name)))
  }
}

/// Decodes a server's answer in pieces of 10,007 bytes.
package func decode<Sink: RowSink>(_ answer: [UInt8], into sink: inout Sink) throws(WireError) -> PayloadSummary {
  var decoder = try ResponseDecoder()
  var start = 0
  while start < answer.count {
    let end = min(start + 10_007, answer.count)
    try decoder.consume(answer.span.extracting(start..<end), into: &sink)
    start = end
  }
  return try decoder.finish()
}
