public import Catalog
import CatalogRows
public import CatalogWire
import LogStore

/// How a file holds the rows of a catalogue.
public enum RowFileFormat: String, Sendable, CaseIterable {
  /// One JSON object a line, as a dump has it.
  case ndjson
  /// Comma-separated values, products and relations in one table.
  case csv

  /// What the name of a file says: CSV by its extension, else NDJSON.
  public init(path: String) { self = path.lowercased().hasSuffix(".csv") ? .csv : .ndjson }
}

/// Writes a catalogue in an order that depends on its content alone: products by id, then relations by set, component and id.
public struct RowExport {
  private static let pieceByteCount = 1 << 16

  public var includesProducts = true
  public var includesRelations = true
  private let format: RowFileFormat

  public init(_ format: RowFileFormat) { self.format = format }

  /// Hands the text to `write`, piece by piece.
  ///
  /// - Throws: `StoreError.damaged`; what `write` throws.
  /// - Complexity: reads every row once; keeps 20 bytes for each product, and all relations.
  public func write(_ snapshot: CatalogSnapshot, to write: (_ piece: [UInt8]) throws -> Void) throws {
    var piece: [UInt8] = []
    func flush(above limit: Int) throws {
      if piece.count <= limit { return }
      try write(piece)
      piece.removeAll(keepingCapacity: true)
    }
    if format == .csv { RowCSV.appendHeader(to: &piece) }
    if includesProducts {
      var row = ProductRow()
      for offset in try snapshot.productOffsetsById() {
        let product = try snapshot.withProduct(at: offset) { (view) throws(StoreError) in try snapshot.copy(view) }
        product?.fill(&row)
        append(row, to: &piece)
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
        append(row, to: &piece)
        try flush(above: Self.pieceByteCount)
      }
    }
    try flush(above: 0)
  }

  private func append(_ row: borrowing ProductRow, to piece: inout [UInt8]) {
    switch format {
    case .csv: RowCSV.append(row, to: &piece)
    case .ndjson:
      RowJSON.appendDump(row, to: &piece)
      piece.append(0x0A)
    }
  }

  private func append(_ row: borrowing RelationRow, to piece: inout [UInt8]) {
    switch format {
    case .csv: RowCSV.append(row, to: &piece)
    case .ndjson:
      RowJSON.appendDump(row, to: &piece)
      piece.append(0x0A)
    }
  }
}

/// A file of rows on its way into the catalogue, as a full update: bytes go in as they are read, a commit comes out.
///
/// An import that is dropped or fails changes nothing.
public struct RowImport: ~Copyable {
  private var update: FullUpdate?
  private var lines = RowLines(kind: .tagged)
  private var table = CSVRows()
  private let format: RowFileFormat

  /// - Parameters:
  ///   - writer: of the catalogue.
  ///   - format: of the file.
  ///   - gate: what the update may lose.
  /// - Throws: `StoreError`.
  public init(_ writer: CatalogWriter, _ format: RowFileFormat, _ gate: LossGate = LossGate()) throws {
    self.format = format
    update = try writer.beginFullUpdate(gate)
  }

  /// Takes the next bytes of the file.
  ///
  /// - Throws: `WireError` with the place of what is wrong, `StoreError`. The import is then over.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    do {
      switch format {
      case .ndjson: try lines.consume(bytes, into: &update!)
      case .csv: try table.consume(bytes, into: &update!)
      }
    } catch {
      try giveUp(error)
    }
  }

  /// Ends the file, and puts its rows in the place of those of the catalogue.
  ///
  /// - Parameter cursor: what the next request to the server says; an empty one asks for everything.
  /// - Returns: what was done, and is durable; and what the file held.
  /// - Throws: `CatalogError.wouldLose` if the gate refuses; as ``consume(_:)``. Nothing changed then.
  public mutating func finish(cursor: String) throws -> (update: UpdateReport, rows: RowLines.Summary) {
    let summary: RowLines.Summary
    do {
      summary = try format == .csv ? table.finish(into: &update!) : lines.finish(into: &update!)
    } catch {
      try giveUp(error)
    }
    guard let update else { preconditionFailure("an import is finished once") }
    self.update = nil
    return (try update.commit(cursor: cursor, defaulted: summary.defaulted.total), summary)
  }

  /// Gives the import up; nothing changed.
  public mutating func cancel() {
    update?.cancel()
    update = nil
  }

  private mutating func giveUp(_ error: WireError) throws -> Never {
    cancel()
    throw error.cause
  }
}
