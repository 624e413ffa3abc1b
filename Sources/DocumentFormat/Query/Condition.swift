/// What a document has to meet, over fields by path and constants.
///
/// A condition over a path holds if **any** value that the path leads to meets it: arrays, on the way or at the end,
/// are looked at element by element, a missing field counts as null, and an empty array has no value. Values of
/// different kinds are never equal and in no order, so `age < 3` does not hold for a text; `!=` is the negation of
/// `==`, so `age != 1` holds for a missing age. Numbers are compared by value, exactly, whether they are integers or
/// doubles; NaN equals itself and is below all others, false is below true, and texts and byte strings are compared by
/// their bytes (of UTF-8). Arrays and objects as constants equal nothing.
public indirect enum Condition: Sendable, Equatable {
  /// A comparison with a constant; with null, `==`, `<=` and `>=` ask for null.
  case compare(FieldPath, Comparison, DocumentValue)
  /// Equal to one of the constants.
  case isIn(FieldPath, [DocumentValue])
  /// A text with this text inside; or, where the path ends with an array, an element that equals the constant (in its
  /// case).
  case contains(FieldPath, DocumentValue, ignoringCase: Bool)
  /// A text of this pattern: `%` stands for any characters, `_` for one (a Unicode scalar), and a backslash takes the
  /// character behind it as it is.
  case like(FieldPath, String, ignoringCase: Bool)
  /// A text that begins so.
  case hasPrefix(FieldPath, String, ignoringCase: Bool)
  /// Null, or missing.
  case isNull(FieldPath)
  /// All of these; holds if there are none.
  case and([Condition])
  /// One of these at least; does not hold if there are none.
  case or([Condition])
  case not(Condition)

  /// How a value is compared with a constant.
  public enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// Holds for every document.
  public static let always = Condition.and([])

  /// Both conditions, in one list if one of them is a conjunction already.
  public static func && (a: Condition, b: Condition) -> Condition {
    var all: [Condition] = []
    for condition in [a, b] {
      if case .and(let parts) = condition { all += parts } else { all.append(condition) }
    }
    return .and(all)
  }

  /// One of both, in one list if one of them is a disjunction already.
  public static func || (a: Condition, b: Condition) -> Condition {
    var all: [Condition] = []
    for condition in [a, b] {
      if case .or(let parts) = condition { all += parts } else { all.append(condition) }
    }
    return .or(all)
  }

  public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}

extension Condition {
  /// Whether the document meets the condition. Who asks for many documents makes a ``CompiledCondition`` once.
  ///
  /// - Throws: If the bytes that had to be read are damaged.
  public func matches(_ document: borrowing DocumentView) throws(DocumentError) -> Bool {
    try CompiledCondition(self).matches(document)
  }
}
