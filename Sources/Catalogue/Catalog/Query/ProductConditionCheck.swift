import CatalogRows
import DocumentFormat

/// The check that every comparison of a condition is possible: products have the field, and it is of the constant's
/// kind.
///
/// Documents have no fixed fields, so a condition on them that can never hold is not an error. Here it is a mistake.
struct ProductConditionCheck {
  /// The columns of the comparisons that are still to come, in the order of the text; empty without a text.
  private var columns: ArraySlice<ComparisonColumns>

  init(_ columns: [ComparisonColumns]) { self.columns = columns[...] }

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
    let field = try ProductField(path, column: columns?.field)
    for (index, constant) in constants.enumerated() where constant.kind != field.kind && constant.kind != .null {
      // A field alone has no constant in the text.
      guard let columns, columns.constants.isEmpty else {
        throw .kind(field, problem: Self.mismatch(field, constant), column: columns?.constants[index])
      }
      throw .kind(field, problem: Self.noCondition(field), column: columns.field)
    }
  }

  private mutating func search(
    _ path: FieldPath, _ name: String, _ constant: DocumentValue
  ) throws(ProductQueryError) {
    let columns = columns.popFirst()
    let field = try ProductField(path, column: columns?.field)
    guard field.kind == .text else {
      throw .kind(
        field, problem: "\(field.key) is \(Self.kind(field)), and \(name) is for texts", column: columns?.field)
    }
    guard constant.kind == .text else {
      let problem = "\(name) needs a text, not \(Condition.literal(constant).shortened)"
      throw .kind(field, problem: problem, column: columns?.constants.first)
    }
  }

  private static func kind(_ field: ProductField) -> String {
    switch field.kind {
    case .bool: "true or false"
    case .number: "a number"
    default: "a text"
    }
  }

  private static func mismatch(_ field: ProductField, _ constant: DocumentValue) -> String {
    let other = field.kind == .bool ? "one of these" : kind(field)
    // The server writes times as texts, and so does a condition.
    let hint = constant.kind == .date && field.kind == .text ? "; a time is a text such as '2026-01-31 12:00:00'" : ""
    return "\(field.key) is \(kind(field)); compare it with \(other), not with"
      + " \(Condition.literal(constant).shortened)\(hint)"
  }

  private static func noCondition(_ field: ProductField) -> String {
    let example = field.kind == .number ? "\(field.key) > 0" : "\(field.key) != ''"
    return "\(field.key) is \(kind(field)), which alone is no condition; compare it, as in \(example)"
  }
}
