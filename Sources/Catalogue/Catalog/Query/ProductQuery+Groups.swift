import Bytes
public import CatalogRows
public import DocumentFormat
import LogStore

/// A value computed over the products of a group. Their number needs none: each ``ProductGroup`` has its count.
public enum ProductAggregate: Hashable, Sendable {
  /// The sum of a number: exact for integers, compensated for doubles.
  case sum(ProductField)
  /// The least value of a field, in the order of ``ProductQuery/order(by:)-(String)``.
  case minimum(ProductField)
  /// The greatest value of a field, in the same order.
  case maximum(ProductField)
  /// The mean of a number, as a double.
  case average(ProductField)

  /// The field.
  public var field: ProductField {
    switch self {
    case .sum(let field), .minimum(let field), .maximum(let field), .average(let field): field
    }
  }

  /// Checks that the field has such a value.
  ///
  /// - Throws: `ProductQueryError.kind` for the sum or the average of a field that is not a number.
  package func check() throws(ProductQueryError) {
    switch self {
    case .minimum, .maximum: return
    case .sum, .average:
      guard field.kind == .number else {
        throw .kind(field, problem: "\(field.key) is not a number: it has no sum and no average", column: nil)
      }
    }
  }
}

/// The products of a query that are equal in some fields.
public struct ProductGroup: Sendable, Equatable {
  /// The values of these fields, in the order in which the fields were given.
  public let key: [DocumentValue]
  /// The number of products.
  public let count: Int
  /// The aggregates, in the order in which they were given.
  public let values: [DocumentValue]
}

extension ProductQuery {
  /// Groups the products that ``forEach(_:)`` lends by one or more fields, and computes aggregates over each group.
  ///
  ///     let heaviest = try snapshot.products(where: "isSaleProduct").grouped(by: [.brand], [.maximum(.weight)])
  ///
  /// - Parameters:
  ///   - fields: The fields that the products of a group have in common. Without any, all products are one group,
  ///     even if there are none.
  ///   - aggregates: The values to compute.
  /// - Returns: The groups in the order of their keys. A group of fields has at least one product.
  /// - Throws: ``ProductQueryError/kind(_:problem:column:)`` for the sum or the average of a field that is not a
  ///   number; the errors of ``forEach(_:)``.
  /// - Complexity: That of ``forEach(_:)``, and memory for each group.
  public func grouped(
    by fields: [ProductField], _ aggregates: [ProductAggregate] = []
  ) throws -> [ProductGroup] {
    for aggregate in aggregates { try aggregate.check() }
    var indexes: [[UInt8]: Int] = [:]
    var groups: [GroupState] = []
    var key: [UInt8] = []
    var scratch: [UInt8] = []
    try forEach { (view) throws(StoreError) in
      key.removeAll(keepingCapacity: true)
      for field in fields {
        try view.withItem(field, &scratch) { bytes, item in key.appendSortKey(bytes, item) }
      }
      let index: Int
      if let known = indexes[key] {
        index = known
      } else {
        index = groups.count
        indexes[key] = index
        groups.append(GroupState(try fields.values(of: view, &scratch), aggregates))
      }
      try groups[index].add(view, &scratch)
      return true
    }
    if fields.isEmpty, groups.isEmpty { return [GroupState([], aggregates).group] }
    return indexes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { groups[$0.value].group }
  }
}

extension [ProductField] {
  fileprivate func values(
    of view: borrowing ProductView, _ scratch: inout [UInt8]
  ) throws(StoreError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    for field in self { values.append(try view.value(field, &scratch)) }
    return values
  }
}

/// A group of which more products may come.
private struct GroupState {
  private let key: [DocumentValue]
  private var count = 0
  private var accumulators: [GroupAccumulator]

  init(_ key: [DocumentValue], _ aggregates: [ProductAggregate]) {
    self.key = key
    accumulators = aggregates.map { GroupAccumulator(aggregate: $0) }
  }

  mutating func add(_ view: borrowing ProductView, _ scratch: inout [UInt8]) throws(StoreError) {
    count += 1
    for index in accumulators.indices { try accumulators[index].add(view, &scratch) }
  }

  var group: ProductGroup { ProductGroup(key: key, count: count, values: accumulators.map(\.value)) }
}

/// An aggregate over the products of a group so far.
private struct GroupAccumulator {
  let aggregate: ProductAggregate
  private var sum = NumberSum()
  /// The least or greatest value, and its sort key, which is empty before the first value.
  private var extreme = DocumentValue.null
  private var extremeKey: [UInt8] = []

  init(aggregate: ProductAggregate) { self.aggregate = aggregate }

  mutating func add(_ view: borrowing ProductView, _ scratch: inout [UInt8]) throws(StoreError) {
    switch aggregate {
    case .sum(let field), .average(let field): try view.withItem(field, &scratch) { _, item in sum.add(item) }
    case .minimum(let field): try add(view, field, isDescending: false, &scratch)
    case .maximum(let field): try add(view, field, isDescending: true, &scratch)
    }
  }

  /// Keeps the first value in ascending or descending order.
  private mutating func add(
    _ view: borrowing ProductView, _ field: ProductField, isDescending: Bool, _ scratch: inout [UInt8]
  ) throws(StoreError) {
    var key: [UInt8] = []
    try view.withItem(field, &scratch) { bytes, item in
      key.appendSortKey(bytes, item, isDescending: isDescending)
    }
    guard extremeKey.isEmpty || key.lexicographicallyPrecedes(extremeKey) else { return }
    extremeKey = key
    extreme = try view.value(field, &scratch)
  }

  var value: DocumentValue {
    switch aggregate {
    case .sum: sum.value
    case .average: sum.average.map(DocumentValue.double) ?? .null
    case .minimum, .maximum: extreme
    }
  }
}
