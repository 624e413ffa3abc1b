import Bytes
package import CatalogRows
package import JSONFormat
package import LogStore

extension RowJSON {
  /// Appends `row` as an object with some of its fields, in this order. A field of one's own has the key `extra.NAME`,
  /// and the value that the product has, or null; `codes` is the list of the codes.
  package static func append(
    _ row: borrowing ProductRow, _ fields: [ProductQueryField], codes: [ProductCode] = [], to json: inout [UInt8]
  ) {
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
      case .codeCount, .codes, .code:
        JSONWriter.append(text: field.key, to: &json)
        json.append(UInt8(ascii: ":"))
        if field == .codeCount {
          json += "\(codes.count)".utf8
        } else {
          JSONText.array(codes.map(\.json)).append(to: &json)
        }
      }
    }
    json.append(UInt8(ascii: "}"))
  }
}

extension ProductRow {
  /// The value of a field as text, for people and for tables. A field of one's own that is missing is empty; a list or
  /// an object is JSON. Codes are one after another, with what they stand for.
  package func text(of field: ProductQueryField, codes: [ProductCode] = []) -> String {
    switch field {
    case .field(let field): return text(of: field)
    case .codeCount: return String(codes.count)
    case .codes, .code: return codes.map(\.text).joined(separator: "; ")
    case .extra(let name):
      let field = ExtraField(name, nil)
      let extra = texts.raw(ProductRow.extraText)
      guard let json = field.json(in: extra) else { return "" }
      var text: [UInt8]?
      var scratch: [UInt8] = []
      field.withItem(extra, &scratch) { bytes, item in
        switch item {
        case .text(let range): text = bytes.extracting(range).copied()
        // A number that no double holds has its digits.
        case .null: text = json.u8(at: 0) == UInt8(ascii: "n") ? [] : nil
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
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - columns: The fields.
  ///   - codes: Its codes, if a column needs them.
  package static func product(
    _ product: Product, _ columns: ProductColumns, codes: [ProductCode] = []
  ) -> JSONText {
    var row = ProductRow()
    product.fill(&row)
    var json: [UInt8] = []
    RowJSON.append(row, columns.fields, codes: codes, to: &json)
    return .raw(json)
  }

  /// A product with its fields, and its codes in the table of codes.
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - columns: The fields; `nil` for all of them.
  ///   - hasCodes: Whether the codes are there whatever the columns are.
  ///   - snapshot: The catalogue with the product.
  /// - Throws: `StoreError.damaged`.
  package static func product(
    _ product: Product, _ columns: ProductColumns?, hasCodes: Bool = false, in snapshot: CatalogSnapshot
  ) throws(StoreError) -> JSONText {
    let needsCodes = hasCodes || columns?.needCodes == true
    let codes = needsCodes ? try snapshot.codes(ofProduct: product.id) : []
    let isMissing = hasCodes && columns?.fields.contains(.codes) != true
    guard let columns else { return .product(product, codes: isMissing ? codes : nil) }
    let fields = JSONText.product(product, columns, codes: codes)
    return isMissing ? fields.adding(codes) : fields
  }

  /// A product with all its fields, and its codes in the table of codes.
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - codes: Its codes; `nil` for an object without `codes`, as in a catalogue that has none.
  package static func product(_ product: Product, codes: [ProductCode]?) -> JSONText {
    codes.map { JSONText.product(product).adding($0) } ?? .product(product)
  }

  /// An object with codes after its members.
  private func adding(_ codes: [ProductCode]) -> JSONText {
    var json: [UInt8] = []
    append(to: &json)
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
