/// What to compute for the documents of a group.
///
/// A path that passes an array stands for each of its elements, as in conditions. Null, a missing field and a value of
/// another kind are ignored, so a sum of no numbers is 0, and the other aggregates of no values are null.
public enum Aggregate: Sendable, Hashable {
  /// The number of documents.
  case count
  /// The sum of the numbers. It is an integer if all of them are and it fits 64 bits, otherwise a double.
  case sum(FieldPath)
  /// The smallest value in the order of ``Ordering``.
  case minimum(FieldPath)
  /// The largest value in the order of ``Ordering``.
  case maximum(FieldPath)
  /// The arithmetic mean of the numbers, a double.
  case average(FieldPath)
}

extension Aggregate: CustomStringConvertible {
  /// The name as in SQL: `count`, `sum(age)`, `min(age)`, `max(age)`, `avg(age)`.
  public var description: String {
    switch self {
    case .count: "count"
    case .sum(let path): "sum(\(path))"
    case .minimum(let path): "min(\(path))"
    case .maximum(let path): "max(\(path))"
    case .average(let path): "avg(\(path))"
    }
  }
}

/// The state of an aggregate while rows are added: documents, or rows of other formats.
package enum Accumulator: Sendable {
  /// The group counts its rows itself.
  case count
  case sum(NumberSum)
  case average(NumberSum)
  case extreme(Extreme)

  /// The state of the smallest value of no rows.
  package static let minimum = Accumulator.extreme(Extreme(isMaximum: false))
  /// The state of the largest value of no rows.
  package static let maximum = Accumulator.extreme(Extreme(isMaximum: true))

  /// Creates the state for no documents.
  init(_ aggregate: Aggregate) {
    switch aggregate {
    case .count: self = .count
    case .sum: self = .sum(NumberSum())
    case .average: self = .average(NumberSum())
    case .minimum: self = .minimum
    case .maximum: self = .maximum
    }
  }

  /// Adds the value of a row. A count ignores it.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that contain the value, if it is a text or a byte string.
  ///   - item: The value; its range, if it has one, is in bounds.
  /// - Returns: Whether the value is the smallest or largest so far, so that the caller has to pass it to
  ///   ``setExtreme(_:)``.
  package mutating func add(_ bytes: RawSpan, _ item: Item) -> Bool {
    switch self {
    case .count: return false
    case .sum(var sum):
      sum.add(item)
      self = .sum(sum)
      return false
    case .average(var sum):
      sum.add(item)
      self = .average(sum)
      return false
    case .extreme(var extreme):
      // The only reference while it changes, so its key is not copied.
      self = .count
      defer { self = .extreme(extreme) }
      return extreme.add(bytes, item)
    }
  }

  /// Sets the smallest or largest value.
  package mutating func setExtreme(_ value: DocumentValue) {
    guard case .extreme(var extreme) = self else { return }
    self = .count
    extreme.value = value
    self = .extreme(extreme)
  }

  /// The value for the rows added so far.
  ///
  /// - Parameter count: The number of the rows.
  func value(of count: Int) -> DocumentValue {
    switch self {
    case .count: .integer(Int64(count))
    case .sum(let sum): sum.value
    case .average(let sum): sum.average.map(DocumentValue.double) ?? .null
    case .extreme(let extreme): extreme.value
    }
  }
}

extension Accumulator: PathVisitor {
  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    if let offset, add(bytes, try bytes.item(at: offset)) {
      setExtreme(try DocumentView(bytes, at: offset).value())
    }
    return false
  }
}

/// A sum of numbers: integers exactly, doubles with the error of each addition carried along (Neumaier).
package struct NumberSum: Sendable {
  /// 64-bit integers cannot overflow it.
  private var integers: Int128 = 0
  private var doubles = 0.0
  private var compensation = 0.0
  private var hasDoubles = false
  private var count = 0

  /// The sum of no numbers.
  package init() {}

  /// Adds a number; ignores any other value.
  package mutating func add(_ item: Item) {
    switch item {
    case .integer(let value): integers += Int128(value)
    case .unsigned(let value): integers += Int128(value)
    case .double(let value): add(value)
    default: return
    }
    count += 1
  }

  private mutating func add(_ value: Double) {
    hasDoubles = true
    let sum = doubles + value
    if sum.isFinite {
      compensation += abs(doubles) >= abs(value) ? (doubles - sum) + value : (value - sum) + doubles
    }
    doubles = sum
  }

  private var double: Double {
    let sum = doubles + Double(integers)
    return sum.isFinite ? sum + compensation : sum
  }

  /// The sum: an integer if all numbers are and it fits 64 bits, otherwise a double.
  package var value: DocumentValue {
    if hasDoubles { return .double(double) }
    if let value = Int64(exactly: integers) { return .integer(value) }
    if let value = UInt64(exactly: integers) { return .unsigned(value) }
    return .double(double)
  }

  /// The arithmetic mean; `nil` of no numbers.
  package var average: Double? { count == 0 ? nil : double / Double(count) }
}

/// The smallest or largest value.
package struct Extreme: Sendable {
  fileprivate let isMaximum: Bool
  fileprivate var value = DocumentValue.null
  /// The sort key of ``value``; empty without one.
  private var key: [UInt8] = []
  private var candidate: [UInt8] = []

  fileprivate init(isMaximum: Bool) { self.isMaximum = isMaximum }

  /// Returns whether an item is the new extreme, and keeps its key then.
  fileprivate mutating func add(_ bytes: RawSpan, _ item: Item) -> Bool {
    switch item {
    case .null, .array, .object: return false
    default: break
    }
    candidate.removeAll(keepingCapacity: true)
    candidate.appendSortKey(bytes, item)
    let isBetter =
      key.isEmpty
      || (isMaximum ? key.lexicographicallyPrecedes(candidate) : candidate.lexicographicallyPrecedes(key))
    if isBetter { swap(&key, &candidate) }
    return isBetter
  }
}
