public import CatalogRows

/// An encoder of rows as the text of a file, in any format.
public struct RowFileWriter: Sendable {
  private let format: RowFileFormat
  /// The fields of a product that are written, in this order, and nothing else; `nil` for all, with the type of the row
  /// and the fields of relations.
  public var columns: [ProductField]?
  /// Whether a table is for Excel: it begins with a byte order mark, and texts stay texts. See ``RowCSV/Style``.
  public var isForExcel = false
  /// The byte between two fields of a table; `nil` for that of the format.
  public var delimiter: UInt8?
  /// Whether a table for Excel begins with a byte order mark, which only UTF-8 needs.
  public var hasMark = true
  /// Whether a table with all columns has one for the fields beyond the 25. JSON has them with each product.
  public var hasExtra = false
  /// Whether a table with all columns has those of codes. JSON has the fields of each row with it.
  public var hasCodes = false

  /// Creates a writer of rows in a format.
  public init(_ format: RowFileFormat) { self.format = format }

  /// How the cells of a table are written; `nil` for JSON.
  public var style: RowCSV.Style? {
    guard let delimiter = format.delimiter else { return nil }
    var style = RowCSV.Style()
    style.delimiter = self.delimiter ?? delimiter
    style.isForExcel = isForExcel
    style.hasExtra = hasExtra
    style.hasCodes = hasCodes
    return style
  }

  /// Appends the text before the first row: the names of the columns, if the format has them.
  public func appendHeader(to text: inout [UInt8]) {
    guard let style else { return }
    appendMark(to: &text)
    if let columns { return RowCSV.append(columns.map(\.key), to: &text, style: style) }
    RowCSV.appendHeader(to: &text, style: style)
  }

  /// Appends the byte order mark, if there is one.
  package func appendMark(to text: inout [UInt8]) {
    if isForExcel, hasMark { text += RowCSV.byteOrderMark }
  }

  /// Appends a product and its line terminator.
  public func append(_ row: borrowing ProductRow, to text: inout [UInt8]) {
    switch (style, columns) {
    case (let style?, let columns?): RowCSV.append(row, columns, to: &text, style: style)
    case (let style?, nil): RowCSV.append(row, to: &text, style: style)
    case (nil, let columns?):
      RowJSON.append(row, columns, to: &text)
      text.append(UInt8(ascii: "\n"))
    case (nil, nil):
      RowJSON.appendDump(row, to: &text)
      text.append(UInt8(ascii: "\n"))
    }
  }

  /// Appends a relation and its line terminator.
  public func append(_ row: borrowing RelationRow, to text: inout [UInt8]) {
    if let style { return RowCSV.append(row, to: &text, style: style) }
    RowJSON.appendDump(row, to: &text)
    text.append(UInt8(ascii: "\n"))
  }

  /// Appends a code and its line terminator. A table needs ``hasCodes``.
  public func append(_ row: borrowing CodeRow, to text: inout [UInt8]) {
    if let style { return RowCSV.append(row, to: &text, style: style) }
    RowJSON.appendDump(row, to: &text)
    text.append(UInt8(ascii: "\n"))
  }
}
