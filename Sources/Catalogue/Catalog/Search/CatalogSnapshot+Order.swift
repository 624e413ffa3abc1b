import Bytes
import DocumentFormat
import LogStore
import TextFormat

/// A page of products in an order.
public struct ProductPage: Sendable {
  /// The products of the page, in the requested order.
  public let products: [Product]
  /// Where the next page begins; `nil` after the last one.
  public let next: ProductCursor?
}

/// A place in an order of products, after which the next page begins.
///
/// It stays valid when the catalogue changes: a product that is put or moved before it does not come again, and none
/// that is after it is left out. Only a compaction or full update that removes the product at the place makes others
/// with the same key come again.
public struct ProductCursor: Sendable, Equatable, CustomStringConvertible {
  /// The order whose place it is.
  public let order: CatalogIndexes.Order
  /// Whether the order is reversed.
  public let isDescending: Bool
  let generation: UInt64
  let row: UInt64
  let key: [UInt8]
  let id: [UInt8]

  init(
    _ order: CatalogIndexes.Order, isDescending: Bool, generation: UInt64, row: UInt64, key: [UInt8], id: [UInt8]
  ) {
    self.order = order
    self.isDescending = isDescending
    self.generation = generation
    self.row = row
    self.key = key
    self.id = id
  }

  /// Reads a cursor from the text that ``description`` gave.
  ///
  /// - Returns: `nil` for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, let (order, isDescending) = CatalogIndexes.Order.parse(parts[0]),
      let generation = UInt64(parts[1]), let row = UInt64(parts[2]), row <= UInt32.max,
      let key = Hexadecimal.bytes(of: parts[3]), key.count <= OrderedKeys.maximumKeyLength,
      let id = Hexadecimal.bytes(of: parts[4])
    else { return nil }
    self.init(order, isDescending: isDescending, generation: generation, row: row, key: key, id: id)
  }

  /// The cursor as a text of letters, digits, dots and a minus sign, for a caller to hand back.
  public var description: String {
    let place = [key, id].map { Hexadecimal.text($0, .lowercase) }.joined(separator: ".")
    return "\(isDescending ? "-" : "")\(order.rawValue).\(generation).\(row).\(place)"
  }
}

extension CatalogIndexes.Order {
  /// Reads an order and its direction, written as `brand`, `brand desc` or `-brand`.
  ///
  /// - Returns: `nil` for any other text.
  public static func parse(_ text: String) -> (order: Self, isDescending: Bool)? {
    guard let ordering = try? Ordering(parsing: text), ordering.terms.count == 1, let term = ordering.terms.first,
      term.path.names.count == 1, let order = Self(rawValue: term.path.names[0])
    else { return nil }
    return (order, term.isDescending)
  }
}

extension CatalogSnapshot {
  /// Whether this commit has the index in the order of a declared field of one's own.
  package func hasOrder(ofField name: String) -> Bool {
    let field = fields.field(name)
    return field.type != nil
      && store?.orderedIndex(CatalogSchema.products, named: ProductIndex.extra(field).name) != nil
  }

  /// The orders in which products can be read: those whose indexes this commit has.
  public var orders: Set<CatalogIndexes.Order> {
    let names = store?.orderedIndexes(of: CatalogSchema.products) ?? []
    return Set(names.compactMap(CatalogIndexes.Order.init(rawValue:)))
  }

  /// Returns a page of products in an order, without those that the server sent as deleted. Products with equal keys
  /// are in the order of the file.
  ///
  /// - Parameters:
  ///   - order: One of ``orders``.
  ///   - cursor: The ``ProductPage/next`` of the page before; `nil` for the first page.
  ///   - descending: Whether the order is reversed.
  ///   - limit: The maximum number of products; at least 1.
  /// - Throws: `SearchError.noOrder` if the catalogue does not have the order; `.otherOrder` for the cursor of another
  ///   one; `.store` if a page or record fails its check.
  /// - Complexity: One seek in the index, and one record for each product.
  public func products(
    inOrderOf order: CatalogIndexes.Order, after cursor: ProductCursor? = nil, descending: Bool = false, limit: Int
  ) throws(SearchError) -> ProductPage {
    guard let store else { return ProductPage(products: [], next: nil) }
    guard let index = store.orderedIndex(CatalogSchema.products, named: order.rawValue) else {
      throw .noOrder(order.rawValue, path: store.path)
    }
    if let cursor, cursor.order != order || cursor.isDescending != descending { throw .otherOrder(cursor) }
    do {
      let start = try cursor.map { (cursor) throws(StoreError) in
        try gap(of: cursor, in: index, descending: descending)
      }
      return try page(order, index, from: start ?? (descending ? .end : .start), descending: descending, limit: limit)
    } catch { throw .store(error) }
  }

  /// Returns the products whose barcode begins with `prefix`, by barcode.
  ///
  /// The prefix is compared as scans are: surrounding blanks and the case of letters do not matter.
  ///
  /// - Throws: As ``products(inOrderOf:after:descending:limit:)`` for the order by barcode.
  /// - Complexity: One seek in the index, and one record for each product.
  public func products(barcodePrefix prefix: String, limit: Int) throws(SearchError) -> [Product] {
    guard let store else { return [] }
    guard let index = store.orderedIndex(CatalogSchema.products, named: CatalogIndexes.Order.barcode.rawValue) else {
      throw .noOrder(CatalogIndexes.Order.barcode.rawValue, path: store.path)
    }
    let key = [SearchTerm.code] + CodeKey.of(prefix)
    do {
      return try page(.barcode, index, from: .before(key), while: key, descending: false, limit: limit).products
    } catch { throw .store(error) }
  }

  private func gap(
    of cursor: ProductCursor, in index: OrderedIndexID, descending: Bool
  ) throws(StoreError) -> OrderedGap {
    var row: RowID? = RowID(number: cursor.row)
    if cursor.generation != generation {
      // The rows of another generation have other places. The product tells where it is now, if it has the same key.
      row = try withProduct(id: cursor.id.span) { $0.rowID }
      if let candidate = row, let store {
        var place = try store.cursor(index, from: .before(cursor.key, candidate))
        if try !place.next() || place.row != candidate || !place.key.hasSameBytes(as: cursor.key.rawSpan) { row = nil }
      }
    }
    guard let row else { return descending ? .after(cursor.key) : .before(cursor.key) }
    return descending ? .before(cursor.key, row) : .after(cursor.key, row)
  }

  /// Returns a page of products, as long as their keys begin with `prefix`.
  private func page(
    _ order: CatalogIndexes.Order, _ index: OrderedIndexID, from gap: OrderedGap, while prefix: [UInt8] = [],
    descending: Bool, limit: Int
  ) throws(StoreError) -> ProductPage {
    var products: [Product] = []
    var last: ProductCursor?
    var hasMore = false
    try store?.forEachRecord(inOrderOf: index, from: gap, backward: descending) { (key, record) throws(StoreError) in
      if !key.begins(with: prefix.rawSpan) { return false }
      let view = ProductView(record)
      if view.delFlag != 0 { return true }
      if products.count >= max(1, limit) {
        hasMore = true
        return false
      }
      products.append(try copy(view))
      last = ProductCursor(
        order, isDescending: descending, generation: generation, row: view.rowID.number, key: key.copied(),
        id: view.utf8.id.copied())
      return true
    }
    return ProductPage(products: products, next: hasMore ? last : nil)
  }
}
