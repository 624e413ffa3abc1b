import Bytes

/// A condition prepared for evaluation on many documents: constants are stored as bytes, patterns are parsed.
///
/// Evaluation does not allocate, except to ignore case in a text that is not ASCII, or to search a list of more than
/// eight constants.
public struct CompiledCondition: Sendable {
  private let root: ConditionNode

  /// Compiles a condition.
  ///
  /// - Complexity: O(size of the condition and its constants).
  public init(_ condition: Condition) { root = ConditionNode(condition) }

  /// Whether the document matches the condition.
  ///
  /// - Throws: `DocumentError` if bytes that had to be read are damaged.
  /// - Complexity: For each comparison O(heads before the field on each level), up to the first comparison that
  ///   decides.
  public func matches(_ document: borrowing DocumentView) throws(DocumentError) -> Bool {
    try root.matches(document.bytes, document.offset)
  }
}

extension ConditionNode {
  fileprivate func matches(_ bytes: RawSpan, _ offset: Int) throws(DocumentError) -> Bool {
    switch self {
    case .all(let nodes):
      for node in nodes where try !node.matches(bytes, offset) { return false }
      return true
    case .any(let nodes):
      for node in nodes where try node.matches(bytes, offset) { return true }
      return false
    case .not(let node): return try !node.matches(bytes, offset)
    case .test(let path, let test):
      if let integers = test.integers {
        var visitor = IntegerVisitor(test: integers)
        let holds = try bytes.walk(offset, path, flattensLast: true, &visitor)
        if !visitor.isUndecided { return holds }
      }
      var visitor = TestVisitor(test: test)
      return try bytes.walk(offset, path, flattensLast: true, &visitor)
    case .contains(let path, let text, let element):
      var visitor = ContainsVisitor(text: text, element: element)
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
    test.holds(bytes, try bytes.itemOrNull(at: offset))
  }
}

/// Ends the walk at the first integer that passes the test, or at a value that is none.
private struct IntegerVisitor: PathVisitor {
  let test: IntegerTest
  /// Whether the walk met a value that it cannot test.
  private(set) var isUndecided = false

  init(test: IntegerTest) { self.test = test }

  @inline(__always)
  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    // A missing value is null, which no comparison with a number holds for.
    guard let offset else { return false }
    let head = try bytes.head(at: offset)
    // The other values: -1 - n, up to the most negative one.
    if head.major <= Major.negative, head.argument <= UInt64(Int64.max) {
      let value = Int64(bitPattern: head.argument)
      return test.holds(head.major == Major.unsigned ? value : ~value)
    }
    isUndecided = true
    return true
  }
}

/// Ends the walk at the first value that passes `contains`, which differs for texts and arrays.
private struct ContainsVisitor: PathVisitor {
  let text: ValueTest
  let element: ValueTest

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    guard let offset else { return false }
    let item = try bytes.item(at: offset)
    guard case .array = item else { return text.holds(bytes, item) }
    return try anyElement(bytes, offset, depth: 0)
  }

  private func anyElement(_ bytes: RawSpan, _ offset: Int, depth: Int) throws(DocumentError) -> Bool {
    guard depth <= DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: offset) }
    let item = try bytes.item(at: offset)
    guard case .array(let list) = item else { return element.holds(bytes, item) }
    var cursor = ItemCursor(bytes, list)
    while let element = try cursor.nextItem() {
      if try anyElement(bytes, element, depth: depth + 1) { return true }
    }
    return false
  }
}
