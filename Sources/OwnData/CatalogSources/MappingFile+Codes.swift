import Barcodes
package import CatalogRows
package import JSONFormat
package import RowFiles
package import RowSources

// What a mapping says of further codes: columns of products, further rows, and a table of their own.

extension MappingFile {
  /// A table of codes, and where it is.
  package struct CodesFrom: Sendable, Equatable {
    /// The path of a file; `nil` if a statement gives the codes.
    package var file: String?
    /// The statement of a database.
    package var query: String?
    /// The name of the file's encoding; `nil` to guess it.
    package var encoding: String?
    /// The byte between two columns of the file; `nil` to recognise it.
    package var delimiter: UInt8?
    /// What the columns mean.
    package var table = RowMapping.CodeTable()

    /// Creates a description of a table that is not yet anywhere.
    package init() {}

    /// Checks that nothing is asked of a statement that only a file has.
    ///
    /// - Throws: ``Invalid``.
    package func checkQuery() throws(Invalid) {
      if query == nil { return }
      if table.split != nil || !table.steps.isEmpty {
        throw Invalid(
          message: "codesFrom: split and steps are for a file; a statement does it, as in regexp_split_to_table(…)")
      }
      if encoding != nil || delimiter != nil {
        throw Invalid(message: "codesFrom: encoding and delimiter are for a file; a database sends neither")
      }
    }

    /// The message for a table of which nothing says where it is.
    package static let isNowhere =
      "codesFrom says where no table is; add file, or query for a database, to it"
  }

  /// The field of the product that joins a table of codes.
  ///
  /// - Throws: ``Invalid`` for another name.
  package static func join(_ name: String) throws(Invalid) -> ProductField {
    if let field = RowMapping.CodeTable.joins.first(where: { $0.key == name }) { return field }
    throw Invalid(message: "codes are joined by id, skuCode or barcode, and not by \"\(name)\"")
  }

  /// Makes the path of the table of codes one from the directory of the mapping, if it begins nowhere else.
  ///
  /// - Parameter path: The path of the mapping.
  package mutating func resolveCodes(nextTo path: String) {
    guard let file = codesFrom?.file, !file.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return }
    codesFrom?.file = path[...slash] + file
  }

  /// The mapping of the table of codes: how its values are written is what the mapping says of the products.
  package var mappingOfCodes: RowMapping {
    var mapping = RowMapping()
    mapping.decimal = self.mapping.decimal
    mapping.nullWords = self.mapping.nullWords
    mapping.delimiter = codesFrom?.delimiter
    mapping.codeTable = codesFrom?.table ?? RowMapping.CodeTable()
    return mapping
  }

  /// The statement of the table of codes, and its columns, in a query.
  package func addCodes(to query: inout DatabaseQuery) {
    guard let from = codesFrom, let statement = from.query else { return }
    query.codes = statement
    query.codeColumns = from.table.commonNames.map { field, names in
      var column = DatabaseQuery.CodeColumn(field.key, isRequired: field == .productId || field == .code)
      switch from.table.values[field] {
      case .column(let name): column.exact = name
      case .constant(let text):
        let json = field == .quantity ? JSONText.raw(Array(text.utf8)) : .text(text)
        column.constant = String(decoding: json.bytes, as: UTF8.self)
      case nil: column.names = names
      }
      return column
    }
  }

  mutating func readCodes(_ value: Any) throws(Invalid) {
    guard let list = value as? [Any], !list.isEmpty else {
      throw Invalid(message: "codes is a list, as in [{\"columns\": [\"EAN 2\"], \"split\": \";\"}]")
    }
    for (index, item) in list.enumerated() {
      guard let object = item as? [String: Any] else {
        throw Invalid(message: "codes, entry \(index + 1): it is an object with columns")
      }
      do { mapping.codes.append(try Self.codeRule(object)) } catch {
        throw Invalid(message: "codes, entry \(index + 1): \(error.message)")
      }
    }
  }

  private static func codeRule(_ object: [String: Any]) throws(Invalid) -> RowMapping.CodeRule {
    var rule = RowMapping.CodeRule(columns: [])
    for (key, value) in object.sorted(by: { $0.key < $1.key }) {
      switch key {
      case "columns", "column": rule.columns += try texts(value, key)
      case "split": rule.split = try split(value)
      case "steps": rule.steps = try steps(value)
      case "quantity": rule.quantity = try quantity(value)
      case "unit": rule.unit = try self.value(value, key)
      case "kind": rule.kind = try self.value(value, key)
      default:
        throw Invalid(
          message: "\"\(key)\" is unknown; an entry has columns (or column), split, steps, quantity, unit and kind")
      }
    }
    return rule
  }

  private static func split(_ value: Any) throws(Invalid) -> String {
    let text = try text(value, "split")
    if text.isEmpty { throw Invalid(message: "split is the characters between the codes of a cell, such as \";,| \"") }
    return text
  }

  private static func steps(_ value: Any) throws(Invalid) -> [RowMapping.Step] {
    guard let list = value as? [Any] else { throw Invalid(message: "steps is a list") }
    var steps: [RowMapping.Step] = []
    for item in list { steps.append(try step(item)) }
    return steps
  }

  /// A quantity: a number, a text with one, or the column that has it.
  private static func quantity(_ value: Any) throws(Invalid) -> RowMapping.CodeValue {
    var text: String?
    if !(value is Bool) {
      if let number = value as? Int {
        text = String(number)
      } else if let number = value as? Double {
        text = number.description
      }
    }
    let found: RowMapping.CodeValue
    if let text { found = .constant(text) } else { found = try self.value(value, "quantity") }
    if case .constant(let text) = found, !(ExactDecimal(text).map { $0.coefficient > 0 } ?? false) {
      throw Invalid(message: "quantity is a number of more than 0, or {\"column\": …}")
    }
    return found
  }

  private static func value(_ value: Any, _ key: String) throws(Invalid) -> RowMapping.CodeValue {
    if let text = value as? String { return .constant(text) }
    guard let object = value as? [String: Any], object.count == 1, let name = object["column"] as? String else {
      let kind = key == "quantity" ? "number" : "text"
      throw Invalid(
        message: "\(key) is a \(kind), or {\"column\": …} with the name of the column that has it; without any, leave"
          + " it out")
    }
    return .column(name)
  }

  mutating func readGroup(_ value: Any) throws(Invalid) {
    let field = try Self.field(try Self.text(value, "group"))
    guard case .text = field.slot, field != .barcode else {
      throw Invalid(message: "group is a field with a text that several rows of a product share, such as \"id\"")
    }
    mapping.group = field
  }

  mutating func readCodesFrom(_ value: Any) throws(Invalid) {
    guard let object = value as? [String: Any] else {
      throw Invalid(message: "codesFrom is an object with file or query, join and columns")
    }
    var from = CodesFrom()
    for (key, value) in object.sorted(by: { $0.key < $1.key }) {
      do throws(Invalid) {
        switch key {
        case "file": from.file = try Self.text(value, key)
        case "query": from.query = try Self.text(value, key)
        case "encoding": from.encoding = try Self.text(value, key)
        case "delimiter": from.delimiter = try Self.delimiter(try Self.text(value, key))
        case "join": from.table.join = try Self.join(try Self.text(value, key))
        case "split": from.table.split = try Self.split(value)
        case "steps": from.table.steps = try Self.steps(value)
        case "columns": from.table.values = try Self.columnsOfCodes(value)
        default:
          throw Invalid(
            message: "\"\(key)\" is unknown; it has file or query, encoding, delimiter, join, split, steps and"
              + " columns")
        }
      } catch { throw Invalid(message: "codesFrom: \(error.message)") }
    }
    if from.file != nil, from.query != nil {
      throw Invalid(message: "codesFrom: give file, or query for a database, one of them")
    }
    try from.checkQuery()
    codesFrom = from
  }

  private static func columnsOfCodes(_ value: Any) throws(Invalid) -> [CodeField: RowMapping.CodeValue] {
    guard let object = value as? [String: Any] else { throw Invalid(message: "columns is an object") }
    var values: [CodeField: RowMapping.CodeValue] = [:]
    for (key, value) in object.sorted(by: { $0.key < $1.key }) {
      guard let field = CodeField.allCases.first(where: { $0.key == key }) else {
        throw Invalid(message: "a code has no field \"\(key)\"; it has productId, code, quantity, unit, kind and id")
      }
      // A text names a column; what every row has is {"constant": …}.
      if let name = value as? String {
        values[field] = .column(name)
      } else if let object = value as? [String: Any], object.count == 1, let constant = object["constant"] {
        values[field] = field == .quantity ? try quantity(constant) : .constant(try text(constant, key))
      } else {
        values[field] = field == .quantity ? try quantity(value) : try self.value(value, key)
      }
    }
    return values
  }

  // MARK: Writing

  /// What the mapping says of codes, as the text of a JSON object.
  package var textOfCodes: String {
    String(decoding: JSONText.object(jsonOfCodes).bytes, as: UTF8.self)
  }

  /// What the mapping says of codes, as JSON.
  var jsonOfCodes: [(String, JSONText)] {
    var object: [(String, JSONText)] = []
    if !mapping.codes.isEmpty { object.append(("codes", .array(mapping.codes.map(Self.json)))) }
    if let group = mapping.group { object.append(("group", .text(group.key))) }
    guard let from = codesFrom else { return object }
    var parts: [(String, JSONText)] = []
    if let file = from.file { parts.append(("file", .text(file))) }
    if let query = from.query { parts.append(("query", .text(query))) }
    if let encoding = from.encoding { parts.append(("encoding", .text(encoding))) }
    if let delimiter = from.delimiter {
      parts.append(("delimiter", .text(delimiter == 0x09 ? "tab" : String(UnicodeScalar(delimiter)))))
    }
    parts.append(("join", .text(from.table.join.key)))
    if let split = from.table.split { parts.append(("split", .text(split))) }
    if !from.table.steps.isEmpty { parts.append(("steps", .array(from.table.steps.map(Self.json)))) }
    if !from.table.values.isEmpty {
      let columns = from.table.values.sorted { $0.key.rawValue < $1.key.rawValue }.map { field, value in
        switch value {
        case .column(let name): (field.key, JSONText.text(name))
        case .constant(let text): (field.key, JSONText.object([("constant", .text(text))]))
        }
      }
      parts.append(("columns", .object(columns)))
    }
    object.append(("codesFrom", .object(parts)))
    return object
  }

  /// A rule of codes as a mapping has it.
  package static func json(_ rule: RowMapping.CodeRule) -> JSONText {
    var object: [(String, JSONText)] = []
    if !rule.columns.isEmpty { object.append(("columns", .array(rule.columns.map(JSONText.text)))) }
    if let split = rule.split { object.append(("split", .text(split))) }
    if !rule.steps.isEmpty { object.append(("steps", .array(rule.steps.map(json)))) }
    for (key, value) in [("quantity", rule.quantity), ("unit", rule.unit), ("kind", rule.kind)] {
      switch value {
      case .column(let name): object.append((key, .object([("column", .text(name))])))
      case .constant(let text) where key == "quantity":
        object.append((key, (ExactDecimal(text)?.description).map { JSONText.raw(Array($0.utf8)) } ?? .text(text)))
      case .constant(let text): object.append((key, .text(text)))
      case nil: break
      }
    }
    return .object(object)
  }
}
