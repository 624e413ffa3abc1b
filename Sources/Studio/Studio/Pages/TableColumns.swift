import Catalog
import CatalogRows
import JSONFormat
import RowFiles

/// The columns of a table of products: fields, and the number of codes in the table of codes.
struct TableColumns: Sendable {
  /// The name of the column with the number of codes.
  static let codesName = "codes"

  /// The fields; `nil` for all of them.
  var fields: ProductColumns?
  /// Whether the number of codes comes after the fields.
  var hasCodes = false

  /// A product as a row of a page.
  ///
  /// - Throws: `StoreError.damaged`.
  func row(of product: Product, _ snapshot: CatalogSnapshot) throws -> JSONText {
    let row = fields.map { JSONText.product(product, $0) } ?? .product(product)
    if !hasCodes { return row }
    var json = row.bytes
    // The brace at the end comes after the number. No product is without fields.
    json.removeLast()
    json += ",\"\(Self.codesName)\":\(try snapshot.codeCount(ofProduct: product.id))}".utf8
    return .raw(json)
  }

  /// The beginning of a table for spreadsheets.
  var header: [UInt8] {
    let names = fields?.fields.map(\.key) ?? ProductField.allCases.map(\.key)
    return SheetRows.header(names + (hasCodes ? [Self.codesName] : []))
  }

  /// Products as lines of JSON, or as records for spreadsheets.
  ///
  /// - Throws: `StoreError.damaged`.
  func lines(_ products: [Product], _ snapshot: CatalogSnapshot, isCSV: Bool) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var row = ProductRow()
    for product in products {
      if !isCSV {
        try self.row(of: product, snapshot).append(to: &bytes)
        bytes.append(0x0A)
        continue
      }
      product.fill(&row)
      let plain = fields.map { $0.fields.compactMap(\.plain) } ?? ProductField.allCases
      if let fields, plain.count < fields.fields.count {
        RowCSV.append(fields.fields.map { row.text(of: $0) }, to: &bytes, style: SheetRows.style)
      } else {
        RowCSV.append(row, plain, to: &bytes, style: SheetRows.style)
      }
      if !hasCodes { continue }
      // The number stands before the end of the line.
      let end = bytes.lastIndex { $0 != 0x0D && $0 != 0x0A }.map { $0 + 1 } ?? bytes.count
      bytes.insert(contentsOf: ",\(try snapshot.codeCount(ofProduct: product.id))".utf8, at: end)
    }
    return bytes
  }
}
