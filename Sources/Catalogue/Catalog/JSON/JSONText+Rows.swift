import Bytes
package import CatalogRows
package import JSONFormat

extension RowJSON {
  /// Appends `row` as an object with some of its fields, in this order. A field of one's own has the key `extra.NAME`,
  /// and the value that the product has, or null.
  package static func append(_ row: borrowing ProductRow, _ fields: [ProductQueryField], to json: inout [UInt8]) {
    var part: [UInt8] = []
    json.append(UInt8(ascii: "{"))
    for (index, field) in fields.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      switch field {
      case .field(let field):
        part.removeAll(keepingCapacity: true)
        append(row, [field], to: &part)
        json += part[1..<part.count - 1]
      case .extra(let name):
        JSONWriter.append(text: field.key, to: &json)
        json.append(UInt8(ascii: ":"))
        if let value = ExtraField(name, nil).json(in: row.texts.raw(ProductRow.extraText)) {
          json.append(value)
        } else {
          json += "null".utf8
        }
      }
    }
    json.append(UInt8(ascii: "}"))
  }
}

extension ProductRow {
  /// The value of a field as text, for people and for tables. A field of one's own that is missing is empty; a list or
  /// an object is JSON.
  package func text(of field: ProductQueryField) -> String {
    switch field {
    case .field(let field): return text(of: field)
    case .extra(let name):
      let field = ExtraField(name, nil)
      let extra = texts.raw(ProductRow.extraText)
      guard let json = field.json(in: extra) else { return "" }
      var text: [UInt8]?
      var scratch: [UInt8] = []
      field.withItem(extra, &scratch) { bytes, item in
        switch item {
        case .text(let range): text = bytes.extracting(range).copied()
        case .null: text = []
        default: text = nil
        }
      }
      return String(decoding: text ?? json.copied(), as: UTF8.self)
    }
  }
}

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
