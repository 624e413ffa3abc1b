import Essentials

extension Condition: CustomStringConvertible {
  /// The condition in the syntax of ``init(parsing:)``, which parses it as an equal condition.
  ///
  /// Two cases have no exact syntax: a list of one condition (written as that condition), and arrays and objects as
  /// constants.
  public var description: String {
    switch self {
    case .compare(let path, let comparison, let value):
      "\(path.queryText) \(comparison.rawValue) \(Self.literal(value))"
    case .isIn(let path, let values): "\(path.queryText) in [\(values.map(Self.literal).joined(separator: ", "))]"
    case .contains(let path, let value, let ignoringCase):
      "\(path.queryText) contains \(Self.literal(value))\(ignoringCase ? " nocase" : "")"
    case .like(let path, let pattern, let ignoringCase):
      "\(path.queryText) like \(Self.quoted(pattern))\(ignoringCase ? " nocase" : "")"
    case .hasPrefix(let path, let prefix, let ignoringCase):
      "\(path.queryText) hasprefix \(Self.quoted(prefix))\(ignoringCase ? " nocase" : "")"
    case .isNull(let path): "\(path.queryText) is null"
    case .and(let parts):
      parts.isEmpty ? "true" : parts.map { $0.isList ? "(\($0))" : "\($0)" }.joined(separator: " && ")
    case .or(let parts):
      parts.isEmpty ? "false" : parts.map { $0.isDisjunction ? "(\($0))" : "\($0)" }.joined(separator: " || ")
    case .not(let part): "!(\(part))"
    }
  }

  /// The same text with `?` for each value, so that it can be logged where the values are confidential.
  public var redacted: String {
    switch self {
    case .compare(let path, let comparison, _): "\(path.queryText) \(comparison.rawValue) ?"
    case .isIn(let path, let values): "\(path.queryText) in [\(values.map { _ in "?" }.joined(separator: ", "))]"
    case .contains(let path, _, let ignoringCase): "\(path.queryText) contains ?\(ignoringCase ? " nocase" : "")"
    case .like(let path, _, let ignoringCase): "\(path.queryText) like ?\(ignoringCase ? " nocase" : "")"
    case .hasPrefix(let path, _, let ignoringCase): "\(path.queryText) hasprefix ?\(ignoringCase ? " nocase" : "")"
    case .isNull: description
    case .and(let parts):
      parts.isEmpty ? "true" : parts.map { $0.isList ? "(\($0.redacted))" : $0.redacted }.joined(separator: " && ")
    case .or(let parts):
      parts.isEmpty
        ? "false" : parts.map { $0.isDisjunction ? "(\($0.redacted))" : $0.redacted }.joined(separator: " || ")
    case .not(let part): "!(\(part.redacted))"
    }
  }

  /// Whether it is written with `&&` or `||`.
  private var isList: Bool {
    switch self {
    case .and(let parts), .or(let parts): parts.count > 0
    default: false
    }
  }

  private var isDisjunction: Bool { if case .or = self { isList } else { false } }

  /// Reserved words, which need a backslash when they are field names.
  static let reservedWords: Set<String> = ["and", "or", "not", "true", "false", "null"]

  /// A constant in the syntax of conditions.
  package static func literal(_ value: DocumentValue) -> String {
    switch value {
    case .text(let text): quoted(text)
    case .double(let value) where value.isNaN: "nan"
    case .double(let value) where value.isInfinite: value > 0 ? "inf" : "-inf"
    case .date(let date): "date(\(quoted(DateText.text(date))))"
    case .bytes(let bytes): "bytes('\(Data(bytes).base64EncodedString())')"
    default: value.json
    }
  }

  /// `text` in single quotes, with escape sequences.
  static func quoted(_ text: String) -> String {
    var quoted = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\":
        quoted += "\\"
        quoted.unicodeScalars.append(scalar)
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "'"
  }
}

extension FieldPath {
  /// The path in the syntax of conditions: with a backslash before each character that is not allowed in a bare path.
  var queryText: String {
    var text = names.enumerated().map { index, name in
      var text = ""
      for (position, scalar) in name.unicodeScalars.enumerated() {
        if !QueryLexer.isBare(scalar, atStart: index == 0 && position == 0) { text += "\\" }
        text.unicodeScalars.append(scalar)
      }
      return text
    }.joined(separator: ".")
    if Condition.reservedWords.contains(text.lowercased()) { text = "\\" + text }
    return text
  }
}

extension Ordering: CustomStringConvertible {
  /// The order in the syntax of ``init(parsing:)``.
  public var description: String {
    terms.map { ($0.isDescending ? "-" : "") + $0.path.queryText }.joined(separator: ", ")
  }
}
