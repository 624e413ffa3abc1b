public import CatalogRows

/// An encoder of rows as the text of a file, in any format.
public struct RowFileWriter: Sendable {
  private let format: RowFileFormat

  /// Creates a writer of rows in a format.
  public init(_ format: RowFileFormat) { self.format = format }

  /// Appends the text before the first row: the names of the columns, if the format has them.
  public func appendHeader(to text: inout [UInt8]) {
    if let delimiter = format.delimiter { RowCSV.appendHeader(to: &text, delimiter: delimiter) }
  }

  /// Appends a product and its line terminator.
  public func append(_ row: borrowing ProductRow, to text: inout [UInt8]) {
    if let delimiter = format.delimiter { return RowCSV.append(row, to: &text, delimiter: delimiter) }
    RowJSON.appendDump(row, to: &text)
    text.append(UInt8(ascii: "\n"))
  }

  /// Appends a relation and its line terminator.
  public func append(_ row: borrowing RelationRow, to text: inout [UInt8]) {
    if let delimiter = format.delimiter { return RowCSV.append(row, to: &text, delimiter: delimiter) }
    RowJSON.appendDump(row, to: &text)
    text.append(UInt8(ascii: "\n"))
  }
}
