import CatalogRows
package import JSONFormat

extension JSONText {
  /// A product with all its fields, as the server sends it.
  package static func product(_ product: Product) -> JSONText {
    var row = ProductRow()
    product.fill(&row)
    var json: [UInt8] = []
    RowJSON.append(row, to: &json)
    return .raw(json)
  }

  /// A product with some of its fields.
  package static func product(_ product: Product, _ columns: ProductColumns) -> JSONText {
    var row = ProductRow()
    product.fill(&row)
    var json: [UInt8] = []
    RowJSON.append(row, columns.fields, to: &json)
    return .raw(json)
  }

  /// A relation with all its fields, as the server sends it.
  package static func relation(_ relation: Relation) -> JSONText {
    var row = RelationRow()
    relation.fill(&row)
    var json: [UInt8] = []
    RowJSON.append(row, to: &json)
    return .raw(json)
  }

  /// An object with ids as keys, in their bytewise order.
  package static func byId<Value>(_ dictionary: [ProductID: Value], _ value: (Value) -> JSONText) -> JSONText {
    .object(dictionary.sorted { $0.key < $1.key }.map { ($0.key.text, value($0.value)) })
  }
}
