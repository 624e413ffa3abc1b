import CatalogRows
package import JSONFormat

extension ProductCode {
  /// The code of a package as an object: `code`, `quantity`, `unit` and `kind`.
  package var packageJSON: JSONText { json([.code, .quantity, .unit, .kind]) }

  /// The code of a known product as an object: `id`, `code`, `quantity`, `unit` and `kind`.
  package var json: JSONText { json([.id, .code, .quantity, .unit, .kind]) }

  /// The code as an object with some of its fields, in this order.
  func json(_ fields: [CodeField]) -> JSONText {
    var row = CodeRow()
    fill(&row)
    var json: [UInt8] = []
    RowJSON.append(row, fields, to: &json)
    return .raw(json)
  }
}
