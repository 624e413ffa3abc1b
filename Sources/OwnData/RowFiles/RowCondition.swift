internal import Bytes
package import DocumentFormat
internal import TextFormat

/// A condition that the rows of a file have to meet, in the language of conditions on documents. A text in quotes left
/// of an operator names a column: `'Variant Price' != ''`.
///
/// A row has no types, so a value is compared as what the constant is: with a number if it can be read as one, with
/// true or false if it is a word for it. A value that is empty, `null` or absent is the empty text, and null.
package struct RowCondition: Sendable, Equatable {
  /// The condition as it was written.
  package let text: String
  let condition: Condition

  /// Parses a condition.
  ///
  /// - Throws: `QuerySyntaxError` with the column, also for a constant that no value of a row can be.
  package init(parsing text: String) throws(QuerySyntaxError) {
    let (condition, columns) = try Condition.parse(text, quotedFields: true)
    var rest = columns[...]
    try Self.check(condition, &rest)
    self.text = text
    self.condition = condition
  }

  /// Checks the constants of a condition, whose comparisons have the given columns in the text.
  private static func check(
    _ condition: Condition, _ columns: inout ArraySlice<ComparisonColumns>
  ) throws(QuerySyntaxError) {
    var constants: [DocumentValue] = []
    switch condition {
    case .and(let parts), .or(let parts):
      for part in parts { try check(part, &columns) }
      return
    case .not(let part): return try check(part, &columns)
    case .compare(_, _, let constant), .contains(_, let constant, _): constants = [constant]
    case .isIn(_, let list): constants = list
    case .isNull, .like, .hasPrefix: break
    }
    let places = columns.popFirst()
    for (index, constant) in constants.enumerated() {
      switch constant {
      case .date, .bytes:
        let column = places.flatMap { $0.constants.indices.contains(index) ? $0.constants[index] : $0.field }
        throw QuerySyntaxError(
          column: column ?? 1, expected: "a text, a number, true, false or null",
          found: constant.kind == .date ? "a date, which a row has as a text" : "bytes")
      default: break
      }
    }
  }
}

/// A condition prepared for the rows of one file, and the values of the current row that it asks for.
struct RowFilter {
  private indirect enum Node {
    case all([Node])
    case any([Node])
    case not(Node)
    case test(Leaf)
    case never
  }

  private struct Leaf {
    /// The number of the column among ``names``.
    var slot: Int
    var test: ValueTest
    /// Whether a constant is a number, or all are, or one is true or false.
    var hasNumber: Bool
    var hasNumbersOnly: Bool
    var hasBoolean: Bool
  }

  /// The names of the columns that the condition asks for.
  private(set) var names: [String] = []
  private let root: Node
  private let mapping: RowMapping
  private let trueWords: Set<String>
  private var bytes: [UInt8] = []
  private var ranges: [Range<Int>] = []
  /// Whether a value is a number of JSON or of a database, which has a point whatever the mapping says of texts.
  private var areNumbers: [Bool] = []
  /// The first column of the current row whose value is no number, and was compared with one: no comparison holds then.
  private(set) var misread: Int?

  init(_ condition: RowCondition, _ mapping: RowMapping) {
    self.mapping = mapping
    trueWords = Set(mapping.trueWords.map { $0.lowercased() })
    var names: [String] = []
    root = Self.node(condition.condition, &names)
    self.names = names
    ranges = Array(repeating: 0..<0, count: names.count)
    areNumbers = Array(repeating: false, count: names.count)
  }

  private static func node(_ condition: Condition, _ names: inout [String]) -> Node {
    switch condition {
    case .and(let parts): return .all(parts.map { node($0, &names) })
    case .or(let parts): return .any(parts.map { node($0, &names) })
    case .not(let part): return .not(node(part, &names))
    case .compare(let path, _, let constant), .contains(let path, let constant, _):
      return test(ConditionNode(condition), slot(path, &names), [constant])
    case .isIn(let path, let constants): return test(ConditionNode(condition), slot(path, &names), constants)
    case .isNull(let path), .like(let path, _, _), .hasPrefix(let path, _, _):
      return test(ConditionNode(condition), slot(path, &names), [])
    }
  }

  /// The tests of a single comparison.
  private static func test(_ node: ConditionNode, _ slot: Int, _ constants: [DocumentValue]) -> Node {
    switch node {
    case .not(let part): .not(test(part, slot, constants))
    case .test(_, let test), .contains(_, let test, _):
      .test(
        Leaf(
          slot: slot, test: test, hasNumber: constants.contains { $0.kind == .number },
          hasNumbersOnly: !constants.isEmpty && constants.allSatisfy { $0.kind == .number },
          hasBoolean: constants.contains { $0.kind == .bool }))
    case .all, .any, .never: .never
    }
  }

  private static func slot(_ path: FieldPath, _ names: inout [String]) -> Int {
    // A column has no fields inside of it, so a point belongs to its name.
    let name = path.names.joined(separator: ".")
    if let slot = names.firstIndex(of: name) { return slot }
    names.append(name)
    return names.count - 1
  }

  /// What is wrong with a condition that asks for a column or key that the file does not have.
  static func unknown(_ name: String, among names: [String], _ what: String) -> String {
    let shown = names.prefix(40).joined(separator: ", ") + (names.count > 40 ? " and \(names.count - 40) more" : "")
    let nearest = NearestName.of(name, among: names).map { "; is \"\($0)\" meant?" } ?? ""
    return "the condition of the mapping (rows) asks for this \(what), and the file has none of this name\(nearest)"
      + (names.isEmpty ? "" : "; its \(what)s are \(shown)")
  }

  /// Forgets the values of a row.
  mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    for slot in ranges.indices { ranges[slot] = 0..<0 }
  }

  /// Sets the value of a column in the current row: the bytes of `text` in `range`.
  ///
  /// - Parameter isNumber: Whether it is a number of JSON.
  mutating func set(_ slot: Int, _ text: [UInt8], _ range: Range<Int>, isNumber: Bool = false) {
    areNumbers[slot] = isNumber
    let start = bytes.count
    bytes.append(contentsOf: text[range])
    ranges[slot] = start..<bytes.count
  }

  /// The value of a column in the current row.
  func text(_ slot: Int) -> String { String(decoding: bytes[ranges[slot]], as: UTF8.self) }

  /// Whether the current row meets the condition. ``misread`` is known then.
  mutating func isMet() -> Bool {
    var found: Int?
    let isMet = isMet(root, &found)
    misread = found
    return isMet
  }

  private func isMet(_ node: Node, _ misread: inout Int?) -> Bool {
    switch node {
    case .all(let nodes):
      for node in nodes where !isMet(node, &misread) { return false }
      return true
    case .any(let nodes):
      for node in nodes where isMet(node, &misread) { return true }
      return false
    case .not(let node): return !isMet(node, &misread)
    case .test(let leaf): return isMet(leaf, &misread)
    case .never: return false
    }
  }

  private func isMet(_ leaf: Leaf, _ misread: inout Int?) -> Bool {
    let range = ranges[leaf.slot]
    let value = bytes.rawSpan
    if leaf.test.holds(value, .text(range)) { return true }
    if range.isEmpty { return leaf.test.holds(value, .null) }
    if leaf.hasNumber {
      if let number = number(leaf.slot) { return leaf.test.holds(value, number) }
      if leaf.hasNumbersOnly, misread == nil { misread = leaf.slot }
    }
    if leaf.hasBoolean, let isTrue = boolean(range) { return leaf.test.holds(value, .bool(isTrue)) }
    return false
  }

  private func number(_ slot: Int) -> Item? {
    let text = String(decoding: bytes[ranges[slot]], as: UTF8.self)
    var plain: String? = text.trimmed
    if !areNumbers[slot], let decimal = mapping.decimalCharacter { plain = RowFieldPlan.pointed(text, decimal) }
    guard let plain else { return nil }
    let digits = Array(plain.utf8)
    if let number = NumberText.integer(digits.span) { return .integer(number) }
    return NumberText.double(digits.span).map { .double($0) }
  }

  private func boolean(_ range: Range<Int>) -> Bool? {
    let word = String(decoding: bytes[range], as: UTF8.self).trimmed.lowercased()
    if trueWords.contains(word) { return true }
    if !trueWords.isEmpty, RowMapping.falseWords.contains(word) { return false }
    return word == "true" ? true : word == "false" ? false : nil
  }
}
