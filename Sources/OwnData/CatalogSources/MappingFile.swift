package import Catalog
package import CatalogRows
import Essentials
package import JSONFormat
package import RowFiles
import TextFormat

/// A mapping with what it says about the file as a whole, and its form as JSON.
package struct MappingFile: Sendable, Equatable {
  /// An error in a mapping.
  package struct Invalid: Error, Sendable {
    /// What is wrong, and what to do.
    package var message: String
  }

  package var mapping = RowMapping()
  package var format: RowFileFormat?
  package var encoding: String?
  package var unknown: RowRules.UnknownKeys?
  /// What happens to products without an id; `nil` for the default.
  package var withoutID: RowRules.MissingIDs?
  /// What happens to rows with the id of an earlier row; `nil` for the default.
  package var duplicates: RowRules.Duplicates?
  /// Whether cells are read as Excel's `="007"`.
  package var isExcel = false
  /// Whether rows of a table may lack fields at the end, or have empty ones more.
  package var isUneven = false
  /// The statements for products and relations, if the source is a database, and the column that shows newer rows.
  package var products: String?
  package var relations: String?
  package var since: String?
  /// The declarations of fields beyond the 25.
  package var extra = DeclaredFields()
  /// The table of codes; `nil` if there is none.
  package var codesFrom: CodesFrom?

  /// Creates a mapping that recognises common names.
  package init() {}

  /// Reads a mapping.
  ///
  /// - Parameter json: The text of a JSON object, at most ``byteLimit`` bytes.
  /// - Throws: ``Invalid``.
  package init(json: [UInt8]) throws(Invalid) {
    guard json.count <= Self.byteLimit else { throw Invalid(message: "a mapping has at most 1 MiB") }
    let value: Any?
    do { value = try JSONDecoder().decode(JSONValue.self, from: Data(json)).value } catch {
      // A number is the only value that can be written and not be read.
      if case DecodingError.typeMismatch(_, let context) = error, !context.codingPath.isEmpty {
        let place = context.codingPath.map { $0.intValue.map { "entry \($0 + 1)" } ?? $0.stringValue }
        throw Invalid(
          message: "\(place.joined(separator: ", ")): a number that is too large to be read; write a smaller one")
      }
      value = nil
    }
    guard let object = value as? [String: Any] else {
      throw Invalid(message: "this is no JSON object; 'catalogctl import --save-map' writes an example")
    }
    try read(object)
  }

  /// The greatest size of a mapping.
  package static let byteLimit = 1 << 20

  /// The irregularities that are allowed in the file.
  package var rules: RowRules {
    var rules = RowRules()
    rules.unknownKeys = unknown ?? .fail
    rules.missingIDs = withoutID ?? .fail
    rules.duplicates = duplicates ?? .fail
    rules.readsExcelTexts = isExcel
    rules.allowsUnevenRows = isUneven
    return rules
  }

  // MARK: Parts

  /// The field of a name.
  package static func field(_ name: String) throws(Invalid) -> ProductField {
    if let field = ProductField.allCases.first(where: { $0.key == name }) { return field }
    let names = ProductField.allCases.map(\.key)
    let advice =
      NearestName.of(name, among: names).map { "is \($0) meant?" } ?? "fields are \(names.joined(separator: ", "))"
    throw Invalid(message: "a product has no field \"\(name)\"; \(advice)")
  }

  /// The byte between two columns that a text means.
  package static func delimiter(_ text: String) throws(Invalid) -> UInt8 {
    if text == "tab" || text == "\\t" { return 0x09 }
    guard let byte = text.utf8.first, text.utf8.count == 1, byte < 0x80, byte >= 0x20 || byte == 0x09, byte != 0x22
    else {
      throw Invalid(message: "the delimiter is one ASCII character, and no quote; or 'tab'")
    }
    return byte
  }

  /// The decimal separator that a text means.
  package static func decimal(_ text: String) throws(Invalid) -> UInt8 {
    guard text == "." || text == "," else { throw Invalid(message: "the decimal separator is . or a comma") }
    return text == "." ? UInt8(ascii: ".") : UInt8(ascii: ",")
  }

  /// The number of lines before the names of the columns.
  package static func skippedLines(_ count: Int) throws(Invalid) -> Int {
    guard 0...1000 ~= count else { throw Invalid(message: "the number of lines to skip is 0 to 1000") }
    return count
  }

  /// A form of dates.
  package static func date(_ text: String) throws(Invalid) -> String {
    guard RowMapping.isDateFormat(text) else {
      throw Invalid(
        message:
          "a form of dates has %Y (or %y), %m (or %b) and %d, and may have %H, or %I with %p, and %M and %S; or, with"
          + " letters, yyyy (or yy), MM (or MMM) and dd, and may have HH, or hh with a, and mm and ss")
    }
    return text
  }

  // MARK: Reading

  /// A JSON array is read like NDJSON, which recognises it.
  private static func format(_ name: String) -> RowFileFormat? {
    name == "json" ? .ndjson : RowFileFormat(rawValue: name)
  }

  private mutating func read(_ object: [String: Any]) throws(Invalid) {
    for (key, value) in object.sorted(by: { $0.key < $1.key }) {
      switch key {
      case "format":
        guard let format = Self.format(try Self.text(value, key)) else {
          throw Invalid(message: "format is csv, tsv, ndjson or json")
        }
        self.format = format
      case "encoding": encoding = try Self.text(value, key)
      case "delimiter": mapping.delimiter = try Self.delimiter(try Self.text(value, key))
      case "decimal": mapping.decimal = try Self.decimal(try Self.text(value, key))
      case "date": mapping.dateFormat = try Self.date(try Self.text(value, key))
      case "quotes": mapping.hasQuotes = try Self.boolean(value, key)
      case "excel": isExcel = try Self.boolean(value, key)
      case "unevenRows": isUneven = try Self.boolean(value, key)
      case "skipLines":
        guard let count = value as? Int, !(value is Bool) else { throw Invalid(message: "skipLines is a number") }
        mapping.skippedLines = try Self.skippedLines(count)
      case "true": mapping.trueWords = try Self.texts(value, key)
      case "null": mapping.nullWords = try Self.texts(value, key)
      case "automatic": mapping.isAutomatic = try Self.boolean(value, key)
      case "onDuplicate":
        guard let duplicates = RowRules.Duplicates(rawValue: try Self.text(value, key)) else {
          throw Invalid(message: "onDuplicate is fail or last")
        }
        self.duplicates = duplicates
      case "withoutId":
        guard let withoutID = RowRules.MissingIDs(rawValue: try Self.text(value, key)) else {
          throw Invalid(message: "withoutId is fail or ignore")
        }
        self.withoutID = withoutID
      case "unknown":
        guard let unknown = RowRules.UnknownKeys(rawValue: try Self.text(value, key)) else {
          throw Invalid(message: "unknown is fail, ignore or keep")
        }
        self.unknown = unknown
      case "products": products = try Self.text(value, key)
      case "relations": relations = try Self.text(value, key)
      case "since": since = try Self.text(value, key)
      case "rows":
        let text = try Self.text(value, key)
        do { mapping.rows = try RowCondition(parsing: text) } catch {
          throw Invalid(message: "rows: \(error)" + (text.count > 200 ? "" : ", in: \(text)"))
        }
      case "codes": try readCodes(value)
      case "group": try readGroup(value)
      case "codesFrom": try readCodesFrom(value)
      case "extra":
        var json: [UInt8] = []
        Self.json(value).append(to: &json)
        do throws(FieldError) { extra = try DeclaredFields(json: json) } catch {
          throw Invalid(message: "extra: \(error)")
        }
      case "fields":
        guard let fields = value as? [String: Any] else { throw Invalid(message: "fields is an object") }
        for (name, rule) in fields.sorted(by: { $0.key < $1.key }) { try read(rule, for: try Self.field(name)) }
      default:
        throw Invalid(
          message:
            "\"\(key)\" is unknown; a mapping has format, encoding, skipLines, delimiter, quotes, excel, unevenRows, decimal,"
            + " date, true, null, automatic, unknown, withoutId, onDuplicate, rows, codes, group,"
            + " codesFrom, extra and fields, and for a database products, relations and since")
      }
    }
    if mapping.group == nil, let place = mapping.codes.firstIndex(where: \.columns.isEmpty) {
      throw Invalid(
        message: "codes, entry \(place + 1): name the columns that have the codes; an entry without any says what the"
          + " further rows of a product have, and needs group, as in \"group\": \"id\"")
    }
  }

  private mutating func read(_ value: Any, for field: ProductField) throws(Invalid) {
    guard let object = value as? [String: Any] else {
      mapping.rules[field] = RowMapping.Rule(columns: try Self.texts(value, field.key))
      return
    }
    if let constant = object["constant"], object.count == 1 {
      mapping.constants[field] = try Self.text(constant, "constant")
      return
    }
    for key in object.keys.sorted() where !["columns", "join", "split", "steps", "date"].contains(key) {
      throw Invalid(
        message:
          "\(field.key): \"\(key)\" is unknown; a field has columns, join or split, steps and date, or a constant")
    }
    guard let columns = object["columns"] else { throw Invalid(message: "\(field.key): columns are missing") }
    var rule = RowMapping.Rule(columns: try Self.texts(columns, "columns"))
    if let join = object["join"] { rule.separator = try Self.text(join, "join") }
    if let split = object["split"] {
      let text = try Self.text(split, "split")
      if text.isEmpty {
        throw Invalid(message: "\(field.key): split is the text between the values of a cell, such as \";\"")
      }
      if rule.separator != nil { throw Invalid(message: "\(field.key): a field has join or split, one of them") }
      rule.split = text
    }
    guard let steps = (object["steps"] ?? []) as? [Any] else {
      throw Invalid(message: "\(field.key): steps is a list")
    }
    for step in steps { rule.steps.append(try Self.step(step)) }
    if let date = object["date"] { rule.steps.append(.date(try Self.date(try Self.text(date, "date")))) }
    mapping.rules[field] = rule
  }

  static func step(_ value: Any) throws(Invalid) -> RowMapping.Step {
    switch value as? String {
    case "trim": return .trim
    case "upper": return .upper
    case "lower": return .lower
    case "gtin": return .gtin
    case "money": return .money
    case "html": return .html
    default: break
    }
    let object = (value as? [String: Any]).flatMap { $0.count == 1 ? $0 : nil }
    if let form = object?["date"] as? String { return .date(try date(form)) }
    guard let pattern = object?["capture"] as? String else {
      throw Invalid(
        message:
          "a step is \"trim\", \"upper\", \"lower\", \"gtin\", \"money\", \"html\", {\"date\": \"dd.MM.yyyy\"} or"
          + " {\"capture\": \"a regular expression\"}")
    }
    guard (try? Regex(pattern)) != nil else {
      throw Invalid(message: "capture: \"\(pattern)\" is not a regular expression")
    }
    return .capture(pattern)
  }

  static func text(_ value: Any, _ key: String) throws(Invalid) -> String {
    guard let text = value as? String else { throw Invalid(message: "\(key) is a text") }
    return text
  }

  private static func boolean(_ value: Any, _ key: String) throws(Invalid) -> Bool {
    guard let isTrue = value as? Bool else { throw Invalid(message: "\(key) is true or false") }
    return isTrue
  }

  static func texts(_ value: Any, _ key: String) throws(Invalid) -> [String] {
    if let text = value as? String { return [text] }
    guard let texts = value as? [String], !texts.isEmpty else {
      throw Invalid(message: "\(key) is a text, or a list of texts that is not empty")
    }
    return texts
  }

  // MARK: Writing

  /// The mapping as JSON, with the columns that were recognised.
  package func text(_ columns: [RowColumnUse]) -> [UInt8] {
    var fields: [String: JSONText] = [:]
    for column in columns {
      for field in column.fields where ProductField.allCases.contains(where: { $0.key == field }) {
        fields[field] = .text(column.name)
      }
    }
    for (field, rule) in mapping.rules { fields[field.key] = Self.json(rule) }
    for (field, value) in mapping.constants { fields[field.key] = .object([("constant", .text(value))]) }
    var object: [(String, JSONText)] = []
    if let format { object.append(("format", .text(format.rawValue))) }
    // A guess is left to the next file, which may have another encoding.
    if let encoding { object.append(("encoding", .text(encoding))) }
    if let delimiter = mapping.delimiter { object.append(("delimiter", .text(String(UnicodeScalar(delimiter))))) }
    if mapping.skippedLines > 0 { object.append(("skipLines", .int(mapping.skippedLines))) }
    if !mapping.hasQuotes { object.append(("quotes", .bool(false))) }
    if isExcel { object.append(("excel", .bool(true))) }
    if isUneven { object.append(("unevenRows", .bool(true))) }
    if let decimal = mapping.decimal { object.append(("decimal", .text(String(UnicodeScalar(decimal))))) }
    if !mapping.trueWords.isEmpty { object.append(("true", .array(mapping.trueWords.map(JSONText.text)))) }
    if !mapping.nullWords.isEmpty { object.append(("null", .array(mapping.nullWords.map(JSONText.text)))) }
    if let date = mapping.dateFormat { object.append(("date", .text(date))) }
    if !mapping.isAutomatic { object.append(("automatic", .bool(false))) }
    if let unknown { object.append(("unknown", .text(unknown.rawValue))) }
    if let withoutID { object.append(("withoutId", .text(withoutID.rawValue))) }
    if let duplicates { object.append(("onDuplicate", .text(duplicates.rawValue))) }
    if let rows = mapping.rows { object.append(("rows", .text(rows.text))) }
    for (key, value) in [("products", products), ("relations", relations), ("since", since)] {
      if let value { object.append((key, .text(value))) }
    }
    object += jsonOfCodes
    if !extra.isEmpty { object.append(("extra", .raw(Array(extra.value.json.utf8)))) }
    object.append(("fields", .object(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })))
    var text: [UInt8] = []
    JSONText.object(object).append(to: &text)
    return text + [0x0A]
  }

  /// A value of the mapping as JSON, as it was read.
  private static func json(_ value: Any) -> JSONText {
    switch value {
    case let object as [String: Any]: .object(object.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) })
    case let list as [Any]: .array(list.map(json))
    case let text as String: .text(text)
    case let flag as Bool: .bool(flag)
    case let number as Int: .int(number)
    case let number as Double: .double(number)
    default: .null
    }
  }

  /// A rule as a mapping has it.
  package static func json(_ rule: RowMapping.Rule) -> JSONText {
    var object: [(String, JSONText)] = [("columns", .array(rule.columns.map(JSONText.text)))]
    if let separator = rule.separator { object.append(("join", .text(separator))) }
    if let split = rule.split { object.append(("split", .text(split))) }
    if !rule.steps.isEmpty { object.append(("steps", .array(rule.steps.map(json)))) }
    return .object(object)
  }

  /// A step as a mapping has it.
  static func json(_ step: RowMapping.Step) -> JSONText {
    switch step {
    case .trim: .text("trim")
    case .upper: .text("upper")
    case .lower: .text("lower")
    case .gtin: .text("gtin")
    case .capture(let pattern): .object([("capture", .text(pattern))])
    case .money: .text("money")
    case .html: .text("html")
    case .date(let form): .object([("date", .text(form))])
    }
  }
}

/// A JSON value as Swift's own types: `[String: Any]`, `[Any]`, `String`, `Bool`, `Int`, `Double`; `Optional<Any>.none`
/// for `null`.
private struct JSONValue: Decodable {
  let value: Any

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let fields = try? decoder.container(keyedBy: Key.self) {
      var object: [String: Any] = [:]
      for key in fields.allKeys { object[key.stringValue] = try fields.decode(JSONValue.self, forKey: key).value }
      value = object
    } else if var elements = try? decoder.unkeyedContainer() {
      var list: [Any] = []
      while !elements.isAtEnd { list.append(try elements.decode(JSONValue.self).value) }
      value = list
    } else {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        value = Any?.none as Any
      } else if let boolean = try? single.decode(Bool.self) {
        value = boolean
      } else if let number = try? single.decode(Int.self) {
        value = number
      } else if let number = try? single.decode(Double.self) {
        value = number
      } else {
        value = try single.decode(String.self)
      }
    }
  }
}
