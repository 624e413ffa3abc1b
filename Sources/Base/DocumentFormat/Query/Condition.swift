/// A condition on documents that compares fields, named by path, with constants.
///
/// A condition on a path holds if **any** value of the path matches it: an array, on the path or at its end, is
/// examined element by element, a missing field counts as null, and an empty array has no values. Values of different
/// kinds are never equal and not ordered, so `age < 3` does not hold for a text. `!=` is the negation of `==`, so
/// `age != 1` holds for a missing age. Numbers, integers or doubles, are compared exactly by value. NaN equals itself
/// and is less than all other numbers, false is less than true, and texts and byte strings are compared bytewise (texts
/// in UTF-8). Arrays and objects as constants equal nothing.
public indirect enum Condition: Sendable, Equatable {
  /// A comparison with a constant. With null, `==`, `<=` and `>=` test for null.
  case compare(FieldPath, Comparison, DocumentValue)
  /// The value equals one of the constants.
  case isIn(FieldPath, [DocumentValue])
  /// The text contains this text; or, if the path ends with an array, an element equals the constant (including its
  /// case).
  case contains(FieldPath, DocumentValue, ignoringCase: Bool)
  /// The text matches a pattern: `%` matches any characters, `_` matches one (a Unicode scalar), and a backslash
  /// escapes the next character.
  case like(FieldPath, String, ignoringCase: Bool)
  /// The text begins with a prefix.
  case hasPrefix(FieldPath, String, ignoringCase: Bool)
  /// The field is null or missing.
  case isNull(FieldPath)
  /// All of the conditions hold; true for an empty list.
  case and([Condition])
  /// At least one of the conditions holds; false for an empty list.
  case or([Condition])
  case not(Condition)

  /// A comparison operator.
  public enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// A condition that holds for every document.
  public static let always = Condition.and([])

  /// The conjunction of both. Conjunctions are flattened into one list.
  public static func && (a: Condition, b: Condition) -> Condition {
    var all: [Condition] = []
    for condition in [a, b] {
      if case .and(let parts) = condition { all += parts } else { all.append(condition) }
    }
    return .and(all)
  }

  /// The disjunction of both. Disjunctions are flattened into one list.
  public static func || (a: Condition, b: Condition) -> Condition {
    var all: [Condition] = []
    for condition in [a, b] {
      if case .or(let parts) = condition { all += parts } else { all.append(condition) }
    }
    return .or(all)
  }

  /// Returns a condition that holds if and only if `condition` does not.
  public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}

extension Condition {
  /// Whether the document matches the condition. To test many documents, create a ``CompiledCondition`` once.
  ///
  /// - Throws: `DocumentError` if bytes that had to be read are damaged.
  public func matches(_ document: borrowing DocumentView) throws(DocumentError) -> Bool {
    try CompiledCondition(self).matches(document)
  }
}
