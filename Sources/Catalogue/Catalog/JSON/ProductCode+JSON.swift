import CatalogRows
package import JSONFormat

extension ProductCode {
  /// The code of a package as an object: `code`, `quantity`, `unit` and `kind`.
  package var packageJSON: JSONText { json([.code, .quantity, .unit, .kind]) }

  /// The code of a known product as an object: `id`, `code`, `quantity`, `unit` and `kind`.
  package var json: JSONText { json([.id, .code, .quantity, .unit, .kind]) }

  /// The code with what it stands for, for people and for tables: `14006381333938 (24 case)`. One that stands for one
  /// unit, without a name, is alone.
  package var text: String {
    let number = quantity.normalized.description
    let words = (number == "1" && unit.isEmpty ? [] : [number]) + [unit, kind].filter { !$0.isEmpty }
    return words.isEmpty ? code : "\(code) (\(words.joined(separator: " ")))"
  }

  /// The code as an object with some of its fields, in this order.
  func json(_ fields: [CodeField]) -> JSONText {
    var row = CodeRow()
    fill(&row)
    var json: [UInt8] = []
    RowJSON.append(row, fields, to: &json)
    return .raw(json)
  }
}
