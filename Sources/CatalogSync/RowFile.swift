public import Catalog
import CatalogRows
import CatalogWire
import LogStore

/// How a file holds the rows of a catalogue.
public enum RowFileFormat: String, Sendable, CaseIterable {
  /// One JSON object a line, as a dump has it.
  case ndjson
  /// Comma-separated values, products and relations in one table.
  case csv

  /// What the extension of a file's name says, in upper or lower case: `csv`, `ndjson` or `jsonl`, and after one of these
  /// `gz`. `nil` for every other extension.
  ///
  /// - Parameter path: The name of a file, or the path to it. A name without an extension stands for NDJSON.
  public init?(path: String) {
    var parts = (path.lowercased().split(separator: "/").last ?? "").split(
      separator: ".", omittingEmptySubsequences: false)
    // What begins with a dot is a name, no extension.
    if parts.first?.isEmpty == true { parts.removeFirst() }
    if parts.count > 2, parts.last == "gz" { parts.removeLast() }
    guard parts.count > 1, let last = parts.last else {
      self = .ndjson
      return
    }
    switch last {
    case "csv": self = .csv
    case "ndjson", "jsonl": self = .ndjson
    default: return nil
    }
  }

  /// Whether a file's name says that it is packed with gzip.
  public static func isPacked(path: String) -> Bool { path.lowercased().hasSuffix(".gz") }
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
      for id in try snapshot.productRowsByID() {
        let product = try snapshot.withProduct(id) { (view) throws(StoreError) in try snapshot.copy(view) }
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
