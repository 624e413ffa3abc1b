import Catalog
import CatalogRows
import JSONFormat
import RowFiles

/// The columns of a table of products.
struct TableColumns: Sendable {
  /// The columns; `nil` for all 25 fields.
  var columns: ProductColumns?

  /// A product as a row of a page.
  ///
  /// - Throws: `StoreError.damaged`.
  func row(of product: Product, _ snapshot: CatalogSnapshot) throws -> JSONText {
    try .product(product, columns, in: snapshot)
  }

  /// The beginning of a table for spreadsheets.
  var header: [UInt8] {
    SheetRows.header(columns?.fields.map(\.key) ?? ProductField.allCases.map(\.key))
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
      let plain = columns.map { $0.fields.compactMap(\.plain) } ?? ProductField.allCases
      if let columns, plain.count < columns.fields.count {
        let codes = columns.needCodes ? try snapshot.codes(ofProduct: product.id) : []
        RowCSV.append(columns.fields.map { row.text(of: $0, codes: codes) }, to: &bytes, style: SheetRows.style)
      } else {
        RowCSV.append(row, plain, to: &bytes, style: SheetRows.style)
      }
    }
    return bytes
  }
}
