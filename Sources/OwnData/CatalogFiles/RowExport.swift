public import Catalog
import CatalogRows
import LogStore
public import RowFiles

/// An exporter that writes a catalogue in an order that depends only on its content: products by id, then relations by
/// set, component and id.
public struct RowExport {
  private static let pieceByteCount = 1 << 16

  /// Whether the products are written.
  public var includesProducts = true
  /// Whether the relations are written, after the products.
  public var includesRelations = true
  /// The mapping whose columns a table of products has; `nil` for the columns of the writer. There are no relations
  /// then.
  public var mapping: ReverseMapping?
  private let writer: RowFileWriter

  /// Creates an export of products and relations.
  public init(_ writer: RowFileWriter) { self.writer = writer }

  /// Creates an export of products and relations in a format.
  public init(_ format: RowFileFormat) { self.init(RowFileWriter(format)) }

  /// Passes the text to `write`, piece by piece.
  ///
  /// - Throws: `StoreError.damaged`; the errors of `write`; `RowRefusal` for a product that the mapping cannot hold.
  /// - Precondition: With a mapping, the format is a table.
  /// - Complexity: Reads every row once, and every product twice with a mapping. Keeps 20 bytes in memory for each
  ///   product, and all relations.
  public func write(_ snapshot: CatalogSnapshot, to write: (_ piece: [UInt8]) throws -> Void) throws {
    var piece: [UInt8] = []
    func flush(above limit: Int) throws {
      if piece.count <= limit { return }
      try write(piece)
      piece.removeAll(keepingCapacity: true)
    }
    if let mapping { return try self.write(snapshot, mapping, to: write) }
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

  /// Writes the products as a table with the columns of a mapping.
  private func write(
    _ snapshot: CatalogSnapshot, _ mapping: ReverseMapping, to write: (_ piece: [UInt8]) throws -> Void
  ) throws {
    guard let style = writer.style else { preconditionFailure("a mapping: only a table has its columns") }
    var (mapping, row, piece) = (mapping, ProductRow(), [UInt8]())
    let ids = try snapshot.productRowsByID()
    for id in ids {
      let product = try snapshot.withProduct(id) { (view) throws(StoreError) in try snapshot.copy(view) }
      product?.fill(&row)
      try mapping.scan(row)
    }
    writer.appendMark(to: &piece)
    mapping.appendHeader(to: &piece, style: style)
    for id in ids {
      let product = try snapshot.withProduct(id) { (view) throws(StoreError) in try snapshot.copy(view) }
      product?.fill(&row)
      try mapping.append(row, to: &piece, style: style)
      if piece.count > Self.pieceByteCount {
        try write(piece)
        piece.removeAll(keepingCapacity: true)
      }
    }
    try write(piece)
  }
}
