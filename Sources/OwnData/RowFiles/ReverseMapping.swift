public import CatalogRows
internal import JSONFormat

/// A mapping in reverse: it writes products as a table whose columns are those of a ``RowMapping``, so that reading the
/// table with the same mapping gives the same products.
///
///     var table = try ReverseMapping(mapping)
///     for row in rows { table.scan(row) }
///     table.appendHeader(to: &csv, style: style)
///     for row in rows { try table.append(row, to: &csv, style: style) }
///
/// - A field is written into its column, or into the first of several that are tried in order. The steps `trim`,
///   `upper` and `lower` are not undone, and a value that the steps `money` and `html` would change is an error. A date
///   is written in the form of its step. Joined columns and captures cannot be taken apart and are errors.
/// - Without a list of fields, a field that the mapping does not name has a column of its own name if a product has a
///   value in it. One with a constant has none, and a product with another value is an error. Fields beyond the 25 have
///   columns of their own names if they are texts. The others of a product stay together in the column `extra`.
public struct ReverseMapping: Sendable {
  private struct Column: Sendable {
    var name: String
    /// The fields that the column fills.
    var fields: [ProductField]
  }

  private let mapping: RowMapping
  private let isWhole: Bool
  private var columns: [Column] = []
  /// The fields that have no column yet, as no product has a value in them.
  private var unused: [ProductField] = []
  /// The keys of fields beyond the 25 that are texts, and those that have columns, after ``finishScan()``.
  private var keys: Set<[UInt8]> = []
  private var keyColumns: [[UInt8]] = []
  private var hasExtra = false
  private var isScanned = false
  private let falseWord: String
  private let dateFormat: [UInt8]
  private let nulls: NullWords?
  private let defaults = ProductRow()

  /// Creates the reverse of a mapping.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - fields: The fields to write, in this order, and nothing else; `nil` for all that have a value.
  /// - Throws: ``RowRefusal`` if a field cannot be reversed.
  public init(_ mapping: RowMapping, fields: [ProductField]? = nil) throws(RowRefusal) {
    self.mapping = mapping
    isWhole = fields == nil
    falseWord = Self.falseWord(mapping.trueWords)
    dateFormat = DatePattern.bytes(mapping.dateFormat ?? "")
    nulls = NullWords(mapping.nullWords)
    if mapping.rows != nil {
      throw RowRefusal(
        "the mapping takes only rows that meet a condition (rows), and not all of its columns would be in the table;"
          + " use a copy of the mapping without it")
    }
    let wanted = fields ?? ProductField.allCases.sorted { $0.key < $1.key }
    for field in wanted {
      if let rule = mapping.rules[field] {
        try Self.check(rule, field)
        add(field, to: rule.columns.first ?? field.key)
      } else if fields != nil || field == .id || isFilledByID(field) {
        try addOwn(field)
      } else {
        unused.append(field)
      }
    }
  }

  private static func check(_ rule: RowMapping.Rule, _ field: ProductField) throws(RowRefusal) {
    let remedy =
      "leave it out by listing the other fields with --columns, or use a mapping that takes it from one column"
    if rule.separator != nil, rule.columns.count > 1 {
      throw RowRefusal(
        "the mapping joins \(field.key) from the columns \(rule.columns.joined(separator: ", ")), and the parts are not"
          + " known any more; \(remedy)")
    }
    for case .capture(let pattern) in rule.steps {
      throw RowRefusal(
        "the mapping takes \(field.key) from a part of a text (capture \"\(pattern)\"), and the text is not known any"
          + " more; \(remedy)")
    }
  }

  /// Whether the column of the id fills this field too when the table is read.
  private func isFilledByID(_ field: ProductField) -> Bool {
    guard let name = mapping.rules[.id]?.columns.first else { return false }
    return name == field.key || mapping.isAutomatic && RowMapping.field(named: name) == field
  }

  private mutating func add(_ field: ProductField, to name: String) {
    if let index = columns.firstIndex(where: { $0.name == name }) { return columns[index].fields.append(field) }
    columns.append(Column(name: name, fields: [field]))
  }

  /// Adds a field under its own name.
  private mutating func addOwn(_ field: ProductField) throws(RowRefusal) {
    let taken = mapping.rules.filter { $0.value.columns.contains(field.key) }.keys.map(\.key).sorted()
    if let other = taken.first, taken != ["id"] {
      throw RowRefusal(
        "the mapping takes \(other) from a column \"\(field.key)\", so there is none for the field \(field.key); name one"
          + " with --column \(field.key)=…")
    }
    add(field, to: field.key)
  }

  // MARK: Scanning

  /// Whether ``scan(_:)`` has to see every product before the header is written.
  package var needsScan: Bool { isWhole }

  /// Notes which fields a product has. Call it for every product before ``appendHeader(to:style:)``, unless the fields
  /// are listed.
  ///
  /// - Throws: ``RowRefusal`` for a value that no column can have.
  public mutating func scan(_ row: borrowing ProductRow) throws(RowRefusal) {
    if !isWhole { return }
    for field in unused {
      let value = Self.plain(field, row)
      if let constant = mapping.constants[field] {
        let cell = try cell(field, row)
        if cell == Array(constant.utf8) { continue }
        throw RowRefusal(
          "the product \(row[.id]) has the \(field.key) \(Self.shown(cell)), and the mapping gives every product"
            + " \(Self.shown(Array(constant.utf8))); leave the constant out, or list the other fields with --columns")
      } else if value == Self.plain(field, defaults) {
        continue
      }
      try addOwn(field)
      unused.removeAll { $0 == field }
    }
    for member in Self.members(row) {
      // A column of its own cannot have a text that counts as no value.
      let isText = member.text.map { !(nulls?.contains($0[...]) ?? false) } ?? false
      if isText { keys.insert(member.key) } else { hasExtra = true }
    }
  }

  /// Decides which fields beyond the 25 have columns of their own.
  private mutating func finishScan() {
    if isScanned { return }
    isScanned = true
    // The order does not depend on which product first has a value.
    if isWhole { columns.sort { $0.fields[0].key < $1.fields[0].key } }
    let written = Set(columns.flatMap(\.fields))
    keyColumns = keys.filter { key in
      let name = String(decoding: key, as: UTF8.self)
      if key.contains(0) || columns.contains(where: { $0.name == name }) { return false }
      if mapping.rules.values.contains(where: { $0.columns.contains(name) }) { return false }
      if let own = RowCells.columns.prefix(RowCells.ownCount).first(where: { $0.name == name }) {
        // Its name alone would make it the field, unless the mapping takes that from another column.
        return own.product.map { mapping.rules[$0] != nil } ?? false
      }
      return !mapping.isAutomatic || RowMapping.field(named: name).map(written.contains) ?? true
    }.sorted { $0.lexicographicallyPrecedes($1) }
    if columns.count + keyColumns.count >= CSVRows.columnLimit { keyColumns = [] }
    if keyColumns.count < keys.count { hasExtra = true }
  }

  // MARK: Writing

  /// Appends the record with the names of the columns.
  public mutating func appendHeader(to csv: inout [UInt8], style: RowCSV.Style = RowCSV.Style()) {
    finishScan()
    var names = columns.map { Array($0.name.utf8) } + keyColumns
    if hasExtra { names.append(Array("extra".utf8)) }
    for (index, name) in names.enumerated() {
      if index > 0 { csv.append(style.delimiter) }
      if !mapping.hasQuotes {
        csv += name
        continue
      }
      // Readers count the separators outside of quotes to recognise the one of the file.
      RowCSV.appendCell(name.span, to: &csv, style, isQuoted: name.contains { ",;|\t".utf8.contains($0) })
    }
    RowCSV.end(&csv)
  }

  /// Appends a product.
  ///
  /// - Throws: ``RowRefusal`` if reading the record would give another product.
  public func append(
    _ row: borrowing ProductRow, to csv: inout [UInt8], style: RowCSV.Style = RowCSV.Style()
  ) throws(RowRefusal) {
    let start = csv.count
    for (index, column) in columns.enumerated() {
      if index > 0 { csv.append(style.delimiter) }
      let value = try cell(column, row)
      var style = style
      // A spreadsheet is to calculate with numbers, but a word for true may begin a formula.
      if column.fields.allSatisfy({ $0.text == nil }), !RowCSV.beginsFormula(value) { style.isForExcel = false }
      try append(value, Array(column.name.utf8), row, to: &csv, style)
    }
    if !keyColumns.isEmpty || hasExtra {
      var members = Self.members(row)
      for key in keyColumns {
        csv.append(style.delimiter)
        guard let index = members.firstIndex(where: { $0.key == key }), let text = members[index].text else { continue }
        if nulls?.contains(text[...]) ?? false { continue }
        try append(text, key, row, to: &csv, style)
        members.remove(at: index)
      }
      if hasExtra {
        csv.append(style.delimiter)
        let json = members.isEmpty ? [] : Self.json(members)
        try append(json, Array("extra".utf8), row, to: &csv, style)
      }
    }
    RowCSV.end(&csv, from: start)
  }

  /// Appends a cell of a product.
  private func append(
    _ value: [UInt8], _ name: [UInt8], _ row: borrowing ProductRow, to csv: inout [UInt8], _ style: RowCSV.Style
  ) throws(RowRefusal) {
    if mapping.hasQuotes { return RowCSV.appendCell(value.span, to: &csv, style) }
    if value.contains(where: { $0 == style.delimiter || $0 == 0x0A || $0 == 0x0D || $0 == 0 }) {
      throw RowRefusal(
        "the product \(row[.id]) has \(Self.shown(value)) in the column \"\(String(decoding: name, as: UTF8.self))\", and"
          + " without quotes a field has no separator, line end or zero byte; take another --delimiter, or allow quotes"
      )
    }
    csv += value
  }

  /// The value of a column, which all its fields must share.
  private func cell(_ column: Column, _ row: borrowing ProductRow) throws(RowRefusal) -> [UInt8] {
    let first = column.fields.first { mapping.rules[$0]?.steps.isEmpty ?? true } ?? column.fields[0]
    let value = try cell(first, row)
    for other in column.fields where other != first {
      let expected = try cell(other, row)
      let steps = mapping.rules[other]?.steps ?? []
      let read = try? RowFieldPlan.applied(steps, to: String(decoding: value, as: UTF8.self), mapping)
      if read.map({ Array($0.utf8) }) != expected {
        throw RowRefusal(
          "the product \(row[.id]) has \(first.key) \(Self.shown(value)) and \(other.key) \(Self.shown(expected)), and the"
            + " mapping takes both from the column \"\(column.name)\"; give one of them a column of its own with --column"
        )
      }
    }
    return value
  }

  /// The value of a field as the mapping says it is written.
  private func cell(_ field: ProductField, _ row: borrowing ProductRow) throws(RowRefusal) -> [UInt8] {
    let value = Self.plain(field, row)
    if let split = mapping.rules[field]?.split, String(decoding: value, as: UTF8.self).contains(split) {
      throw RowRefusal(
        "the product \(row[.id]) has the \(field.key) \(Self.shown(value)), of which the mapping (split) would read the"
          + " part before \(split.debugDescription) alone; leave the field out by listing the others with --columns")
    }
    if value.isEmpty { return value }
    let cell = try written(value, field, row)
    let text = String(decoding: cell, as: UTF8.self)
    if nulls?.contains(text) ?? false {
      throw RowRefusal(
        "the product \(row[.id]) has the \(field.key) \(Self.shown(value)), and the mapping says that such a cell is empty;"
          + " leave the word out of --null")
    }
    let steps = mapping.rules[field]?.steps ?? []
    guard steps.contains(where: { $0 == .money || $0 == .html }) else { return cell }
    let read = try? RowFieldPlan.applied(steps, to: text, mapping)
    if read.map({ Array($0.utf8) }) == value { return cell }
    throw RowRefusal(
      "the product \(row[.id]) has the \(field.key) \(Self.shown(value)), which the steps of the mapping would read as"
        + " \(read.map { "\"\($0.prefix(60))\"" } ?? "no value"); leave the field out by listing the others with --columns"
    )
  }

  /// A value as the mapping says it is written.
  private func written(
    _ value: [UInt8], _ field: ProductField, _ row: borrowing ProductRow
  ) throws(RowRefusal) -> [UInt8] {
    for case .date(let form) in mapping.rules[field]?.steps ?? [] {
      return try date(value, form, DatePattern.bytes(form), field, row)
    }
    guard mapping.converts(field) else { return value }
    switch field.conversion {
    case .date: return try date(value, mapping.dateFormat ?? "", dateFormat, field, row)
    case .word where field != .delFlag:
      return Array((value == Array("true".utf8) ? mapping.trueWords.first ?? "true" : falseWord).utf8)
    case .word:
      guard value == [UInt8(ascii: "0")] || value == [UInt8(ascii: "1")] else { return value }
      return Array((value == [UInt8(ascii: "1")] ? mapping.trueWords.first ?? "1" : falseWord).utf8)
    default: return value.map { $0 == UInt8(ascii: ".") ? mapping.decimal ?? $0 : $0 }
    }
  }

  private func date(
    _ value: [UInt8], _ form: String, _ bytes: [UInt8], _ field: ProductField, _ row: borrowing ProductRow
  ) throws(RowRefusal) -> [UInt8] {
    if let date = DatePattern.written(String(decoding: value, as: UTF8.self), bytes) { return Array(date.utf8) }
    throw RowRefusal(
      "the product \(row[.id]) has the \(field.key) \(Self.shown(value)), which the form \(form)"
        + " cannot hold; use a form that has all its parts, such as '%Y-%m-%d %H:%M:%S'")
  }

  /// The value of a field, without any quotes.
  private static func plain(_ field: ProductField, _ row: borrowing ProductRow) -> [UInt8] {
    guard let text = field.text else { return Array(RowCSV.number(field, of: row).utf8) }
    return row.texts.withText(text.rawValue) { copy($0) }
  }

  private static func copy(_ span: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(copying: span)
    return bytes
  }

  private static func shown(_ value: [UInt8]) -> String {
    "\"" + String(String(decoding: value, as: UTF8.self).prefix(60)) + "\""
  }

  /// The word for false that goes with the first word for true.
  private static func falseWord(_ trueWords: [String]) -> String {
    let pairs = [
      "t": "f", "true": "false", "yes": "no", "y": "n", "1": "0", "on": "off", "ja": "nein", "oui": "non", "是": "否",
      "真": "假", "wahr": "falsch", "vrai": "faux", "verdadero": "falso", "vero": "falso", "sí": "no", "si": "no",
    ]
    let first = trueWords.first ?? "true"
    let taken = Set(trueWords.map { $0.lowercased() })
    var word = pairs[first.lowercased()] ?? "false"
    if taken.contains(word) { word = RowMapping.falseWords.subtracting(taken).min() ?? "" }
    if first == first.uppercased() { return word.uppercased() }
    return first == first.capitalizedFirst ? word.capitalizedFirst : word
  }

  // MARK: Fields beyond the 25

  private struct Member {
    var key: [UInt8]
    /// The value in JSON.
    var value: [UInt8]
    /// The value if it is a text that is not empty.
    var text: [UInt8]?
  }

  private static func members(_ row: borrowing ProductRow) -> [Member] {
    if row.texts.byteCount(ProductRow.extraText) == 0 { return [] }
    var members: [Member] = []
    let object = row.texts.withText(ProductRow.extraText) { ExtraMembers(json: $0) }
    object?.forEach { key, value in members.append(Member(key: key, value: value, text: text(value))) }
    return members
  }

  /// The text of a JSON string that is not empty.
  private static func text(_ value: [UInt8]) -> [UInt8]? {
    guard value.count > 2, value[0] == UInt8(ascii: "\"") else { return nil }
    var tokens = JSONTokenizer(limits: JSONLimits(tokenByteCount: 1 << 20))
    tokens.append(value.span)
    tokens.finish()
    guard (try? tokens.next()) == .string else { return nil }
    return tokens.withText { copy($0) }
  }

  private static func json(_ members: [Member]) -> [UInt8] {
    var object = ExtraMembers()
    for member in members { object.add(member.key, member.value) }
    var json: [UInt8] = []
    // They are a part of an object within the limits.
    try? object.append(to: &json)
    return json
  }
}

extension String {
  /// The text with a capital at its beginning.
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
