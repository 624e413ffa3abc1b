import Bytes

/// A condition prepared for evaluation on many documents: constants are stored as bytes, patterns are parsed.
///
/// Evaluation does not allocate, except to ignore case in a text that is not ASCII, or to search a list of more than
/// eight constants.
public struct CompiledCondition: Sendable {
  private let root: Node

  /// Compiles a condition.
  ///
  /// - Complexity: O(size of the condition and its constants).
  public init(_ condition: Condition) { root = Node(condition) }

  /// Whether the document matches the condition.
  ///
  /// - Throws: `DocumentError` if bytes that had to be read are damaged.
  /// - Complexity: For each comparison O(heads before the field on each level), up to the first comparison that
  ///   decides.
  public func matches(_ document: borrowing DocumentView) throws(DocumentError) -> Bool {
    try root.matches(document.bytes, document.offset)
  }
}

private indirect enum Node: Sendable {
  case all([Node])
  case any([Node])
  case not(Node)
  case test(FieldPath, ValueTest)
  case contains(FieldPath, ValueTest, element: Scalar)
  case never

  init(_ condition: Condition) {
    switch condition {
    case .and(let parts): self = .all(parts.map(Node.init))
    case .or(let parts): self = .any(parts.map(Node.init))
    case .not(let part): self = .not(Node(part))
    case .isNull(let path): self = .test(path, .order(.equal, .null))
    case .compare(let path, .notEqual, let value): self = .not(Node(.compare(path, .equal, value)))
    case .compare(let path, let comparison, let value):
      self = Scalar(value).map { .test(path, .order(comparison, $0)) } ?? .never
    case .isIn(let path, let values): self = .test(path, ValueTest(oneOf: values.compactMap(Scalar.init)))
    case .contains(let path, let value, let ignoringCase):
      guard let element = Scalar(value) else {
        self = .never
        return
      }
      let text: ValueTest =
        if case .text(let text) = value { .text(TextTest(.contains, text, ignoringCase)) } else { .never }
      self = .contains(path, text, element: element)
    case .like(let path, let pattern, let ignoringCase):
      self = .test(path, .text(TextTest(.like, pattern, ignoringCase)))
    case .hasPrefix(let path, let prefix, let ignoringCase):
      self = .test(path, .text(TextTest(.hasPrefix, prefix, ignoringCase)))
    }
  }

  func matches(_ bytes: RawSpan, _ offset: Int) throws(DocumentError) -> Bool {
    switch self {
    case .all(let nodes):
      for node in nodes where try !node.matches(bytes, offset) { return false }
      return true
    case .any(let nodes):
      for node in nodes where try node.matches(bytes, offset) { return true }
      return false
    case .not(let node): return try !node.matches(bytes, offset)
    case .test(let path, let test):
      var visitor = TestVisitor(test: test)
      return try bytes.walk(offset, path, flattensLast: true, &visitor)
    case .contains(let path, let test, let element):
      var visitor = ContainsVisitor(text: test, element: .order(.equal, element))
      return try bytes.walk(offset, path, flattensLast: false, &visitor)
    case .never: return false
    }
  }
}

/// Ends the walk at the first value that passes the test.
private struct TestVisitor: PathVisitor {
  let test: ValueTest

  @inline(__always)
  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    try test.holds(bytes, offset)
  }
}

/// Ends the walk at the first value that passes `contains`, which differs for texts and arrays.
private struct ContainsVisitor: PathVisitor {
  let text: ValueTest
  let element: ValueTest

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    guard let offset else { return false }
    guard case .array = try bytes.item(at: offset) else { return try text.holds(bytes, offset) }
    return try anyElement(bytes, offset, depth: 0)
  }

  private func anyElement(_ bytes: RawSpan, _ offset: Int, depth: Int) throws(DocumentError) -> Bool {
    guard depth <= DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: offset) }
    guard case .array(let list) = try bytes.item(at: offset) else { return try element.holds(bytes, offset) }
    var cursor = ItemCursor(bytes, list)
    while let element = try cursor.nextItem() {
      if try anyElement(bytes, element, depth: depth + 1) { return true }
    }
    return false
  }
}

/// A test of one value.
private enum ValueTest: Sendable {
  case order(Condition.Comparison, Scalar)
  case oneOf([Scalar])
  /// The constants by index key, if they are too many for a linear search.
  case oneOfMany([IndexKey: [Scalar]])
  case text(TextTest)
  case never

  init(oneOf values: [Scalar]) {
    self = values.count <= 8 ? .oneOf(values) : .oneOfMany(Dictionary(grouping: values, by: IndexKey.init))
  }

  func holds(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    switch self {
    case .order(let comparison, let scalar):
      guard let order = try bytes.order(at: offset, scalar) else { return false }
      return switch comparison {
      case .equal: order == 0
      case .notEqual: order != 0
      case .less: order < 0
      case .lessOrEqual: order <= 0
      case .greater: order > 0
      case .greaterOrEqual: order >= 0
      }
    case .oneOf(let scalars):
      for scalar in scalars where try bytes.order(at: offset, scalar) == 0 { return true }
      return false
    case .oneOfMany(let scalars):
      guard let key = try IndexKey(bytes, offset), let candidates = scalars[key] else { return false }
      for scalar in candidates where try bytes.order(at: offset, scalar) == 0 { return true }
      return false
    case .text(let test):
      guard let offset, case .text(let range) = try bytes.item(at: offset) else { return false }
      return test.holds(bytes, range)
    case .never: return false
    }
  }
}
