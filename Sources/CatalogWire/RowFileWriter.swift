public import CatalogRows

/// Writes rows as the text of a file, in either format.
public struct RowFileWriter: Sendable {
  private let format: RowFileFormat

  /// Creates a writer of rows in a format.
  public init(_ format: RowFileFormat) { self.format = format }

  /// Appends what comes before the first row: the names of the columns, where the format has them.
  public func appendHeader(to text: inout [UInt8]) {
    if format == .csv { RowCSV.appendHeader(to: &text) }
  }

  /// Appends a product, and the end of its line.
  public func append(_ row: borrowing ProductRow, to text: inout [UInt8]) {
    switch format {
    case .csv: RowCSV.append(row, to: &text)
    case .ndjson:
      RowJSON.appendDump(row, to: &text)
      text.append(UInt8(ascii: "\n"))
    }
  }

  /// Appends a relation, and the end of its line.
  public func append(_ row: borrowing RelationRow, to text: inout [UInt8]) {
    switch format {
    case .csv: RowCSV.append(row, to: &text)
    case .ndjson:
      RowJSON.appendDump(row, to: &text)
      text.append(UInt8(ascii: "\n"))
    }
  }
}
