public import CatalogRows
internal import JSONStream

/// Writes rows as JSON text.
///
/// Only what JSON requires is escaped: quote, backslash and control characters. Doubles are written in the
/// shortest form that reads back as the same number, whole ones as `1.0`. An infinite double or one that is
/// no number has no form in JSON and is written as `null`, which reads back as the default.
public enum RowJSON {
  /// Appends `row` as the line of a dump, without a line feed: `type`, then the keys in alphabetical order.
  public static func appendDump(_ row: borrowing ProductRow, to json: inout [UInt8]) {
    append("{\"type\":\"product\"", to: &json)
    for field in dumpOrder { append(field, of: row, to: &json, isFirst: false) }
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as the line of a dump, without a line feed: `type`, then the keys in alphabetical order.
  public static func appendDump(_ row: borrowing RelationRow, to json: inout [UInt8]) {
    append("{\"type\":\"relation\",\"groupNum\":", to: &json)
    append(row.groupNum.description, to: &json)
    for field in RelationText.allCases { append(field, of: row, to: &json, isFirst: false) }
    json.append(UInt8(ascii: "}"))
  }

  /// Appends `row` as it stands in a payload: all 25 keys in the order of the server.
  public static func append(_ row: borrowing ProductRow, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    for field in serverOrder { append(field, of: row, to: &json, isFirst: field == .barcode) }
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

  /// Appends `text` as a JSON string with its quotes; the caller knows it to be valid UTF-8.
  public static func append(text: Span<UInt8>, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    var start = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      json.append(copying: text.extracting(start..<index))
      start = index + 1
      appendEscape(byte, to: &json)
    }
    json.append(copying: text.extracting(start..<text.count))
    json.append(UInt8(ascii: "\""))
  }

  /// Appends `value` in the shortest form that reads back the same.
  public static func append(_ value: Double, to json: inout [UInt8]) {
    append(value.isFinite ? value.description : "null", to: &json)
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
    switch field {
    case .barcode, .brand, .brandId, .category, .createBy, .createTime, .id, .name, .orgId, .skuCode, .unit,
      .updateBy, .updateTime:
      row.texts.withText(field.rawValue) { append(text: $0, to: &json) }
    case .categoryId: append(row.categoryId.description, to: &json)
    case .delFlag: append(row.delFlag.description, to: &json)
    case .groupNum: append(row.groupNum.description, to: &json)
    case .isGreeProduct: append(row.isGreeProduct ? "true" : "false", to: &json)
    case .isGroupedProduct: append(row.isGroupedProduct ? "true" : "false", to: &json)
    case .isSaleProduct: append(row.isSaleProduct ? "true" : "false", to: &json)
    case .isMarketingProduct: append(row.isMarketingProduct ? "true" : "false", to: &json)
    case .length: append(row.length, to: &json)
    case .tall: append(row.tall, to: &json)
    case .volume: append(row.volume, to: &json)
    case .weight: append(row.weight, to: &json)
    case .wide: append(row.wide, to: &json)
    }
  }

  private static func append(
    _ field: RelationText, of row: borrowing RelationRow, to json: inout [UInt8], isFirst: Bool
  ) {
    if !isFirst { json.append(UInt8(ascii: ",")) }
    json += relationKeys[field.rawValue]
    row.texts.withText(field.rawValue) { append(text: $0, to: &json) }
  }

  private static func append(_ ascii: String, to json: inout [UInt8]) { json += ascii.utf8 }

  private static func appendEscape(_ byte: UInt8, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): json.append(byte)
    case 0x08: json.append(UInt8(ascii: "b"))
    case 0x09: json.append(UInt8(ascii: "t"))
    case 0x0A: json.append(UInt8(ascii: "n"))
    case 0x0C: json.append(UInt8(ascii: "f"))
    case 0x0D: json.append(UInt8(ascii: "r"))
    default: append("u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16), to: &json)
    }
  }
}
