internal import Barcodes
internal import CatalogRows
import TextFormat

/// The values that a mapping computes for a row: those that are not simply the value of one column.
struct RowFieldPlan {
  /// A value to compute.
  private struct Computed {
    var field: ProductField
    /// The column of ``RowCells``.
    var column: Int
    var sources: [Int]
    var separator: String?
    /// The text between several values in a cell.
    var split: String?
    var steps: [Action]
    /// Whether one of the steps is ``RowMapping/Step/gtin``.
    var isCode = false
    var constant: String?
    /// Whether the value is converted.
    var converts: Bool
    /// The only source, if its value is used without joining, steps and other columns to try.
    var onlySource: Int?
  }

  /// The value of a source in the current row.
  private struct Value {
    /// Where it is in ``bytes``.
    var range: Range<Int>
    /// The line on which it begins.
    var line: Int
    /// Whether it is a number of JSON, which has a point.
    var isNumber: Bool
  }

  enum Action {
    case trim, upper, lower, gtin, money, html
    case capture(Regex<AnyRegexOutput>)
    /// The form as a person wrote it, and its bytes.
    case date(String, [UInt8])
  }

  let mapping: RowMapping
  private var computed: [Computed] = []
  /// The values of the sources in the current row, one after another.
  private var bytes: [UInt8] = []
  private var values: [Value?] = []
  /// A number with a point as its decimal separator.
  private var pointed: [UInt8] = []
  /// The words for true and false that occurred so far, as they were written; a few of them.
  private var words: [(text: [UInt8], isTrue: Bool)] = []
  /// The number of values so far that were left out because an earlier one of the same cell counts.
  private(set) var furtherParts = 0
  private let trueWords: Set<String>
  private let nulls: NullWords?
  private let dateFormat: [UInt8]

  init(_ mapping: RowMapping) {
    self.mapping = mapping
    trueWords = Set(mapping.trueWords.map { $0.lowercased() })
    nulls = NullWords(mapping.nullWords)
    dateFormat = DatePattern.bytes(mapping.dateFormat ?? "")
  }

  /// Whether every value is that of one column as it is.
  var isEmpty: Bool { computed.isEmpty }

  /// The index in ``RowCells`` of a field.
  static func column(of field: ProductField) -> Int { columns[field.rawValue] }

  private static let columns = ProductField.allCases.map { field in
    RowCells.columns.firstIndex { $0.product == field } ?? 0
  }

  /// Adds a value that is computed from sources.
  ///
  /// - Returns: What is wrong with the regular expression of a step; `nil` if nothing is.
  mutating func add(_ field: ProductField, sources: [Int], _ rule: RowMapping.Rule?) -> String? {
    let steps: [Action]
    do throws(RowRefusal) { steps = try Self.actions(rule?.steps ?? [], of: "the field \(field.key)") } catch {
      return error.message
    }
    computed.append(
      Computed(
        field: field, column: Self.column(of: field), sources: sources, separator: rule?.separator, split: rule?.split,
        steps: steps, isCode: rule?.steps.contains(.gtin) ?? false,
        converts: mapping.converts(field) && !(rule?.steps.contains(where: \.isConversion) ?? false),
        onlySource: sources.count == 1 && rule?.separator == nil && rule?.split == nil && steps.isEmpty
          ? sources[0] : nil))
    reserve(sources)
    return nil
  }

  /// Prepares the steps of a rule.
  ///
  /// - Parameter what: What the rule is for, in messages.
  /// - Throws: `RowRefusal` for a step that is no regular expression.
  static func actions(_ steps: [RowMapping.Step], of what: String) throws(RowRefusal) -> [Action] {
    var actions: [Action] = []
    for step in steps {
      switch step {
      case .trim: actions.append(.trim)
      case .upper: actions.append(.upper)
      case .lower: actions.append(.lower)
      case .gtin: actions.append(.gtin)
      case .capture(let pattern):
        guard let regex = try? Regex(pattern) else {
          throw RowRefusal("\"\(pattern)\" is not a regular expression; correct the step capture of \(what)")
        }
        actions.append(.capture(regex))
      case .money: actions.append(.money)
      case .html: actions.append(.html)
      case .date(let form): actions.append(.date(form, DatePattern.bytes(form)))
      }
    }
    return actions
  }

  /// Whether a source of a field has a value in this row.
  func hasValue(_ field: ProductField) -> Bool {
    computed.contains { entry in
      entry.field == field && entry.sources.contains { values[$0].map { !$0.range.isEmpty } ?? false }
    }
  }

  /// Adds a source of a value that has no rule: it counts where the others are empty.
  ///
  /// - Parameter isFirst: Whether it goes before the others.
  mutating func add(source: Int, to field: ProductField, isFirst: Bool = false) {
    guard let index = computed.firstIndex(where: { $0.field == field }) else { return }
    computed[index].sources.insert(source, at: isFirst ? 0 : computed[index].sources.count)
    computed[index].onlySource = nil
    reserve([source])
  }

  /// Forgets the values of a row that is read once more.
  mutating func reset() {
    for index in values.indices { values[index] = nil }
    bytes.removeAll(keepingCapacity: true)
  }

  /// Adds a value that is the same in every row.
  mutating func add(_ field: ProductField, constant: String) {
    computed.append(
      Computed(
        field: field, column: Self.column(of: field), sources: [], steps: [], constant: constant,
        converts: mapping.converts(field)))
  }

  private mutating func reserve(_ sources: [Int]) {
    let count = (sources.max() ?? -1) + 1
    while values.count < count { values.append(nil) }
  }

  /// Sets the value of a source in this row: the bytes of `text` in `range`.
  ///
  /// - Parameter isNumber: Whether it is a number of JSON.
  mutating func set(_ source: Int, _ text: [UInt8], _ range: Range<Int>, line: Int, isNumber: Bool = false) {
    guard source < values.count else { return }
    let start = bytes.count
    bytes.append(contentsOf: text[range])
    values[source] = Value(range: start..<bytes.count, line: line, isNumber: isNumber)
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Computes the values of a row from those of its sources, and forgets these.
  ///
  /// - Returns: The values that cannot be converted.
  mutating func finish(_ cells: inout RowCells, line: Int) -> [RowFault] {
    var faults: [RowFault] = []
    let isRelation = cells.kind(RowCells.typeColumn) == .text && cells.text(RowCells.typeColumn) == "relation"
    for index in computed.indices {
      if let source = computed[index].onlySource {
        guard let value = values[source] else { continue }
        let column = computed[index].column
        let isRead = value.isNumber && computed[index].field.isNumber
        if !computed[index].converts || value.range.isEmpty || isRead {
          cells.set(column, bytes, value.range, line: value.line)
          continue
        }
        if set(column, computed[index].field, value.range, line: value.line, in: &cells) { continue }
      }
      let entry = computed[index]
      // What is the same in every product is nothing that a relation has.
      if isRelation, entry.constant != nil { continue }
      let found: Found
      do throws(Refused) { found = try value(of: entry, line) } catch {
        faults.append(RowFault(.value, line: error.line, column: entry.field.key, value: error.value, error.message))
        continue
      }
      let (text, line) = (found.text, found.line)
      if text.isEmpty {
        // A key that is there and empty says so.
        if entry.sources.contains(where: { values[$0] != nil }) {
          cells.set(entry.column, .text, [UInt8]().span, line: line)
        }
        continue
      }
      do throws(RowRefusal) {
        let value = entry.converts && !found.isRead(entry.field) ? try converted(text, entry.field) : text
        cells.set(entry.column, .text, Array(value.utf8).span, line: line)
      } catch {
        faults.append(RowFault(.value, line: line, column: entry.field.key, value: text, error.message))
      }
    }
    forget()
    return faults
  }

  /// A value before it is converted.
  private struct Found {
    var text: String
    var line: Int
    /// Whether it comes from a number of JSON or of a database, which has a point whatever the mapping says of texts.
    var isNumber = false

    /// Whether the value is a number that needs no conversion.
    func isRead(_ field: ProductField) -> Bool {
      isNumber && field.isNumber && NumberText.double(Array(text.utf8).span) != nil
    }
  }

  /// A value that a step refuses, before the steps.
  private struct Refused: Error {
    var message: String
    var value: String
    var line: Int
  }

  /// Returns the value of a field in the current row, after its steps: of several sources, and of several values in a
  /// cell, the first one that is not empty then.
  ///
  /// - Throws: `Refused` for a text that a step cannot read.
  private mutating func value(of entry: Computed, _ rowLine: Int) throws(Refused) -> Found {
    if let constant = entry.constant { return Found(text: constant, line: rowLine) }
    if let separator = entry.separator {
      return try changed(joined(entry, separator, rowLine), entry.steps)
    }
    var first: Found?
    for source in entry.sources {
      guard let value = values[source] else { continue }
      let cell = Found(text: text(value.range), line: value.line, isNumber: value.isNumber)
      let parts = Self.parts(of: cell.text, entry)
      for (index, part) in parts.enumerated() {
        // A cell of blanks counts as empty where there is another one to try.
        if part.allSatisfy(\.isWhitespace), entry.sources.count > 1 { continue }
        let found = try changed(Found(text: part, line: cell.line, isNumber: cell.isNumber), entry.steps)
        if found.text.isEmpty { continue }
        // The codes of a mapping have the others.
        if !(entry.field == .barcode && !mapping.codes.isEmpty) { furtherParts += parts.count - index - 1 }
        return found
      }
      first = first ?? Found(text: "", line: value.line)
    }
    return first ?? Found(text: "", line: rowLine)
  }

  /// Whether a cell with a separator of values in it is one barcode nevertheless, as programs and people write it: a
  /// number with an exponent and a decimal comma, digits in groups, the web address of a Digital Link.
  static func isOneCode(_ text: String) -> Bool {
    if text.contains("://") { return true }
    switch WrittenCode(text).state {
    case .sound, .lostZero, .exponent, .decorated, .wrongCheckDigit: return true
    case .several, .text, .none: return false
    }
  }

  /// The values of several sources, with a text between them.
  private func joined(_ entry: Computed, _ separator: String, _ rowLine: Int) -> Found {
    let given = entry.sources.compactMap { values[$0] }.filter { !$0.range.isEmpty }
    // Numbers next to one another have points still. One next to a text is written as the text is.
    let areNumbers = given.allSatisfy(\.isNumber) && !separator.contains { $0 == "." || $0 == "," }
    let parts = given.map { value in
      let text = text(value.range)
      guard value.isNumber, !areNumbers, given.count > 1, entry.field.isNumber, let decimal = mapping.decimalCharacter
      else { return text }
      return text.replacing(".", with: String(decimal))
    }
    return Found(
      text: parts.joined(separator: separator), line: given.first?.line ?? rowLine,
      isNumber: !given.isEmpty && (areNumbers || given.count == 1 && given[0].isNumber))
  }

  /// A value after steps; an empty one for a text that counts as no value.
  private func changed(_ value: Found, _ steps: [Action]) throws(Refused) -> Found {
    if steps.isEmpty { return value }
    var changed = value
    do throws(RowRefusal) {
      for step in steps {
        // A number is an amount without a currency.
        if case .money = step, value.isNumber { continue }
        changed.text = try Self.apply(step, to: changed.text, decimal: mapping.decimalCharacter)
      }
    } catch { throw Refused(message: error.message, value: value.text, line: value.line) }
    if nulls?.contains(changed.text) ?? false { changed.text = "" }
    return changed
  }

  /// Forgets the values of the sources in this row.
  mutating func forget() {
    for index in values.indices { values[index] = nil }
    bytes.removeAll(keepingCapacity: true)
  }

  /// The values in a cell: with a text that separates them those that are not empty, without blanks around them.
  private static func parts(of text: String, _ entry: Computed) -> [String] {
    guard let separator = entry.split else { return [text] }
    if entry.field == .barcode || entry.isCode, isOneCode(text) { return [text] }
    return text.split(separator: separator).map { String($0).trimmed }.filter { !$0.isEmpty }
  }

  /// Sets a value that needs a simple conversion, without making a string of it. Returns whether it is such a value.
  private mutating func set(
    _ column: Int, _ field: ProductField, _ range: Range<Int>, line: Int, in cells: inout RowCells
  ) -> Bool {
    switch field.conversion {
    case .date: return false
    case .number:
      pointed.removeAll(keepingCapacity: true)
      let decimal = mapping.decimal
      for byte in bytes[range] {
        let isSeparator = byte == UInt8(ascii: ",") || byte == UInt8(ascii: ".")
        if isSeparator, byte != decimal { return false }
        pointed.append(isSeparator ? UInt8(ascii: ".") : byte)
      }
      guard Self.isNumber(pointed.span, of: field) else { return false }
      cells.set(column, .text, pointed.span, line: line)
    default:
      guard let word = words.first(where: { $0.text.elementsEqual(bytes[range]) }) else { return false }
      cells.set(column, .text, Self.word(word.isTrue).span, line: line)
    }
    return true
  }

  private static func isNumber(_ text: Span<UInt8>, of field: ProductField) -> Bool {
    field.isWhole ? NumberText.integer(text) != nil : NumberText.double(text) != nil
  }

  private static let trueText = Array("true".utf8)
  private static let falseText = Array("false".utf8)
  private static func word(_ isTrue: Bool) -> [UInt8] { isTrue ? trueText : falseText }

  /// A text after steps, of which captures do nothing.
  ///
  /// - Throws: `RowRefusal` for a text that a step cannot read.
  static func applied(
    _ steps: [RowMapping.Step], to text: String, _ mapping: RowMapping
  ) throws(RowRefusal) -> String {
    var text = text
    for step in steps {
      let action: Action
      switch step {
      case .trim: action = .trim
      case .upper: action = .upper
      case .lower: action = .lower
      case .gtin: action = .gtin
      case .money: action = .money
      case .html: action = .html
      case .date(let form): action = .date(form, DatePattern.bytes(form))
      case .capture: continue
      }
      text = try apply(action, to: text, decimal: mapping.decimalCharacter)
    }
    return text
  }

  static func apply(
    _ step: Action, to text: String, decimal: Character?
  ) throws(RowRefusal) -> String {
    switch step {
    case .trim: return Blanks.trimmed(text)
    case .upper: return text.uppercased()
    case .lower: return text.lowercased()
    case .gtin: return WrittenCode(text).normalized
    case .money: return try MoneyText.number(text, decimal: decimal)
    case .html: return HTMLText.decoded(text)
    case .date(let form, let bytes): return try date(text, form, bytes)
    case .capture(let regex):
      guard let match = try? regex.firstMatch(in: text) else { return "" }
      let part = match.output.count > 1 ? match.output[1].substring : match.output[0].substring
      return part.map(String.init) ?? ""
    }
  }

  /// A date in the form that the catalogue has; an empty text for blanks, and for a date of zeros.
  private static func date(_ text: String, _ form: String, _ bytes: [UInt8]) throws(RowRefusal) -> String {
    if let date = DatePattern.reformatted(text, bytes) { return date }
    // A database's way to say that there is no date: 00.00.0000.
    let isZero = text.allSatisfy { $0 == "0" || $0.isASCII && !$0.isNumber && !$0.isLetter }
    if isZero, text.contains("0") || text.allSatisfy(\.isWhitespace) { return "" }
    let advice = text.contains(where: \.isNumber) ? "" : "; " + NullWords.remedy(text)
    throw RowRefusal("this is no date of the form \(form); correct it, or give another form" + advice)
  }

  /// A value in the form that rows have. A word that is neither true nor false stays as it is, and the checker reports
  /// it.
  private mutating func converted(_ text: String, _ field: ProductField) throws(RowRefusal) -> String {
    switch field.conversion {
    case .date:
      return try Self.date(text, mapping.dateFormat ?? "", dateFormat)
    case .number:
      let hasComma = mapping.decimal == UInt8(ascii: ",")
      if let number = Self.pointed(text, hasComma ? "," : "."), Self.isNumber(Array(number.utf8).span, of: field) {
        return number
      }
      let isWhole = field.isWhole
      if let remedy = RowChecker.remedy(text, field.key) {
        throw RowRefusal("this is no \(isWhole ? "whole " : "")number; \(remedy)")
      }
      let (name, other) = hasComma ? ("comma", ".") : ("point", ",")
      let forms = hasComma ? "1234,5 or 1.234,5 or 1 234,5" : "1234.5 or 1,234.5 or 1 234.5"
      throw RowRefusal(
        "this is no \(isWhole ? "whole " : "")number with a decimal \(name); write it as"
          + " \(isWhole ? "1234" : forms), or give the other separator of decimals: --decimal \(other)")
    default:
      let word = text.lowercased()
      let isTrue = trueWords.contains(word)
      guard isTrue || RowMapping.falseWords.contains(word) else { return text }
      if words.count < 8 { words.append((Array(text.utf8), isTrue)) }
      return isTrue ? "true" : "false"
    }
  }

  /// The characters that separate groups of digits: an apostrophe, and the spaces that programs write, which break no
  /// line.
  private static let groupSeparators: Set<Character> = ["'", "’", " ", "\u{A0}", "\u{202F}"]

  /// A number with a point as its decimal separator; `nil` if separators are not between groups of three digits.
  ///
  /// - Parameters:
  ///   - text: The number as it is written, with blanks around it, full-width digits, or a minus at the end.
  ///   - decimal: Its decimal separator, a point or a comma.
  static func pointed(_ text: String, _ decimal: Character) -> String? {
    var number = Blanks.trimmed(String(text.map(narrow)))
    var isNegative = false
    if number.hasSuffix("-"), number.first?.isNumber == true {
      isNegative = true
      number.removeLast()
    } else if let sign = number.first, sign == "-" || sign == "+" {
      isNegative = sign == "-"
      number.removeFirst()
    }
    let isSeparator: (Character) -> Bool = { groupSeparators.contains($0) || $0 == (decimal == "," ? "." : ",") }
    let parts = number.split(separator: decimal, omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.count == 1 || !parts[1].contains(where: isSeparator) else { return nil }
    let groups = parts[0].split(omittingEmptySubsequences: false, whereSeparator: isSeparator)
    if groups.count > 1 {
      let isGrouped = groups.dropFirst().allSatisfy { $0.utf8.count == 3 && isDigits($0) }
      // 0.250 and 1234.567 are no groups of digits: there the separator is another one than was said.
      guard isGrouped, (1...3).contains(groups[0].utf8.count), isDigits(groups[0]), groups[0].first != "0",
        Set(parts[0].filter(isSeparator)).count == 1
      else { return nil }
    }
    return (isNegative ? "-" : "") + groups.joined() + (parts.count == 2 ? "." + parts[1] : "")
  }

  private static func isDigits(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

  /// A full-width character, as Chinese and Japanese programs write digits, as the plain one.
  static func narrow(_ character: Character) -> Character {
    guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1,
      (0xFF01...0xFF5E).contains(scalar.value), let narrow = UnicodeScalar(scalar.value - 0xFEE0)
    else { return character }
    return Character(narrow)
  }
}

extension RowMapping {
  /// The decimal separator as a character.
  var decimalCharacter: Character? { decimal.map { Character(Unicode.Scalar($0)) } }
}

extension RowMapping.Step {
  /// Whether the step gives a value in the form that rows have.
  var isConversion: Bool {
    switch self {
    case .money, .date: true
    case .trim, .upper, .lower, .gtin, .capture, .html: false
    }
  }
}

extension ProductField {
  /// Whether its values are numbers.
  fileprivate var isNumber: Bool {
    switch slot {
    case .integer, .double: true
    case .text, .flag: false
    }
  }

  /// Whether its values are whole numbers.
  fileprivate var isWhole: Bool { if case .integer = slot { true } else { false } }
}
