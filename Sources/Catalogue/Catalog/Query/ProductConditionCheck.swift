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
    let type = type(of: field)
    for (index, constant) in constants.enumerated() where !Self.fits(constant, kind, type) {
      // A field alone has no constant in the text.
      guard let columns, columns.constants.isEmpty else {
        throw .kind(field, problem: Self.mismatch(field, kind, type, constant), column: columns?.constants[index])
      }
      throw .kind(field, problem: Self.noCondition(field, kind, type), column: columns.field)
    }
  }

  /// The declared type of a field of one's own; `nil` for any other.
  private func type(of field: ProductQueryField) -> FieldType? {
    guard case .extra(let name) = field else { return nil }
    return declared[name]?.type
  }

  /// Whether a field can be compared with a constant. Dates are compared as texts, so another text would be before or
  /// after all of them.
  private static func fits(_ constant: DocumentValue, _ kind: DocumentKind, _ type: FieldType?) -> Bool {
    if constant.kind == .null { return true }
    guard case .text(let text) = constant, type == .date else { return constant.kind == kind }
    // A year or a month is before all of its days.
    let isBeginning = [4, 7].contains(text.utf8.count)
    return ExtraField.isDate((isBeginning ? text + "-01-01".suffix(10 - text.utf8.count) : text).utf8.span.rawSpan)
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
        field, problem: "\(field.key) is \(Self.words(kind, type(of: field))), and \(name) is for texts",
        column: columns?.field)
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

  private static func words(_ kind: DocumentKind, _ type: FieldType?) -> String {
    switch (kind, type) {
    case (.bool, _): "true or false"
    case (.number, .int): "a whole number"
    case (.number, _): "a number"
    case (_, .date): "a date"
    default: "a text"
    }
  }

  private static func mismatch(
    _ field: ProductQueryField, _ kind: DocumentKind, _ type: FieldType?, _ constant: DocumentValue
  ) -> String {
    let other =
      switch (kind, type) {
      case (.bool, _): "one of these"
      case (.number, .int): "a number such as 12, without quotes"
      case (.number, .decimal): "a number such as 2.5, without quotes"
      case (_, .date): "a text such as '2026-01-31', '2026-01' or '2026-01-31 12:00:00'"
      default: words(kind, type)
      }
    // The server writes times as texts, and so does a condition.
    var hint = constant.kind == .date && kind == .text ? "; a time is a text such as '2026-01-31 12:00:00'" : ""
    if type == .date { hint = constant == .text("") ? "; where there is no date, \(field.key) is null" : "" }
    return "\(field.key) is \(words(kind, type)); compare it with \(other), not with"
      + " \(Condition.literal(constant).shortened)\(hint)"
  }

  private static func noCondition(_ field: ProductQueryField, _ kind: DocumentKind, _ type: FieldType?) -> String {
    let example =
      switch (kind, type) {
      case (.number, _): "\(field.key) > 0"
      case (_, .date): "\(field.key) >= '2026-01-31'"
      default: "\(field.key) != ''"
      }
    return "\(field.key) is \(words(kind, type)), which alone is no condition; compare it, as in \(example)"
  }
}
