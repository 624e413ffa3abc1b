/// A token of the query syntax.
enum QueryToken: Equatable {
  /// A field path or a keyword, as written, including backslashes.
  case word(String)
  case text(String)
  case number(DocumentValue)
  /// An operator, a bracket or a comma.
  case symbol(String)
  case end

  /// The token as it appears in messages.
  var name: String {
    switch self {
    case .word(let word): "'\(word)'"
    case .text(let text): "the text \(Condition.quoted(text))"
    case .number(let value): "the number \(value.json)"
    case .symbol(let symbol): "'\(symbol)'"
    case .end: "the end"
    }
  }
}

/// Splits conditions and orders into tokens, with one token of look-ahead.
struct QueryLexer {
  private let scalars: [Unicode.Scalar]
  private var position = 0
  /// The next token.
  private(set) var token = QueryToken.end
  /// The column of the next token, from 1.
  private(set) var column = 1

  init(_ text: String) throws(QuerySyntaxError) {
    scalars = Array(text.unicodeScalars)
    try advance()
  }

  /// Advances to the next token.
  mutating func advance() throws(QuerySyntaxError) {
    while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
    column = position + 1
    token = try next()
  }

  /// Consumes the next token if it is one of these symbols or keywords, in any case.
  mutating func take(_ words: String...) throws(QuerySyntaxError) -> Bool {
    let found: String
    switch token {
    case .symbol(let symbol): found = symbol
    case .word(let word): found = word.lowercased()
    default: return false
    }
    guard words.contains(found) else { return false }
    try advance()
    return true
  }

  /// An error for a next token that is not the expected one.
  func unexpected(_ expected: String) -> QuerySyntaxError {
    QuerySyntaxError(column: column, expected: expected, found: token.name)
  }

  static let symbols = ["==", "!=", "<>", "<=", ">=", "&&", "||", "=", "<", ">", "!", "(", ")", "[", "]", ",", "-"]

  /// Whether `scalar` may occur in a path without a backslash; digits and `-` only after the first character.
  static func isBare(_ scalar: Unicode.Scalar, atStart: Bool) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_", "$", "@": true
    case "0"..."9", "-": !atStart
    default: scalar.value >= 0x80 && !scalar.properties.isWhitespace
    }
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    position + ahead < scalars.count ? scalars[position + ahead] : nil
  }

  private mutating func next() throws(QuerySyntaxError) -> QueryToken {
    guard let first = peek() else { return .end }
    if first == "'" || first == "\"" { return .text(try text(first)) }
    if isDigit(first) || (first == "-" && peek(1).map(isDigit) == true) { return .number(try number()) }
    if first == "\\" || Self.isBare(first, atStart: true) { return .word(try word()) }
    for symbol in Self.symbols
    where Array(symbol.unicodeScalars).elementsEqual(scalars[position...].prefix(symbol.count)) {
      position += symbol.count
      return .symbol(symbol)
    }
    throw QuerySyntaxError(column: column, expected: "a field, a value or an operator", found: "'\(first)'")
  }

  private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  /// A path, with the backslashes preserved for ``FieldPath/init(parsing:)``.
  private mutating func word() throws(QuerySyntaxError) -> String {
    var word = ""
    var isStart = true
    while let scalar = peek() {
      if scalar == "\\" {
        guard let escaped = peek(1) else {
          throw QuerySyntaxError(column: position + 2, expected: "a character after the backslash", found: "the end")
        }
        word.unicodeScalars.append(scalar)
        word.unicodeScalars.append(escaped)
        position += 2
        isStart = false
      } else if scalar == "." || Self.isBare(scalar, atStart: isStart) {
        word.unicodeScalars.append(scalar)
        position += 1
        isStart = false
      } else {
        break
      }
    }
    return word
  }

  private mutating func number() throws(QuerySyntaxError) -> DocumentValue {
    var text = ""
    while let scalar = peek(), isDigit(scalar) || ".eE".unicodeScalars.contains(scalar) || isSign(scalar, after: text) {
      text.unicodeScalars.append(scalar)
      position += 1
    }
    if text != "-0" {
      if let value = Int64(text) { return .integer(value) }
      if let value = UInt64(text) { return .unsigned(value) }
    }
    guard let value = Double(text), let last = text.unicodeScalars.last, isDigit(last) else {
      throw QuerySyntaxError(column: column, expected: "a number", found: "'\(text)'")
    }
    // Infinity is another number than the one that was written.
    guard value.isFinite else {
      throw QuerySyntaxError(column: column, expected: "a number up to about 1.8e308", found: "'\(text)'")
    }
    return .double(value)
  }

  /// Whether a sign may follow `text` inside a number.
  private func isSign(_ scalar: Unicode.Scalar, after text: String) -> Bool {
    switch scalar {
    case "-": text.isEmpty || text.hasSuffix("e") || text.hasSuffix("E")
    case "+": text.hasSuffix("e") || text.hasSuffix("E")
    default: false
    }
  }

  private mutating func text(_ quote: Unicode.Scalar) throws(QuerySyntaxError) -> String {
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = peek() {
      position += 1
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escape() : scalar)
    }
    throw QuerySyntaxError(column: position + 1, expected: "'\(quote)' to end the text", found: "the end")
  }

  /// The character of an escape sequence, after the backslash.
  private mutating func escape() throws(QuerySyntaxError) -> Unicode.Scalar {
    // The backslash is already consumed.
    let start = position
    let kind = peek()
    position += 1
    switch kind {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "0": return "\0"
    case let quoted? where "\\'\"".unicodeScalars.contains(quoted): return quoted
    case "u" where peek() == "{":
      position += 1
      var digits = ""
      while let scalar = peek(), scalar.properties.isASCIIHexDigit, digits.count < 8 {
        digits.unicodeScalars.append(scalar)
        position += 1
      }
      if peek() == "}", let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) {
        position += 1
        return scalar
      }
    default: break
    }
    throw QuerySyntaxError(
      column: start, expected: "one of \\n \\r \\t \\0 \\\\ \\' \\\" \\u{hex} in the text",
      found: kind.map { "'\\\($0)'" } ?? "the end")
  }
}
