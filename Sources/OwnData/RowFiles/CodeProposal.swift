internal import Barcodes
package import CatalogRows

/// What a mapping could say of further codes, found by reading a file as one whose unknown columns are kept: columns whose
/// values are GTINs, cells with several codes, and rows with the same id and other barcodes.
package struct CodeProposal: RowSink {
  /// What is known of a column.
  private struct Column {
    var values = 0
    var codes = 0
    var numbers = 0
    var separators = ""

    mutating func add(_ text: String) {
      values += 1
      let code = WrittenCode(text)
      if code.state == .several {
        codes += 1
        if let separator = WrittenCode.separator(of: text), !separators.contains(separator) {
          separators.append(separator)
        }
      } else if code.gtin != nil {
        codes += 1
      }
      if let number = RowFieldPlan.pointed(text, text.contains(",") ? "," : ".").flatMap(Double.init), number > 0 {
        numbers += 1
      }
    }
  }

  /// The number of rows that are looked at.
  private static let rowLimit = 100_000

  private var rows = 0
  private var columns: [String: Column] = [:]
  private var barcode = Column()
  private var barcodes: [String: String] = [:]
  private var isGrouped = false

  /// Creates a sink that has seen no rows.
  package init() {}

  /// The rules under which a file is read for a proposal: anything that may be a column of codes is kept.
  ///
  /// - Parameter rules: The rules under which it will be imported.
  package static func rules(_ rules: RowRules) -> RowRules {
    var rules = rules
    rules.unknownKeys = .keep
    rules.duplicates = .last
    rules.missingIDs = .fail
    rules.allowsEmptyIds = true
    return rules
  }

  package mutating func product(_ row: borrowing ProductRow) throws {
    rows += 1
    if rows > Self.rowLimit { return }
    let (id, code) = (row[.id], row[.barcode])
    if !code.isEmpty {
      barcode.add(code)
      let key = WrittenCode.key(code)
      // A row without an id is one more of the product above it.
      if id.isEmpty {
        if rows > 1 { isGrouped = true }
      } else if let other = barcodes[id] {
        if other != key { isGrouped = true }
      } else {
        barcodes[id] = key
      }
    }
    if row.texts.byteCount(ProductRow.extraText) == 0 { return }
    let members = row.texts.withText(ProductRow.extraText) { ExtraMembers(json: $0) }
    let isBelow = id.isEmpty && rows > 1
    members?.forEach { key, value in
      guard value.count > 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") else {
        if value.first.map({ 0x30...0x39 ~= $0 }) ?? false {
          columns[String(decoding: key, as: UTF8.self), default: Column()].add(String(decoding: value, as: UTF8.self))
        }
        return
      }
      let text = String(decoding: value.dropFirst().dropLast(), as: UTF8.self)
      columns[String(decoding: key, as: UTF8.self), default: Column()].add(text)
      // A row that has nothing but another code belongs to the product above it too.
      if isBelow, WrittenCode(text).gtin != nil { isGrouped = true }
    }
  }

  package mutating func relation(_ row: borrowing RelationRow) throws {}

  package mutating func code(_ row: borrowing CodeRow) throws {}

  /// What a mapping could say: rules for columns, and the field by which rows are one product.
  ///
  /// - Parameters:
  ///   - mapping: The mapping that the file was read with, which says nothing of codes yet.
  ///   - uses: The columns of the file, in their order.
  package func proposed(
    _ mapping: RowMapping, _ uses: [RowColumnUse]
  ) -> (codes: [RowMapping.CodeRule], group: ProductField?) {
    if mapping.speaksOfCodes { return ([], nil) }
    var plain = RowMapping.CodeRule(columns: [])
    var rules: [RowMapping.CodeRule] = []
    var separators = ""
    if !barcode.separators.isEmpty, let own = uses.first(where: { $0.fields.contains("barcode") }) {
      plain.columns.append(own.name)
      separators += barcode.separators
    }
    for use in uses {
      guard let column = columns[use.name], use.fields == ["extra." + use.name] || use.fields.isEmpty,
        isOfCodes(use.name, column)
      else { continue }
      guard let (unit, words) = Self.unit(of: use.name) else {
        plain.columns.append(use.name)
        for separator in column.separators where !separators.contains(separator) { separators.append(separator) }
        continue
      }
      let split = column.separators.isEmpty ? nil : column.separators
      let quantity = quantity(words, uses).map(RowMapping.CodeValue.column)
      let sibling = Self.unitColumn(nextTo: use.name, uses).map(RowMapping.CodeValue.column)
      rules.append(
        RowMapping.CodeRule(
          columns: [use.name], split: split, quantity: quantity, unit: sibling ?? .constant(unit)))
    }
    if !separators.isEmpty { plain.split = separators }
    if !plain.columns.isEmpty { rules.insert(plain, at: 0) }
    return (rules, isGrouped ? .id : nil)
  }

  /// Whether a column has quantities or units, so that rows with the same id are packages of one product, and no variants.
  package static func hasPackages(_ uses: [RowColumnUse]) -> Bool {
    let names = uses.map(\.name)
    return CodeReading.index(of: .quantity, in: names) != nil || CodeReading.index(of: .unit, in: names) != nil
  }

  /// Whether a column has codes: most of its values are GTINs, or all, if its name does not say so.
  private func isOfCodes(_ name: String, _ column: Column) -> Bool {
    if column.values == 0 { return false }
    if Self.isNameOfCodes(name) { return column.codes * 2 >= column.values }
    return column.values >= 3 && column.codes == column.values
  }

  /// Whether the name of a column says that it has codes.
  static func isNameOfCodes(_ name: String) -> Bool {
    let letters = CodeReading.letters(name)
    let words = ["ean", "gtin", "upc", "barcode", "strichcode", "codebarre", "条码", "條碼", "barkod", "штрихкод"]
    return words.contains(where: letters.contains)
  }

  private static let units: [(unit: String, words: [String])] = [
    ("case", ["case", "carton", "karton", "outer", "caisse", "caja", "cartone", "箱", "box"]),
    ("inner", ["inner", "display", "中包", "内箱"]), ("pallet", ["pallet", "palette"]), ("pack", ["pack", "gebinde"]),
  ]

  private static func unit(of name: String) -> (unit: String, words: [String])? {
    let letters = CodeReading.letters(name)
    return units.first { $0.words.contains(where: letters.contains) }
  }

  /// The column of the unit in a list of packages, such as `Packages/Packaging` next to `Packages/Barcode`; `nil` if there
  /// is none.
  private static func unitColumn(nextTo name: String, _ uses: [RowColumnUse]) -> String? {
    guard let slash = name.lastIndex(of: "/") else { return nil }
    let list = name[...slash]
    return uses.map(\.name).first {
      $0.hasPrefix(list) && CodeReading.index(of: .unit, in: [String($0.dropFirst(list.count))]) != nil
    }
  }

  /// The column that says how many pieces are in a package, by the words for the package.
  private func quantity(_ words: [String], _ uses: [RowColumnUse]) -> String? {
    let ofQuantity = [
      "size", "qty", "quantity", "units", "count", "pcs", "pieces", "per", "menge", "inhalt", "stück", "数",
    ]
    let named = uses.first { use in
      guard let column = columns[use.name], column.values > 0, column.numbers == column.values else { return false }
      let letters = CodeReading.letters(use.name)
      return words.contains(where: letters.contains) && ofQuantity.contains(where: letters.contains)
        && !isOfCodes(use.name, column)
    }
    return named?.name ?? uses.first { $0.isAutomatic && $0.fields == ["groupNum"] }?.name
  }
}
