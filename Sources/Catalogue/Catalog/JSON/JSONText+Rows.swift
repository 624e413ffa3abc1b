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

  /// A product with its fields, and its codes in the table of codes.
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - columns: The fields; `nil` for all of them.
  ///   - codes: Its codes; `nil` for an object without `codes`, as in a catalogue that has none.
  package static func product(
    _ product: Product, _ columns: ProductColumns? = nil, codes: [ProductCode]?
  ) -> JSONText {
    let fields = columns.map { JSONText.product(product, $0) } ?? .product(product)
    guard let codes else { return fields }
    var json: [UInt8] = []
    fields.append(to: &json)
    // The brace at the end comes after the codes. No product is without fields.
    json.removeLast()
    json += ",\"codes\":".utf8
    JSONText.array(codes.map(\.json)).append(to: &json)
    json.append(UInt8(ascii: "}"))
    return .raw(json)
  }

  /// A code of the table of codes with all its fields: `id`, `productId`, `code`, `quantity`, `unit` and `kind`.
  package static func code(_ code: ProductCode) -> JSONText { code.json(CodeField.allCases) }

  /// The codes of a product: `productId` and `codes`.
  package static func codes(_ codes: [ProductCode], ofProduct id: String) -> JSONText {
    .object([("productId", .text(id)), ("codes", .array(codes.map(\.json)))])
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
