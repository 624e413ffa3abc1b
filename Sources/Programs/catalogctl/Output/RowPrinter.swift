import Catalog
import CatalogRows
import DocumentFormat
import JSONFormat
import LogStore
import RowFiles

/// Text for standard output, which is written in pieces.
private struct PieceBuffer {
  private static let pieceByteCount = 1 << 16
  var bytes: [UInt8] = []

  mutating func flush(always: Bool = false) {
    if bytes.isEmpty || (!always && bytes.count < Self.pieceByteCount) { return }
    Console.print(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// Rows of values with named columns, printed for people or for programs.
struct RowPrinter {
  enum Format { case table, json, csv }

  private let format: Format
  private let columns: [String]
  private var rows: [[DocumentValue]] = []
  private var pieces = PieceBuffer()

  /// Creates a printer; the CSV header is written even if no row follows.
  init(_ format: Format, _ columns: [String]) {
    self.format = format
    self.columns = columns
    if format == .csv { RowCSV.append(columns, to: &pieces.bytes) }
  }

  /// Adds a row with a value for each column.
  mutating func add(_ row: [DocumentValue]) {
    switch format {
    case .table: rows.append(row)
    case .json:
      JSONText.object(zip(columns, row).map { ($0, Self.json($1)) }).append(to: &pieces.bytes)
      pieces.bytes.append(UInt8(ascii: "\n"))
    case .csv: RowCSV.append(row.map(Self.text), to: &pieces.bytes)
    }
    pieces.flush()
  }

  mutating func end() {
    pieces.flush(always: true)
    if format != .table { return }
    let isNumber = columns.indices.map { column in rows.allSatisfy { $0[column].kind == .number } }
    var table = Table(zip(columns, isNumber).map { $1 ? ">" + $0 : $0 })
    for row in rows { table.add(row.map { Table.cell(Self.text($0)) }) }
    table.print()
  }

  /// A value of a product as JSON; null for a number that is not finite, as in a product.
  private static func json(_ value: DocumentValue) -> JSONText {
    if case .double(let value) = value { return .double(value) }
    return .document(value)
  }

  /// A value as text; empty for a number that is not finite, as in a product's CSV.
  private static func text(_ value: DocumentValue) -> String {
    switch value {
    case .text(let text): text
    case .double(let value): value.isFinite ? value.description : ""
    default: value.json
    }
  }
}

/// Products, printed for people or for programs, with all fields or some of them.
struct ProductPrinter {
  private let format: RowPrinter.Format
  /// The fields to print; `nil` for all fields in JSON and CSV, and for the usual table.
  private let fields: [ProductQueryField]?
  private let snapshot: CatalogSnapshot
  private let needsCodes: Bool
  private var products: [(product: Product, codes: [ProductCode])] = []
  private var row = ProductRow()
  private var pieces = PieceBuffer()

  /// All fields in the order of their names, as `export` writes them.
  private static let allFields = ProductField.allCases.sorted { $0.key < $1.key }

  /// Creates a printer; the CSV header is written even if no product follows.
  ///
  /// - Parameters:
  ///   - format: How they are printed.
  ///   - columns: The fields to print; `nil` for all, and for the usual table.
  ///   - snapshot: The catalogue with the products.
  init(_ format: RowPrinter.Format, _ columns: ProductColumns?, _ snapshot: CatalogSnapshot) {
    let fields = columns?.fields
    self.snapshot = snapshot
    needsCodes = columns?.needCodes ?? false
    self.format = format
    self.fields = fields
    if format == .csv { RowCSV.append(fields?.map(\.key) ?? Self.allFields.map(\.key), to: &pieces.bytes) }
  }

  mutating func add(_ product: Product) throws(StoreError) {
    let codes = needsCodes ? try snapshot.codes(ofProduct: product.id) : []
    if format == .table {
      products.append((product, codes))
      return
    }
    product.fill(&row)
    if format == .csv {
      let plain = fields.map { $0.compactMap(\.plain) } ?? Self.allFields
      if let fields, plain.count < fields.count {
        RowCSV.append(fields.map { row.text(of: $0, codes: codes) }, to: &pieces.bytes)
      } else {
        RowCSV.append(row, plain, to: &pieces.bytes)
      }
    } else {
      if let fields {
        RowJSON.append(row, fields, codes: codes, to: &pieces.bytes)
      } else {
        RowJSON.append(row, to: &pieces.bytes)
      }
      pieces.bytes.append(UInt8(ascii: "\n"))
    }
    pieces.flush()
  }

  mutating func end() {
    pieces.flush(always: true)
    if format != .table { return }
    guard let fields else { return FoundProducts.print(products.map(\.product)) }
    var table = Table(fields.map { ($0.isNumber(snapshot.fields) ? ">" : "") + $0.key })
    // The first cell is marked if the name is not shown.
    let marked = fields.firstIndex(of: .name) ?? 0
    for (product, codes) in products {
      product.fill(&row)
      table.add(
        fields.enumerated().map { index, field in
          let text = row.text(of: field, codes: codes)
          return Table.cell(index == marked && product.delFlag != 0 ? "[deleted] " + text : text)
        })
    }
    table.print()
  }
}
