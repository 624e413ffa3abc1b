public import Catalog
import CatalogRows
public import CatalogWire
import LogStore

/// An exporter that writes a catalogue in an order that depends only on its content: products by id, then relations by
/// set, component and id.
public struct RowExport {
  private static let pieceByteCount = 1 << 16

  /// Whether the products are written.
  public var includesProducts = true
  /// Whether the relations are written, after the products.
  public var includesRelations = true
  private let writer: RowFileWriter

  /// Creates an export of products and relations.
  public init(_ writer: RowFileWriter) { self.writer = writer }

  /// Creates an export of products and relations in a format.
  public init(_ format: RowFileFormat) { self.init(RowFileWriter(format)) }

  /// Passes the text to `write`, piece by piece.
  ///
  /// - Throws: `StoreError.damaged`; the errors of `write`.
  /// - Complexity: Reads every row once. Keeps 20 bytes in memory for each product, and all relations.
  public func write(_ snapshot: CatalogSnapshot, to write: (_ piece: [UInt8]) throws -> Void) throws {
    var piece: [UInt8] = []
    func flush(above limit: Int) throws {
      if piece.count <= limit { return }
      try write(piece)
      piece.removeAll(keepingCapacity: true)
    }
    var writer = writer
    writer.hasExtra = snapshot.mayHaveExtra
    writer.appendHeader(to: &piece)
    if includesProducts {
      var row = ProductRow()
      for id in try snapshot.productRowsByID() {
        let product = try snapshot.withProduct(id) { (view) throws(StoreError) in try snapshot.copy(view) }
        product?.fill(&row)
        writer.append(row, to: &piece)
        try flush(above: Self.pieceByteCount)
      }
    }
    if includesRelations {
      var relations: [Relation] = []
      try snapshot.forEachRelation { relations.append($0) }
      relations.sort(by: Relation.precedes)
      var row = RelationRow()
      for relation in relations {
        relation.fill(&row)
        writer.append(row, to: &piece)
        try flush(above: Self.pieceByteCount)
      }
    }
    try flush(above: 0)
  }
}
