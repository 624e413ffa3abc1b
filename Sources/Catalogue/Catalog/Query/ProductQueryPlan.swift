import Bytes
import DocumentFormat
import LogStore

/// How a query finds the products that match its condition.
public enum ProductQueryPlan: Sendable, Equatable {
  /// Every product is read, in the order of the file, until the limit is reached.
  case scan
  /// So many ids, barcodes and further codes are looked up. Without any, no product can match.
  case lookups(ids: Int, barcodes: Int, codes: Int = 0)
  /// The products in a part of an ordered index are read: at most so many.
  case range(CatalogIndexes.Order, products: Int)
  /// The products in a part of the index of a field of one's own are read: at most so many.
  case extraRange(String, products: Int)
  /// Products are read in the order of a field of one's own, until the limit is reached: at most so many.
  case extraOrdered(String, products: Int, isDescending: Bool)
  /// Products are read in the order of an ordered index, which is that of the query, until the limit is reached: at
  /// most so many.
  case ordered(CatalogIndexes.Order, products: Int, isDescending: Bool)
}

extension ProductQueryPlan: CustomStringConvertible {
  /// A description for people: the indexes and the number of keys or products, or that all products are scanned.
  public var description: String {
    switch self {
    case .scan: return "scan all products"
    case .lookups(let ids, let barcodes, let codes):
      let indexes = [("id", ids), ("barcode", barcodes), ("codes.code", codes)].filter { $0.1 > 0 }
      if indexes.isEmpty { return "nothing: no product can match" }
      return indexes.map { "index on \($0.0) (\($0.1) \($0.1 == 1 ? "key" : "keys"))" }.joined(separator: " and ")
    case .range(let order, let products): return Self.range(order.rawValue, products)
    case .extraRange(let name, let products): return Self.range("extra.\(name)", products)
    case .ordered(let order, let products, let isDescending):
      return Self.ordered(order.rawValue, products, isDescending)
    case .extraOrdered(let name, let products, let isDescending):
      return Self.ordered("extra.\(name)", products, isDescending)
    }
  }

  private static func range(_ name: String, _ products: Int) -> String {
    "ordered index on \(name) (\(atMost(products)))"
  }

  private static func ordered(_ name: String, _ products: Int, _ isDescending: Bool) -> String {
    let direction = isDescending ? "backward in its order" : "in its order"
    return "ordered index on \(name) (\(atMost(products))) \(direction), up to the limit"
  }

  private static func atMost(_ products: Int) -> String {
    "at most \(products) \(products == 1 ? "product" : "products")"
  }

  /// The fields whose indexes are used.
  package var indexes: [String] {
    switch self {
    case .scan: []
    case .lookups(let ids, let barcodes, let codes):
      (ids > 0 ? ["id"] : []) + (barcodes > 0 ? ["barcode"] : []) + (codes > 0 ? ["codes.code"] : [])
    case .range(let order, _), .ordered(let order, _, _): [order.rawValue]
    case .extraRange(let name, _), .extraOrdered(let name, _, _): ["extra.\(name)"]
    }
  }
}

/// The choice of what a query reads.
///
/// Queries of documents have a planner of their own, `QueryPlanner`. Its indexes are on any paths, and their keys are
/// sort keys, so that a range of keys is often a condition by itself. Products have a few fixed indexes, most of them
/// of folded texts, so every product found is tested, and one range or one walk is chosen.
extension ProductQuery {
  /// What a query reads.
  enum Access {
    case scan
    case keys(ProductKeys)
    case range(OrderedIndexID, ProductRanges, rowCount: Int)
    /// In the order of the query. Without ranges, all products.
    case ordered(OrderedIndexID, ProductIndex, [KeyRange], rowCount: Int)
  }

  /// The share of all products above which they are scanned: rows that an index finds are apart, and cost as much as
  /// four in a scan.
  private static var scanShare: Int { 4 }

  /// Returns what the query reads: as few products as are certain to have all results.
  ///
  /// - Throws: `StoreError.damaged` if a page of an index fails its check.
  /// - Complexity: Two seeks for each range of keys.
  func access() throws(StoreError) -> Access {
    guard let store = snapshot.store else { return .scan }
    if let keys = condition.keys { return .keys(keys) }
    var best: (index: OrderedIndexID, ranges: ProductRanges, rowCount: Int)?
    for ranges in condition.ranges {
      guard let (index, count) = try rowCount(ranges.index, ranges.ranges, store), count < best?.rowCount ?? .max else {
        continue
      }
      best = (index, ranges, count)
    }
    if let maximum, let term = order.first, let inOrder = term.field.exactOrder {
      let ranges = condition.ranges.first { $0.index == inOrder }?.ranges ?? [.all]
      if let (index, count) = try rowCount(inOrder, ranges, store) {
        // If a range has c of n products, a walk meets one of them after n / c, and needs as many as are wanted.
        let walked = Double(skipped) + Double(maximum)
        let isBetter = best.map { Double($0.rowCount) * Double($0.rowCount) > walked * Double(snapshot.productCount) }
        if isBetter ?? true || best?.ranges.index == inOrder {
          return .ordered(index, inOrder, ranges, rowCount: count)
        }
      }
    }
    if let best, best.rowCount <= snapshot.productCount / Self.scanShare {
      return .range(best.index, best.ranges, rowCount: best.rowCount)
    }
    return .scan
  }

  /// Returns the index of an order and about how many rows it has in some ranges; `nil` if there is no such index.
  private func rowCount(
    _ order: ProductIndex, _ ranges: [KeyRange], _ store: Snapshot
  ) throws(StoreError) -> (OrderedIndexID, Int)? {
    guard let index = store.orderedIndex(CatalogSchema.products, named: order.name) else { return nil }
    var count = 0
    for range in ranges { count += try store.rowCount(inOrderOf: index, from: range.start, to: range.end).count }
    return (index, count)
  }

  /// The query plan: the indexes that are used, or a scan.
  ///
  /// - Throws: `StoreError.damaged` if a page of an index fails its check.
  public var plan: ProductQueryPlan {
    get throws(StoreError) {
      switch try access() {
      case .scan: .scan
      case .keys(let keys): .lookups(ids: keys.ids.count, barcodes: keys.barcodes.count, codes: keys.codes.count)
      case .range(_, let ranges, let count):
        switch ranges.index {
        case .order(let order): .range(order, products: count)
        default: .extraRange(ranges.index.fieldName, products: count)
        }
      case .ordered(_, let index, _, let count):
        switch index {
        case .order(let order): .ordered(order, products: count, isDescending: isBackward)
        default: .extraOrdered(index.fieldName, products: count, isDescending: isBackward)
        }
      }
    }
  }

  private var isBackward: Bool { order.first?.isDescending ?? false }
}

extension ProductIndex {
  /// The name of the field of one's own in whose order the index is.
  fileprivate var fieldName: String {
    guard case .extra(let field) = self else { return name }
    return field.name
  }
}
