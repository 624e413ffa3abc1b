import Bytes

/// A test of one value: a comparison with a constant, membership in a list of constants, or a test of a text.
///
/// The only implementation of what the operators of a condition mean. It does not know how a value is stored:
/// documents and products pass theirs as an ``Item``.
package struct ValueTest: Sendable {
  private enum Form: Sendable {
    case order(Condition.Comparison, Scalar)
    case oneOf([Scalar])
    /// The constants by index key, if they are too many for a linear search.
    case oneOfMany([IndexKey: [Scalar]])
    case text(TextTest)
    case never
  }

  private let form: Form
  /// The same test for integers, if it compares with an integer: most conditions without an index are like that.
  let integers: IntegerTest?

  private init(_ form: Form) {
    self.form = form
    integers =
      if case .order(let comparison, .number(.integer(let constant))) = form {
        IntegerTest(comparison: comparison, constant: constant)
      } else {
        nil
      }
  }

  /// A test that compares with a constant.
  static func order(_ comparison: Condition.Comparison, _ scalar: Scalar) -> ValueTest {
    ValueTest(.order(comparison, scalar))
  }

  /// A test for equality with one of several constants.
  static func oneOf(_ values: [Scalar]) -> ValueTest {
    ValueTest(values.count <= 8 ? .oneOf(values) : .oneOfMany(Dictionary(grouping: values, by: IndexKey.init)))
  }

  /// A test that only texts can pass.
  static func text(_ test: TextTest) -> ValueTest { ValueTest(.text(test)) }

  /// A test that no value passes.
  static let never = ValueTest(.never)

  /// The comparison with numbers that the test is: the numbers in decimal, of which one has to be equal if there are
  /// several; `nil` for any other test, and for numbers that have no decimal form.
  ///
  /// A caller that has values as exact decimals compares these, where ``holds(_:_:)`` takes the nearest double.
  package var numbers: (comparison: Condition.Comparison, constants: [String])? {
    func texts(_ scalars: [Scalar]) -> [String]? {
      var texts: [String] = []
      for scalar in scalars {
        switch scalar {
        case .number(.integer(let value)): texts.append(String(value))
        case .number(.unsigned(let value)): texts.append(String(value))
        case .number(.double(let value)) where value.isFinite: texts.append(value.description)
        default: return nil
        }
      }
      return texts
    }
    switch form {
    case .order(let comparison, let scalar): return texts([scalar]).map { (comparison, $0) }
    case .oneOf(let scalars): return texts(scalars).map { (.equal, $0) }
    case .oneOfMany(let scalars): return texts(Array(scalars.values.joined())).map { (.equal, $0) }
    case .text, .never: return nil
    }
  }

  /// Whether the value passes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that contain the value, if it is a text or a byte string.
  ///   - item: The value; its range, if it has one, is in bounds.
  package func holds(_ bytes: RawSpan, _ item: Item) -> Bool {
    switch form {
    case .order(let comparison, let scalar):
      guard let order = bytes.order(item, scalar) else { return false }
      return comparison.holds(order, 0)
    case .oneOf(let scalars):
      for scalar in scalars where bytes.order(item, scalar) == 0 { return true }
      return false
    case .oneOfMany(let scalars):
      guard let key = IndexKey(bytes, item), let candidates = scalars[key] else { return false }
      for scalar in candidates where bytes.order(item, scalar) == 0 { return true }
      return false
    case .text(let test):
      guard case .text(let range) = item else { return false }
      return test.holds(bytes, range)
    case .never: return false
    }
  }
}

/// A comparison of integers with a constant. It refers to no memory, so passing it on costs nothing.
struct IntegerTest: Sendable {
  let comparison: Condition.Comparison
  let constant: Int64

  func holds(_ value: Int64) -> Bool { comparison.holds(value, constant) }
}

extension Condition.Comparison {
  /// Whether the comparison holds for two integers.
  @inline(__always)
  fileprivate func holds<Value: FixedWidthInteger>(_ a: Value, _ b: Value) -> Bool {
    switch self {
    case .equal: a == b
    case .notEqual: a != b
    case .less: a < b
    case .lessOrEqual: a <= b
    case .greater: a > b
    case .greaterOrEqual: a >= b
    }
  }
}
