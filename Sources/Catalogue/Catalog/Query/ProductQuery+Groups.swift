import Bytes
public import DocumentFormat
import LogStore

/// A value computed over the products of a group. Their number needs none: each ``ProductGroup`` has its count.
public enum ProductAggregate: Hashable, Sendable {
  /// The sum of a number: exact for integers, compensated for doubles and decimals.
  case sum(ProductQueryField)
  /// The least value of a field, in the order of ``ProductQuery/order(by:)-(String)``.
  case minimum(ProductQueryField)
  /// The greatest value of a field, in the same order.
  case maximum(ProductQueryField)
  /// The mean of a number, as a double.
  case average(ProductQueryField)

  /// The field.
  public var field: ProductQueryField {
    switch self {
    case .sum(let field), .minimum(let field), .maximum(let field), .average(let field): field
    }
  }

  /// Checks that the field has such a value.
  ///
  /// - Parameter declared: The declared fields of one's own.
  /// - Throws: `ProductQueryError.kind` for the sum or the average of a field that is not a number, and for a field of
  ///   which a product may have several values.
  package func check(_ declared: DeclaredFields) throws(ProductQueryError) {
    try field.checkIsSingle()
    switch self {
    case .minimum, .maximum: return
    case .sum, .average:
      guard field.kind(declared) ?? .number == .number else {
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
  ///   number, and for the codes of products and their fields; the errors of ``forEach(_:)``.
  /// - Complexity: That of ``forEach(_:)``, and memory for each group.
  public func grouped(
    by fields: [ProductQueryField], _ aggregates: [ProductAggregate] = []
  ) throws -> [ProductGroup] {
    for field in fields { try field.checkIsSingle() }
    for aggregate in aggregates { try aggregate.check(snapshot.fields) }
    let fields = fields.map { $0.resolved(snapshot.fields) }
    let aggregated = aggregates.map { $0.field.resolved(snapshot.fields) }
    var table = GroupTable(aggregates.map(\.accumulator), isGrouped: !fields.isEmpty)
    var key: [UInt8] = []
    var scratch: [UInt8] = []
    try forEach { (view) throws(StoreError) in
      key.removeAll(keepingCapacity: true)
      for field in fields {
        try field.appendSortKey(of: view, in: snapshot, to: &key, &scratch)
      }
      let position: Int
      if let found = table.position(of: key) {
        position = found
      } else {
        position = table.insert(try fields.values(of: view, in: snapshot, &scratch), key: key)
      }
      table.groups[position].count += 1
      for (index, field) in aggregated.enumerated() {
        let isExtreme = try field.withItem(of: view, in: snapshot, &scratch) { bytes, item in
          table.groups[position].accumulators[index].add(bytes, item)
        }
        guard isExtreme else { continue }
        table.groups[position].accumulators[index].setExtreme(try field.value(of: view, in: snapshot, &scratch))
      }
      return true
    }
    return table.sorted().map { ProductGroup(key: $0.values, count: $0.count, values: $0.results) }
  }
}

extension ProductAggregate {
  /// The accumulator of no products.
  fileprivate var accumulator: Accumulator {
    switch self {
    case .sum: .sum(NumberSum())
    case .average: .average(NumberSum())
    case .minimum: .minimum
    case .maximum: .maximum
    }
  }
}

extension [ResolvedField] {
  fileprivate func values(
    of view: borrowing ProductView, in snapshot: CatalogSnapshot, _ scratch: inout [UInt8]
  ) throws(StoreError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    for field in self { values.append(try field.value(of: view, in: snapshot, &scratch)) }
    return values
  }
}
