import JSONFormat

/// Writes rows as JSON text.
///
/// Only what JSON requires is escaped: quotation mark, backslash and control characters. Doubles are written in the
/// shortest form that reads back as the same number, whole ones as `1.0`. An infinite double and NaN have no form in
/// JSON: they are written as `null`, which reads back as the default.
public enum RowJSON {
  /// Appends `row` as the line of a dump, without a line feed: `type`, then the keys in alphabetical order, then
  /// `extra` if the product has one.
  public static func appendDump(_ row: borrowing ProductRow, to json: inout [UInt8]) {
    append("{\"type\":\"product\"", to: &json)
    for field in dumpOrder { append(field, of: row, to: &json, isFirst: false) }
    appendExtra(row, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as the line of a dump, without a line feed: `type`, then the keys in alphabetical order.
  public static func appendDump(_ row: borrowing RelationRow, to json: inout [UInt8]) {
    append("{\"type\":\"relation\",\"groupNum\":", to: &json)
    append(row.groupNum.description, to: &json)
    for field in RelationText.allCases { append(field, of: row, to: &json, isFirst: false) }
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as the line of a dump, without a line feed: `type`, then the keys in alphabetical order.
  public static func appendDump(_ row: borrowing CodeRow, to json: inout [UInt8]) {
    append("{\"type\":\"code\"", to: &json)
    append(row, CodeField.dumpOrder, isFirst: false, named: \.key, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as it stands in a payload: all 6 keys in the order of the server.
  public static func append(_ row: borrowing CodeRow, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    append(row, CodeField.allCases, isFirst: true, named: \.payloadKey, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as an object with some of its fields, in this order.
  package static func append(_ row: borrowing CodeRow, _ fields: [CodeField], to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    append(row, fields, isFirst: true, named: \.key, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as it stands in a payload: all 25 keys in the order of the server, then `extra` if the product has
  /// one.
  public static func append(_ row: borrowing ProductRow, to json: inout [UInt8]) {
    append(row, serverOrder, to: &json)
    if row.texts.byteCount(ProductRow.extraText) == 0 { return }
    json.removeLast()
    appendExtra(row, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as an object with some of its fields, in this order.
  public static func append(_ row: borrowing ProductRow, _ fields: [ProductField], to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    for (index, field) in fields.enumerated() { append(field, of: row, to: &json, isFirst: index == 0) }
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as it stands in a payload: all 5 keys in the order of the server.
  public static func append(_ row: borrowing RelationRow, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    for field in RelationText.allCases { append(field, of: row, to: &json, isFirst: field == .id) }
    append(",\"groupNum\":", to: &json)
    append(row.groupNum.description, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  // MARK: - Parts

  private static let serverOrder = ProductField.allCases
  private static let dumpOrder = ProductField.allCases.sorted { $0.key < $1.key }
  /// By field: its key as JSON, with the colon.
  private static let productKeys = ProductField.allCases.map { Array("\"\($0.key)\":".utf8) }
  private static let relationKeys = RelationField.allCases.map { Array("\"\($0.key)\":".utf8) }

  private static func append(
    _ field: ProductField, of row: borrowing ProductRow, to json: inout [UInt8], isFirst: Bool
  ) {
    if !isFirst { json.append(UInt8(ascii: ",")) }
    json += productKeys[field.rawValue]
    switch field.slot {
    case .text(let slot): row.texts.withText(slot) { JSONWriter.append(text: $0, to: &json) }
    case .integer(let slot): append(row.integers[slot].description, to: &json)
    case .flag(let slot): append(row.flags >> UInt32(slot) & 1 == 1 ? "true" : "false", to: &json)
    case .double(let slot): JSONWriter.append(row.doubles[slot], to: &json)
    }
  }

  private static func append(
    _ field: RelationText, of row: borrowing RelationRow, to json: inout [UInt8], isFirst: Bool
  ) {
    if !isFirst { json.append(UInt8(ascii: ",")) }
    json += relationKeys[field.rawValue]
    row.texts.withText(field.rawValue) { JSONWriter.append(text: $0, to: &json) }
  }

  private static func append(
    _ row: borrowing CodeRow, _ fields: [CodeField], isFirst: Bool, named name: (CodeField) -> String,
    to json: inout [UInt8]
  ) {
    for (index, field) in fields.enumerated() {
      if !isFirst || index > 0 { json.append(UInt8(ascii: ",")) }
      append("\"\(name(field))\":", to: &json)
      if let text = field.text {
        row.texts.withText(text.rawValue) { JSONWriter.append(text: $0, to: &json) }
      } else {
        append(row.quantity.description, to: &json)
      }
    }
  }

  private static func appendExtra(_ row: borrowing ProductRow, to json: inout [UInt8]) {
    if row.texts.byteCount(ProductRow.extraText) == 0 { return }
    append(",\"extra\":", to: &json)
    row.texts.withText(ProductRow.extraText) { json.append(copying: $0) }
  }

  private static func append(_ ascii: String, to json: inout [UInt8]) { json += ascii.utf8 }
}
