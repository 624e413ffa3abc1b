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

/// The state of an aggregate while documents are added.
package struct Accumulator: Sendable {
  private enum State: Sendable {
    case count(Int)
    case sum(NumberSum)
    case average(NumberSum)
    case extreme(Extreme)
  }

  private let path: FieldPath?
  private var state: State

  /// Creates the state for no documents.
  package init(_ aggregate: Aggregate) {
    switch aggregate {
    case .count: (path, state) = (nil, .count(0))
    case .sum(let path): (self.path, state) = (path, .sum(NumberSum()))
    case .average(let path): (self.path, state) = (path, .average(NumberSum()))
    case .minimum(let path): (self.path, state) = (path, .extreme(Extreme(isMaximum: false)))
    case .maximum(let path): (self.path, state) = (path, .extreme(Extreme(isMaximum: true)))
    }
  }

  /// Adds a document.
  package mutating func add(_ document: borrowing DocumentView) throws(DocumentError) {
    guard let path else {
      if case .count(let count) = state { state = .count(count + 1) }
      return
    }
    switch state {
    case .count: break
    case .sum(var sum):
      _ = try document.bytes.walk(document.offset, path, flattensLast: true, &sum)
      state = .sum(sum)
    case .average(var sum):
      _ = try document.bytes.walk(document.offset, path, flattensLast: true, &sum)
      state = .average(sum)
    case .extreme(var extreme):
      // The only reference while it changes, so its key is not copied.
      state = .count(0)
      defer { state = .extreme(extreme) }
      _ = try document.bytes.walk(document.offset, path, flattensLast: true, &extreme)
    }
  }

  /// Adds documents that are only counted.
  package mutating func add(count: Int) {
    if case .count(let old) = state { state = .count(old + count) }
  }

  /// The value for the documents added so far.
  package var value: DocumentValue {
    switch state {
    case .count(let count): .integer(Int64(count))
    case .sum(let sum): sum.value
    case .average(let sum): sum.average.map(DocumentValue.double) ?? .null
    case .extreme(let extreme): extreme.value
    }
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

extension NumberSum: PathVisitor {
  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    if let offset { add(try bytes.item(at: offset)) }
    return false
  }
}

/// The smallest or largest value.
private struct Extreme: PathVisitor, Sendable {
  let isMaximum: Bool
  private(set) var value = DocumentValue.null
  /// The sort key of ``value``.
  private var key: [UInt8] = []
  private var candidate: [UInt8] = []

  init(isMaximum: Bool) { self.isMaximum = isMaximum }

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    guard let offset else { return false }
    switch try bytes.item(at: offset) {
    case .null, .array, .object: return false
    default: break
    }
    candidate.removeAll(keepingCapacity: true)
    try candidate.appendSortKey(bytes, offset)
    let isBetter =
      key.isEmpty
      || (isMaximum ? key.lexicographicallyPrecedes(candidate) : candidate.lexicographicallyPrecedes(key))
    if isBetter {
      swap(&key, &candidate)
      value = try DocumentView(bytes, at: offset).value()
    }
    return false
  }
}
