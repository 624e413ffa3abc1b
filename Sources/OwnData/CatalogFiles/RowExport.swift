public import Catalog
import CatalogRows
import LogStore
public import RowFiles

/// An exporter that writes a catalogue in an order that depends only on its content: products by id, then relations by
/// set, component and id, then codes by product, code and id.
public struct RowExport {
  private static let pieceByteCount = 1 << 16

  /// Whether the products are written.
  public var includesProducts = true
  /// Whether the relations are written, after the products.
  public var includesRelations = true
  /// Whether the codes are written, after the relations.
  public var includesCodes = true
  /// The mapping whose columns a table of products has; `nil` for the columns of the writer. There are no relations
  /// and codes then.
  public var mapping: ReverseMapping?
  /// The columns of products if fields of one's own are among them, instead of those of the writer; `nil` for these. A
  /// column has the name and the value that a query shows: `extra.price`.
  package var columns: [ProductQueryField]?
  private let writer: RowFileWriter

  /// Creates an export of products and relations.
  public init(_ writer: RowFileWriter) { self.writer = writer }

  /// Creates an export of products and relations in a format.
  public init(_ format: RowFileFormat) { self.init(RowFileWriter(format)) }

  /// Passes the text to `write`, piece by piece.
  ///
  /// - Throws: `StoreError.damaged`; the errors of `write`; `RowRefusal` for a product that the mapping cannot hold.
  /// - Precondition: With a mapping, the format is a table.
  /// - Complexity: Reads every id, and then every row in the order of the ids. Keeps 20 bytes in memory for each
  ///   product, all relations and all codes. A table that has a column for each field with a value has read every product once
  ///   more before its first record, which names the columns.
  public func write(_ snapshot: CatalogSnapshot, to write: (_ piece: [UInt8]) throws -> Void) throws {
    var piece: [UInt8] = []
    func flush(above limit: Int) throws {
      if piece.count <= limit { return }
      try write(piece)
      piece.removeAll(keepingCapacity: true)
    }
    if var mapping {
      guard let style = writer.style else { preconditionFailure("a mapping: only a table has its columns") }
      let ids = try snapshot.productRowsByID()
      if mapping.needsScan { try Self.forEach(ids, of: snapshot) { try mapping.scan($0) } }
      writer.appendMark(to: &piece)
      mapping.appendHeader(to: &piece, style: style)
      try Self.forEach(ids, of: snapshot) { row in
        try mapping.append(row, to: &piece, style: style)
        try flush(above: Self.pieceByteCount)
      }
      return try flush(above: 0)
    }
    if let columns {
      if let style = writer.style {
        writer.appendMark(to: &piece)
        RowCSV.append(columns.map(\.key), to: &piece, style: style)
      }
      let needCodes = columns.contains { $0 == .codes || $0 == .codeCount }
      try Self.forEach(snapshot.productRowsByID(), of: snapshot) { row in
        append(row, columns, codes: needCodes ? try snapshot.codes(ofProduct: row[.id]) : [], to: &piece)
        try flush(above: Self.pieceByteCount)
      }
      return try flush(above: 0)
    }
    var writer = writer
    writer.hasExtra = snapshot.mayHaveExtra
    writer.hasCodes = includesCodes && snapshot.codeCount > 0
    writer.appendHeader(to: &piece)
    if includesProducts {
      try Self.forEach(snapshot.productRowsByID(), of: snapshot) { row in
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
    if includesCodes, writer.columns == nil, writer.style == nil || writer.hasCodes {
      var codes: [ProductCode] = []
      try snapshot.forEachCode { codes.append($0) }
      codes.sort(by: ProductCode.precedes)
      var row = CodeRow()
      for code in codes {
        code.fill(&row)
        writer.append(row, to: &piece)
        try flush(above: Self.pieceByteCount)
      }
    }
    try flush(above: 0)
  }

  /// Passes the codes alone to `write`, piece by piece: as a table of codes, which an import reads with `--codes`, or as
  /// rows of NDJSON.
  ///
  /// - Parameters:
  ///   - snapshot: The catalogue.
  ///   - decimal: The separator of decimals in a table.
  ///   - write: Receives the text.
  /// - Throws: `StoreError.damaged`; the errors of `write`.
  /// - Complexity: Keeps all codes in memory.
  package func writeCodes(
    _ snapshot: CatalogSnapshot, decimal: Character, to write: (_ piece: [UInt8]) throws -> Void
  ) throws {
    var codes: [ProductCode] = []
    try snapshot.forEachCode { codes.append($0) }
    codes.sort(by: ProductCode.precedes)
    var piece: [UInt8] = []
    let fields: [CodeField] = [.productId, .code, .quantity, .unit, .kind, .id]
    if let style = writer.style {
      writer.appendMark(to: &piece)
      RowCSV.append(fields.map(\.key), to: &piece, style: style)
    }
    var row = CodeRow()
    for code in codes {
      code.fill(&row)
      if let style = writer.style {
        let cells = fields.map { field -> RowCSV.Cell in
          if let text = field.text { return .text(row[text]) }
          let number = row.quantity.description
          return decimal == "." ? .number(number) : .text(number.replacing(".", with: String(decimal)))
        }
        RowCSV.append(cells, to: &piece, style: style)
      } else {
        writer.append(row, to: &piece)
      }
      if piece.count > Self.pieceByteCount {
        try write(piece)
        piece.removeAll(keepingCapacity: true)
      }
    }
    if !piece.isEmpty { try write(piece) }
  }

  /// Appends a product with columns among which are fields of one's own, or its codes.
  private func append(
    _ row: borrowing ProductRow, _ columns: [ProductQueryField], codes: [ProductCode], to piece: inout [UInt8]
  ) {
    guard let style = writer.style else {
      RowJSON.append(row, columns, codes: codes, to: &piece)
      return piece.append(UInt8(ascii: "\n"))
    }
    var cells: [RowCSV.Cell] = []
    for column in columns {
      let text = row.text(of: column, codes: codes)
      // A spreadsheet is to calculate with numbers of the 25 fields; what others have may be any text.
      cells.append(column.plain.map { $0.text == nil } ?? false ? .number(text) : .text(text))
    }
    RowCSV.append(cells, to: &piece, style: style)
  }

  /// Calls `body` with each product, in a row that is reused.
  private static func forEach(
    _ ids: [RowID], of snapshot: CatalogSnapshot, _ body: (borrowing ProductRow) throws -> Void
  ) throws {
    var row = ProductRow()
    for id in ids where try snapshot.copy(id, to: &row) { try body(row) }
  }
}
