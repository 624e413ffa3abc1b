import DocumentFormat
import JSONFormat
import RowFiles

/// Tables for spreadsheets: what the pages export as CSV.
///
/// A table begins with a byte order mark, and a text that a spreadsheet would take for a formula, a number or a date is
/// written as a formula with a constant text, as `catalogctl export --excel` does. So zeros at the beginning of a code
/// stay, and nothing from a catalogue is calculated. Numbers are written as numbers.
enum SheetRows {
  static let style: RowCSV.Style = {
    var style = RowCSV.Style()
    style.isForExcel = true
    return style
  }()

  /// The largest number of digits that a spreadsheet keeps.
  private static let digitLimit = 15

  /// The beginning of a table: the byte order mark and the names of the columns.
  static func header(_ names: [String]) -> [UInt8] {
    var csv = RowCSV.byteOrderMark
    RowCSV.append(names, to: &csv, style: style)
    return csv
  }

  /// Appends a record.
  static func append(_ cells: [RowCSV.Cell], to csv: inout [UInt8]) { RowCSV.append(cells, to: &csv, style: style) }

  /// Appends the fields of an object with these names as a record.
  static func append(_ object: DocumentValue, _ names: [String], to csv: inout [UInt8]) {
    append(names.map { cell(object[$0]) }, to: &csv)
  }

  /// A value as a cell; empty if it is missing or null.
  static func cell(_ value: DocumentValue?) -> RowCSV.Cell {
    switch value {
    case nil, .null?: return .text("")
    case .text(let text)?: return .text(text)
    case .object(_)?, .array(_)?: return .text(value?.json ?? "")
    case let value?:
      let text = value.json
      return text.utf8.count { 0x30...0x39 ~= $0 } > digitLimit ? .text(text) : .number(text)
    }
  }
}
