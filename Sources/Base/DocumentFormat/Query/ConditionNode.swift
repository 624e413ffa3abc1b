/// A condition as a tree of tests: the step of compilation that documents and products share.
package indirect enum ConditionNode: Sendable {
  case all([ConditionNode])
  case any([ConditionNode])
  case not(ConditionNode)
  /// A test that one of the path's values has to pass.
  case test(FieldPath, ValueTest)
  /// A value of the path is a text that passes `text`, or an array with an element that passes `element`.
  case contains(FieldPath, text: ValueTest, element: ValueTest)
  case never

  /// Compiles a condition.
  ///
  /// - Complexity: O(size of the condition and its constants).
  package init(_ condition: Condition) {
    switch condition {
    case .and(let parts): self = .all(parts.map(ConditionNode.init))
    case .or(let parts): self = .any(parts.map(ConditionNode.init))
    case .not(let part): self = .not(ConditionNode(part))
    case .isNull(let path): self = .test(path, .order(.equal, .null))
    case .compare(let path, .notEqual, let value): self = .not(ConditionNode(.compare(path, .equal, value)))
    case .compare(let path, let comparison, let value):
      self = Scalar(value).map { .test(path, .order(comparison, $0)) } ?? .never
    case .isIn(let path, let values): self = .test(path, .oneOf(values.compactMap(Scalar.init)))
    case .contains(let path, let value, let ignoringCase):
      guard let element = Scalar(value) else {
        self = .never
        return
      }
      let text: ValueTest =
        if case .text(let text) = value { .text(TextTest(.contains, text, ignoringCase)) } else { .never }
      self = .contains(path, text: text, element: .order(.equal, element))
    case .like(let path, let pattern, let ignoringCase):
      self = .test(path, .text(TextTest(.like, pattern, ignoringCase)))
    case .hasPrefix(let path, let prefix, let ignoringCase):
      self = .test(path, .text(TextTest(.hasPrefix, prefix, ignoringCase)))
    }
  }
}
