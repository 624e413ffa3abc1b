public import CatalogRows
import RowFiles

/// Products of a real catalogue, from which a larger one is made.
public struct CatalogueSample: Sendable, RowSink {
  /// The rows, in the order of the file.
  public private(set) var rows: [ProductRow] = []

  /// Reads products from NDJSON, one object a line.
  ///
  /// - Throws: `RowFileError` for a line that is no JSON object.
  public init(ndjson: [UInt8]) throws {
    var lines = RowLines(kind: .products)
    try lines.consume(ndjson.span, into: &self)
    _ = try lines.finish(into: &self)
  }

  /// Adds a product to the sample.
  public mutating func product(_ row: borrowing ProductRow) { rows.append(copy row) }

  /// Ignores a relation: a sample contains products only.
  public mutating func relation(_ row: borrowing RelationRow) {}

  /// Ignores a code, as a relation.
  public mutating func code(_ row: borrowing CodeRow) {}
}
