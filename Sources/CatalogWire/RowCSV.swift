public import CatalogRows

/// An encoder of rows as comma-separated values (RFC 4180): CRLF after each record, quotes where they are needed.
///
/// One table holds products and relations, so one file holds a catalogue: the column `type` distinguishes them, then
/// come the 25 fields of a product in alphabetical order, then the two ids that only a relation has. Fields that a row
/// does not have are empty.
public enum RowCSV {
  /// The separator of fields in CSV.
  public static let comma = UInt8(ascii: ",")

  /// Appends the record with the names of the columns.
  public static func appendHeader(to csv: inout [UInt8], delimiter: UInt8 = comma) {
    for (index, column) in columns.enumerated() {
      if index > 0 { csv.append(delimiter) }
      csv += column.name.utf8
    }
    end(&csv)
  }

  /// Appends a product.
  public static func append(_ row: borrowing ProductRow, to csv: inout [UInt8], delimiter: UInt8 = comma) {
    csv += "product".utf8
    for column in columns.dropFirst() {
      csv.append(delimiter)
      if let field = column.product { append(field, of: row, to: &csv, delimiter) }
    }
    end(&csv)
  }

  /// Appends a record with some fields of a product, in this order, and nothing else: no type, and no field of a
  /// relation.
  public static func append(_ row: borrowing ProductRow, _ fields: [ProductField], to csv: inout [UInt8]) {
    let start = csv.count
    for (index, field) in fields.enumerated() {
      if index > 0 { csv.append(comma) }
      append(field, of: row, to: &csv, comma)
    }
    end(&csv, from: start)
  }

  /// Appends a record of texts.
  public static func append(_ cells: [String], to csv: inout [UInt8]) {
    let start = csv.count
    for (index, cell) in cells.enumerated() {
      if index > 0 { csv.append(comma) }
      append(cell.utf8.span, to: &csv, comma)
    }
    end(&csv, from: start)
  }

  /// Appends a relation.
  public static func append(_ row: borrowing RelationRow, to csv: inout [UInt8], delimiter: UInt8 = comma) {
    csv += "relation".utf8
    for column in columns.dropFirst() {
      csv.append(delimiter)
      guard let field = column.relation else { continue }
      if let text = field.text {
        row.texts.withText(text.rawValue) { append($0, to: &csv, delimiter) }
      } else {
        csv += row.groupNum.description.utf8
      }
    }
    end(&csv)
  }

  // MARK: - Parts

  /// A column, and the fields that it contains. `type` has neither.
  struct Column: Sendable {
    var name: String
    var product: ProductField?
    var relation: RelationField?

    init(_ name: String) {
      self.name = name
      product = ProductField.allCases.first { $0.key == name }
      relation = RelationField.allCases.first { $0.key == name }
    }
  }

  /// All columns, in the order in which they are written.
  static let columns =
    (["type"] + ProductField.allCases.map(\.key).sorted() + ["productId", "subProductId"]).map(Column.init)

  private static func append(
    _ field: ProductField, of row: borrowing ProductRow, to csv: inout [UInt8], _ delimiter: UInt8
  ) {
    if let text = field.text {
      row.texts.withText(text.rawValue) { append($0, to: &csv, delimiter) }
    } else {
      csv += number(field, of: row).utf8
    }
  }

  /// Ends the record that begins at `start`. One empty cell is written as `""`, because readers skip an empty line.
  private static func end(_ csv: inout [UInt8], from start: Int) {
    if csv.count == start { csv += "\"\"".utf8 }
    end(&csv)
  }

  private static func end(_ csv: inout [UInt8]) {
    csv.append(0x0D)
    csv.append(0x0A)
  }

  private static func append(_ text: Span<UInt8>, to csv: inout [UInt8], _ delimiter: UInt8) {
    var needsQuotes = false
    for index in text.indices {
      switch text[index] {
      case delimiter, UInt8(ascii: "\""), 0x0A, 0x0D: needsQuotes = true
      default: continue
      }
    }
    if !needsQuotes {
      csv.append(copying: text)
      return
    }
    csv.append(UInt8(ascii: "\""))
    for index in text.indices {
      if text[index] == UInt8(ascii: "\"") { csv.append(UInt8(ascii: "\"")) }
      csv.append(text[index])
    }
    csv.append(UInt8(ascii: "\""))
  }

  private static func number(_ field: ProductField, of row: borrowing ProductRow) -> String {
    switch field {
    case .categoryId: row.categoryId.description
    case .delFlag: row.delFlag.description
    case .groupNum: row.groupNum.description
    case .isGreeProduct: row.isGreeProduct.description
    case .isGroupedProduct: row.isGroupedProduct.description
    case .isSaleProduct: row.isSaleProduct.description
    case .isMarketingProduct: row.isMarketingProduct.description
    case .length: text(row.length)
    case .tall: text(row.tall)
    case .volume: text(row.volume)
    case .weight: text(row.weight)
    case .wide: text(row.wide)
    case .barcode, .brand, .brandId, .category, .createBy, .createTime, .id, .name, .orgId, .skuCode, .unit,
      .updateBy, .updateTime:
      preconditionFailure("\(field) is a text")
    }
  }

  /// The shortest text that reads back as the same value; empty for a value that is not finite, as JSON has no text for
  /// it.
  private static func text(_ value: Double) -> String { value.isFinite ? value.description : "" }
}
