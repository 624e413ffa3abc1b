public import Catalog
import CatalogRows
import CatalogWire
public import DocumentFormat

/// A JSON value whose object keys keep their order: what programs are given is stable to the byte.
public indirect enum JSONText: Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case uint(UInt64)
  case double(Double)
  case text(String)
  case array([JSONText])
  case object([(String, JSONText)])
  case product(Product)
  case relation(Relation)
  case document(DocumentValue)
  /// What is JSON already, on one line.
  case raw(String)

  /// An object with ids as keys, in their bytewise order.
  public static func byId<Value>(_ dictionary: [ProductID: Value], _ value: (Value) -> JSONText) -> JSONText {
    .object(dictionary.sorted { $0.key < $1.key }.map { ($0.key.text, value($0.value)) })
  }

  /// A text, or null.
  public static func optional(_ text: String?) -> JSONText { text.map(JSONText.text) ?? .null }

  /// Appends the value without white space around it.
  public func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .int(let value): bytes += String(value).utf8
    case .uint(let value): bytes += String(value).utf8
    case .double(let value): RowJSON.append(value, to: &bytes)
    case .text(let value): Self.append(value, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let fields):
      bytes.append(UInt8(ascii: "{"))
      for (index, field) in fields.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.append(field.0, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.1.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    case .document(let value): bytes += value.json.utf8
    case .product(let product):
      var row = ProductRow()
      product.fill(&row)
      RowJSON.append(row, to: &bytes)
    case .raw(let text): bytes += text.utf8
    case .relation(let relation):
      var row = RelationRow()
      relation.fill(&row)
      RowJSON.append(row, to: &bytes)
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    RowJSON.append(text: text.utf8.span, to: &bytes)
  }

  /// The value as one line of text, without a line feed.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }
}
