import CatalogRows
import DocumentFormat

/// The check that every comparison of a condition is possible: products have the field, and it is of the constant's
/// kind.
///
/// Documents have no fixed fields, so a condition on them that can never hold is not an error. Here it is a mistake.
struct ProductConditionCheck {
  /// The columns of the comparisons that are still to come, in the order of the text; empty without a text.
  private var columns: ArraySlice<ComparisonColumns>
  private let declared: DeclaredFields

  init(_ columns: [ComparisonColumns], _ declared: DeclaredFields) {
    self.columns = columns[...]
    self.declared = declared
  }

  /// - Throws: `ProductQueryError.unknownField`, `.kind`.
  mutating func check(_ condition: Condition) throws(ProductQueryError) {
    switch condition {
    case .and(let parts), .or(let parts): for part in parts { try check(part) }
    case .not(let part): try check(part)
    case .compare(let path, _, let constant): try compare(path, [constant])
    case .isIn(let path, let constants): try compare(path, constants)
    case .isNull(let path): try compare(path, [])
    case .contains(let path, let constant, _): try search(path, "contains", constant)
    case .like(let path, let pattern, _): try search(path, "like", .text(pattern))
    case .hasPrefix(let path, let prefix, _): try search(path, "hasprefix", .text(prefix))
    }
  }

  private mutating func compare(_ path: FieldPath, _ constants: [DocumentValue]) throws(ProductQueryError) {
    let columns = columns.popFirst()
    let field = try ProductQueryField(path, declared: declared, column: columns?.field)
    if field == .codes { throw Self.list(columns) }
    // A field that is not declared may have values of any kind.
    guard let kind = field.kind(declared) else { return }
    for (index, constant) in constants.enumerated() where constant.kind != kind && constant.kind != .null {
      // A field alone has no constant in the text.
      guard let columns, columns.constants.isEmpty else {
        throw .kind(field, problem: Self.mismatch(field, kind, constant), column: columns?.constants[index])
      }
      throw .kind(field, problem: Self.noCondition(field, kind), column: columns.field)
    }
  }

  private mutating func search(
    _ path: FieldPath, _ name: String, _ constant: DocumentValue
  ) throws(ProductQueryError) {
    let columns = columns.popFirst()
    let field = try ProductQueryField(path, declared: declared, column: columns?.field)
    if field == .codes { throw Self.list(columns) }
    let kind = field.kind(declared) ?? .text
    guard kind == .text else {
      throw .kind(
        field, problem: "\(field.key) is \(Self.words(kind)), and \(name) is for texts", column: columns?.field)
    }
    guard constant.kind == .text else {
      let problem = "\(name) needs a text, not \(Condition.literal(constant).shortened)"
      throw .kind(field, problem: problem, column: columns?.constants.first)
    }
  }

  private static func list(_ columns: ComparisonColumns?) -> ProductQueryError {
    let names = ProductQueryField.codeNames.joined(separator: ", ")
    return .kind(
      .codes, problem: "codes is a list; compare one of \(names), as in codeCount > 0", column: columns?.field)
  }

  private static func words(_ kind: DocumentKind) -> String {
    switch kind {
    case .bool: "true or false"
    case .number: "a number"
    default: "a text"
    }
  }

  private static func mismatch(_ field: ProductQueryField, _ kind: DocumentKind, _ constant: DocumentValue) -> String {
    let other = kind == .bool ? "one of these" : words(kind)
    // The server writes times as texts, and so does a condition.
    let hint = constant.kind == .date && kind == .text ? "; a time is a text such as '2026-01-31 12:00:00'" : ""
    return "\(field.key) is \(words(kind)); compare it with \(other), not with"
      + " \(Condition.literal(constant).shortened)\(hint)"
  }

  private static func noCondition(_ field: ProductQueryField, _ kind: DocumentKind) -> String {
    let example = kind == .number ? "\(field.key) > 0" : "\(field.key) != ''"
    return "\(field.key) is \(words(kind)), which alone is no condition; compare it, as in \(example)"
  }
}
