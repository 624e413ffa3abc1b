import Essentials

extension Condition {
  /// Parses a condition:
  ///
  ///     user.status.isOnline == true && (name like 'A%' nocase || age >= 3) && !(tag in ['a', 'b'])
  ///
  /// - A field is its ``FieldPath``. A backslash escapes any character, so `\and` is a field with that name.
  /// - A field alone is a condition: `user.isOnline` means `user.isOnline == true`.
  /// - Operators: `==` or `=`, `!=` or `<>`, `<`, `<=`, `>`, `>=`, `in [a, b]`, `contains`, `like 'A%'`,
  ///   `hasprefix 'A'`, `is null`, `is not null`. The word `nocase` after the text of `contains`, `like` and
  ///   `hasprefix` ignores case.
  /// - `&&` or `and`, `||` or `or`, `!` or `not`, parentheses. `and` binds more tightly than `or`. `true` and `false`
  ///   alone are conditions, too.
  /// - Values: `'text'` or `"text"` with `\n`, `\r`, `\t`, `\0`, `\\`, `\'`, `\"` and `\u{hex}`; numbers, `nan`, `inf`,
  ///   `-inf`, `true`, `false`, `null`, `date('2026-01-02T03:04:05Z')` (see ``DateText``), `bytes('base64')`. A number
  ///   beyond the largest double is an error. A document that was written in Swift can have NaN or an infinity, and
  ///   only the words `nan`, `inf` and `-inf` find it.
  ///
  /// Keywords are not case-sensitive. Parsing a ``description`` gives an equal condition.
  ///
  /// - Throws: `QuerySyntaxError` with the column and the expected token. Parentheses and negations may be nested at
  ///   most ``DocumentLimits/nestingDepth`` levels deep.
  public init(parsing text: String) throws(QuerySyntaxError) { self = try Self.parse(text).condition }

  /// Parses a condition, and returns where each of its comparisons is, in the order of the text.
  ///
  /// - Parameter quotedFields: Whether a text in quotes, where a field is expected, is the name of one, as columns of
  ///   tables have blanks and points in their names.
  /// - Throws: `QuerySyntaxError`, as ``init(parsing:)``.
  package static func parse(
    _ text: String, quotedFields: Bool = false
  ) throws(QuerySyntaxError) -> (condition: Condition, columns: [ComparisonColumns]) {
    var parser = ConditionParser(lexer: try QueryLexer(text))
    parser.takesQuotedFields = quotedFields
    let condition = try parser.disjunction(depth: 0)
    guard parser.lexer.token == .end else {
      let isCase = if case .word(let word) = parser.lexer.token { word.lowercased() == "nocase" } else { false }
      throw parser.lexer.unexpected(
        "'&&', '||' or the end" + (isCase ? " (nocase goes with contains, like and hasprefix)" : ""))
    }
    return (condition, parser.columns)
  }
}

/// The columns of a comparison in the text of a condition, in Unicode scalars from 1. They locate an error that is
/// found after parsing.
package struct ComparisonColumns: Sendable, Equatable {
  /// The column of the field.
  package var field: Int
  /// The columns of the constants; empty for a field alone and for a test for null.
  package var constants: [Int]

  package init(field: Int, constants: [Int] = []) {
    self.field = field
    self.constants = constants
  }
}

/// A recursive-descent parser with one function for each level of the grammar.
private struct ConditionParser {
  var lexer: QueryLexer
  /// The columns of the comparisons so far.
  var columns: [ComparisonColumns] = []
  /// Whether a text in quotes may name a field.
  var takesQuotedFields = false

  init(lexer: QueryLexer) { self.lexer = lexer }

  mutating func disjunction(depth: Int) throws(QuerySyntaxError) -> Condition {
    var parts = [try conjunction(depth: depth)]
    while try lexer.take("||", "or") { parts.append(try conjunction(depth: depth)) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction(depth: Int) throws(QuerySyntaxError) -> Condition {
    var parts = [try negation(depth: depth)]
    while try lexer.take("&&", "and") { parts.append(try negation(depth: depth)) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation(depth: Int) throws(QuerySyntaxError) -> Condition {
    guard depth <= DocumentLimits.nestingDepth else {
      throw lexer.unexpected("at most \(DocumentLimits.nestingDepth) levels of nesting")
    }
    if try lexer.take("!", "not") { return .not(try negation(depth: depth + 1)) }
    if try lexer.take("(") {
      let condition = try disjunction(depth: depth + 1)
      guard try lexer.take(")") else { throw lexer.unexpected("'&&', '||' or ')'") }
      return condition
    }
    if try lexer.take("true") { return .and([]) }
    if try lexer.take("false") { return .or([]) }
    return try comparison()
  }

  private mutating func comparison() throws(QuerySyntaxError) -> Condition {
    let column = lexer.column
    let path = try takesQuotedFields ? quotedPath() : lexer.takePath("a field, '!' or '('")
    columns.append(ComparisonColumns(field: column))
    if case .symbol(let symbol) = lexer.token, let comparison = Self.comparison(symbol) {
      try lexer.advance()
      return .compare(path, comparison, try value())
    }
    if try lexer.take("in") { return .isIn(path, try list()) }
    if try lexer.take("is") {
      let isNegated = try lexer.take("not")
      guard try lexer.take("null") else { throw lexer.unexpected("null") }
      return isNegated ? .not(.isNull(path)) : .isNull(path)
    }
    if try lexer.take("contains") {
      let constant = try value()
      return .contains(path, constant, ignoringCase: try lexer.take("nocase"))
    }
    if try lexer.take("like") {
      let pattern = try text()
      return .like(path, pattern, ignoringCase: try lexer.take("nocase"))
    }
    if try lexer.take("hasprefix") {
      let prefix = try text()
      return .hasPrefix(path, prefix, ignoringCase: try lexer.take("nocase"))
    }
    if endsOperand { return .compare(path, .equal, .bool(true)) }
    throw lexer.unexpected("a comparison, 'in', 'contains', 'like', 'hasprefix', 'is', '&&' or '||'")
  }

  /// Parses a field whose name may be in quotes.
  private mutating func quotedPath() throws(QuerySyntaxError) -> FieldPath {
    guard case .text(let name) = lexer.token else {
      return try lexer.takePath("a column, in quotes if its name is no plain word, '!' or '('")
    }
    guard let path = try? FieldPath(names: [name]) else { throw lexer.unexpected("the name of a column") }
    try lexer.advance()
    return path
  }

  /// Whether the next token cannot continue a comparison, so that the field before it is a condition of its own.
  private var endsOperand: Bool {
    switch lexer.token {
    case .end, .symbol("&&"), .symbol("||"), .symbol(")"): true
    case .word(let word): ["and", "or"].contains(word.lowercased())
    default: false
    }
  }

  private static func comparison(_ symbol: String) -> Condition.Comparison? {
    switch symbol {
    case "=": .equal
    case "<>": .notEqual
    default: Condition.Comparison(rawValue: symbol)
    }
  }

  private mutating func list() throws(QuerySyntaxError) -> [DocumentValue] {
    guard try lexer.take("[") else { throw lexer.unexpected("'['") }
    if try lexer.take("]") { return [] }
    var values = [try value()]
    while try lexer.take(",") { values.append(try value()) }
    guard try lexer.take("]") else { throw lexer.unexpected("',' or ']'") }
    return values
  }

  private mutating func text() throws(QuerySyntaxError) -> String {
    guard case .text(let text) = lexer.token else { throw lexer.unexpected("a text in quotes") }
    noteConstant()
    try lexer.advance()
    return text
  }

  /// Adds the column of the next token to the constants of the last comparison, if there is one.
  private mutating func noteConstant() {
    if !columns.isEmpty { columns[columns.count - 1].constants.append(lexer.column) }
  }

  fileprivate mutating func value() throws(QuerySyntaxError) -> DocumentValue {
    noteConstant()
    switch lexer.token {
    case .text(let text):
      try lexer.advance()
      return .text(text)
    case .number(let number):
      try lexer.advance()
      return number
    default: break
    }
    if try lexer.take("true") { return .bool(true) }
    if try lexer.take("false") { return .bool(false) }
    if try lexer.take("null") { return .null }
    if try lexer.take("nan") { return .double(.nan) }
    if try lexer.take("inf") { return .double(.infinity) }
    if try lexer.take("-") {
      guard try lexer.take("inf") else { throw lexer.unexpected("a number") }
      return .double(-.infinity)
    }
    if try lexer.take("date") { return .date(try argument("a date such as '2026-01-02T03:04:05Z'", DateText.date)) }
    if try lexer.take("bytes") {
      return .bytes(try argument("base64") { Data(base64Encoded: $0).map { [UInt8]($0) } })
    }
    throw lexer.unexpected("a value: text in quotes, a number, true, false, null, date('…') or bytes('…')")
  }

  /// Parses a text in parentheses with `parse`.
  private mutating func argument<T>(_ what: String, _ parse: (String) -> T?) throws(QuerySyntaxError) -> T {
    guard try lexer.take("(") else { throw lexer.unexpected("'('") }
    guard case .text(let text) = lexer.token, let value = parse(text) else { throw lexer.unexpected(what) }
    try lexer.advance()
    guard try lexer.take(")") else { throw lexer.unexpected("')'") }
    return value
  }
}

extension DocumentEdit {
  /// Parses assignments: `status.isOnline = false, user.name = 'Ana'`. Values are those of conditions.
  ///
  /// - Parameters:
  ///   - text: The assignments, with commas between them.
  ///   - createsObjects: Whether missing objects on the way to a field are created.
  /// - Throws: `QuerySyntaxError` with the column and the expected token.
  public init(parsing text: String, createsObjects: Bool) throws(QuerySyntaxError) {
    var parser = ConditionParser(lexer: try QueryLexer(text))
    var values: [(path: FieldPath, value: DocumentValue)] = []
    repeat {
      let path = try parser.lexer.takePath("a field")
      guard try parser.lexer.take("=") else { throw parser.lexer.unexpected("'='") }
      values.append((path, try parser.value()))
    } while try parser.lexer.take(",")
    guard parser.lexer.token == .end else { throw parser.lexer.unexpected("',' or the end") }
    self.init(values, createsObjects: createsObjects)
  }
}

extension QueryLexer {
  /// Consumes the next token as a path.
  fileprivate mutating func takePath(_ expected: String) throws(QuerySyntaxError) -> FieldPath {
    guard case .word(let word) = token, !Condition.reservedWords.contains(word.lowercased()) else {
      throw unexpected(expected)
    }
    let path: FieldPath
    do {
      path = try FieldPath(parsing: word)
    } catch {
      throw unexpected("a field path without empty names")
    }
    try advance()
    return path
  }
}

extension Ordering {
  /// Parses an order: `user.name, -age` or `user.name asc, age desc`.
  ///
  /// - Throws: `QuerySyntaxError` with the column and the expected token.
  public init(parsing text: String) throws(QuerySyntaxError) { self = try Self.parse(text).ordering }

  /// Parses an order, and returns the column of each field.
  ///
  /// - Throws: `QuerySyntaxError`, as ``init(parsing:)``.
  package static func parse(_ text: String) throws(QuerySyntaxError) -> (ordering: Ordering, columns: [Int]) {
    var lexer = try QueryLexer(text)
    var terms: [Term] = []
    var columns: [Int] = []
    repeat {
      var isDescending = try lexer.take("-")
      columns.append(lexer.column)
      let path = try lexer.takePath("a field")
      if !isDescending {
        isDescending = try lexer.take("desc")
        if !isDescending { _ = try lexer.take("asc") }
      }
      terms.append(Term(path, isDescending: isDescending))
    } while try lexer.take(",")
    guard lexer.token == .end else { throw lexer.unexpected("',' or the end") }
    return (Ordering(terms), columns)
  }
}
