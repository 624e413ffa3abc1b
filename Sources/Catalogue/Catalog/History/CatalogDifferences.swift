import Bytes
package import LogStore

/// The differences between two commits, of which products are read on demand: two row IDs are kept for
/// each.
package struct CatalogDifferences: Sendable {
  /// The commit in which the differences begin.
  package let earlier: CatalogSnapshot
  /// The commit to which they lead.
  package let later: CatalogSnapshot
  /// The relations that differ, sorted by set, component and id in byte order.
  package let relations: [CatalogChange<Relation>]
  /// The codes that differ, sorted by product, code and id in byte order.
  package let codes: [CatalogChange<ProductCode>]
  /// The number of products that were added, removed and changed.
  package let productCounts: (added: Int, removed: Int, changed: Int)
  /// The rows of the products that differ, sorted by id in byte order.
  private let products: [ProductRows]

  init(
    _ earlier: CatalogSnapshot, _ later: CatalogSnapshot, _ products: [ProductRows],
    _ relations: [CatalogChange<Relation>], _ codes: [CatalogChange<ProductCode>]
  ) {
    self.earlier = earlier
    self.later = later
    self.products = products
    self.relations = relations
    self.codes = codes
    let added = products.count { $0.before == nil }
    let removed = products.count { $0.after == nil }
    productCounts = (added, removed, products.count - added - removed)
  }

  /// The number of products that differ.
  package var productCount: Int { products.count }

  /// Reads the change of a product.
  ///
  /// - Parameter index: The index of the product, less than ``productCount``.
  /// - Throws: `StoreError.damaged`.
  package func product(_ index: Int) throws(StoreError) -> CatalogChange<Product> {
    let rows = products[index]
    var change = CatalogChange<Product>(before: nil, after: nil)
    if let row = rows.before { change.before = try earlier.product(row) }
    if let row = rows.after { change.after = try later.product(row) }
    return change
  }
}

/// The rows of one product in two commits; `nil` where the commit does not have it. It takes 8 bytes.
struct ProductRows: Sendable {
  /// No row has this number, because a footer follows each row.
  private static let none = UInt32.max
  private var numbers = (before: Self.none, after: Self.none)

  init(before: RowID? = nil, after: RowID? = nil) {
    self.before = before
    self.after = after
  }

  var before: RowID? {
    get { Self.row(numbers.before) }
    set { numbers.before = Self.number(newValue) }
  }

  var after: RowID? {
    get { Self.row(numbers.after) }
    set { numbers.after = Self.number(newValue) }
  }

  private static func row(_ number: UInt32) -> RowID? { number == none ? nil : RowID(number: UInt64(number)) }
  private static func number(_ row: RowID?) -> UInt32 { row.map { UInt32(truncatingIfNeeded: $0.number) } ?? none }
}

extension CatalogSnapshot {
  /// Returns the differences from another commit of this catalogue to this one, like ``changes(since:)``.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: As ``changes(since:)``, with 8 bytes for each product that differs. From an empty catalogue, with an
  ///   index of the ids, a few nanoseconds for each product.
  package func differences(since other: CatalogSnapshot) throws(StoreError) -> CatalogDifferences {
    if other.sequence > sequence {
      let (products, relations, codes) = try other.differingRows(since: self)
      return CatalogDifferences(
        other, self, products.map { ProductRows(before: $0.after, after: $0.before) },
        relations.map { CatalogChange(before: $0.after, after: $0.before) },
        codes.map { CatalogChange(before: $0.after, after: $0.before) })
    }
    let (products, relations, codes) = try differingRows(since: other)
    return CatalogDifferences(other, self, products, relations, codes)
  }

  /// Returns the differences from a commit that is not later than this one.
  private func differingRows(
    since other: CatalogSnapshot
  ) throws(StoreError) -> (
    products: [ProductRows], relations: [CatalogChange<Relation>], codes: [CatalogChange<ProductCode>]
  ) {
    guard let store else { return ([], [], []) }
    guard let earlier = other.store else {
      var relations: [Relation] = []
      // Relations are found by reading the complete file.
      if relationCount > 0 { try forEachRelation { relations.append($0) } }
      var codes: [ProductCode] = []
      try forEachCode { codes.append($0) }
      return (
        try rowsByID().map { ProductRows(after: $0) },
        Self.changes(added: relations, removed: []), Self.changes(added: codes, removed: [])
      )
    }
    guard try store.descends(from: earlier) else {
      let rows = try differingRows(from: other)
      return (
        try sortedByID(rows.products, other).map(\.rows),
        Self.changes(added: rows.addedRelations, removed: rows.removedRelations),
        Self.changes(added: rows.addedCodes, removed: rows.removedCodes)
      )
    }
    let rows = try store.changes(since: earlier)
    return (
      try pairs(rows.added[CatalogSchema.products], rows.removed[CatalogSchema.products], other),
      Self.changes(
        added: try Self.relations(rows.added[CatalogSchema.relations], in: store),
        removed: try Self.relations(rows.removed[CatalogSchema.relations], in: earlier)),
      Self.changes(
        added: try Self.codes(rows.added.of(CatalogSchema.codes), in: store),
        removed: try Self.codes(rows.removed.of(CatalogSchema.codes), in: earlier))
    )
  }

  /// The rows of all products by id: in the order of the index if there is one.
  private func rowsByID() throws(StoreError) -> [RowID] {
    guard let store, let index = store.orderedIndex(CatalogSchema.products, named: CatalogIndexes.Order.id.rawValue)
    else { return try productRowsByID() }
    var rows: [RowID] = []
    rows.reserveCapacity(productCount)
    var cursor = try store.cursor(index)
    while try cursor.next() {
      // The index does not tell longer ids apart.
      if cursor.key.byteCount == OrderedKeys.maximumKeyLength { return try productRowsByID() }
      rows.append(cursor.row)
    }
    return rows
  }

  /// Pairs rows that were added and removed by the ids of their products, and leaves out those with the same content.
  private func pairs(
    _ added: [RowID], _ removed: [RowID], _ other: CatalogSnapshot
  ) throws(StoreError) -> [ProductRows] {
    let rows = removed.map { ProductRows(before: $0) } + added.map { ProductRows(after: $0) }
    // In either commit, at most one live product has a given id.
    var pairs: [RowsWithID] = []
    for one in try sortedByID(rows, other) {
      if let last = pairs.last, try order(last, one, other) == 0 {
        pairs[pairs.count - 1].rows.before = last.rows.before ?? one.rows.before
        pairs[pairs.count - 1].rows.after = last.rows.after ?? one.rows.after
      } else {
        pairs.append(one)
      }
    }
    return try Self.mapParts(of: pairs.map(\.rows)) { (pair) throws(StoreError) in
      if let before = pair.before, let after = pair.after, try hasSameContent(after, other, before) { return nil }
      return pair
    }
  }

  /// Whether a row of this commit and one of another commit have the same content.
  private func hasSameContent(
    _ row: RowID, _ other: CatalogSnapshot, _ otherRow: RowID
  ) throws(StoreError) -> Bool {
    try withProduct(row) { (view) throws(StoreError) in
      try other.withProduct(otherRow) { (otherView) throws(StoreError) in
        try view.hasSameContent(as: otherView)
      } ?? false
    } ?? false
  }

  /// The rows of products and the beginning of their id, to sort them: most ids are told apart without reading them
  /// again.
  private struct RowsWithID: Sendable {
    /// The first 16 bytes, padded with zeros.
    let head: (UInt64, UInt64)
    let byteCount: Int
    var rows: ProductRows
  }

  /// Sorts the rows of products by id in byte order.
  private func sortedByID(_ rows: [ProductRows], _ other: CatalogSnapshot) throws(StoreError) -> [RowsWithID] {
    var sorted = try Self.mapParts(of: rows) { (rows) throws(StoreError) in
      try withID(of: rows, other) { id in
        RowsWithID(head: (id.orderedWord(at: 0), id.orderedWord(at: 8)), byteCount: id.byteCount, rows: rows)
      }
    }
    var failure: StoreError?
    sorted.sort { a, b in
      do throws(StoreError) { return try order(a, b, other) < 0 } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    return sorted
  }

  /// Compares the ids of two products: negative if the first one precedes the second one, 0 if they are the same.
  private func order(_ a: RowsWithID, _ b: RowsWithID, _ other: CatalogSnapshot) throws(StoreError) -> Int {
    if a.head != b.head { return a.head < b.head ? -1 : 1 }
    // Up to the padding, the shorter one is the beginning of the longer one.
    if min(a.byteCount, b.byteCount) <= 16 { return a.byteCount - b.byteCount }
    let (x, y) = (try withID(of: a.rows, other) { $0.copied() }, try withID(of: b.rows, other) { $0.copied() })
    guard let x, let y, x != y else { return 0 }
    return x.lexicographicallyPrecedes(y) ? -1 : 1
  }

  /// Lends the id of a product that at least one of the commits has.
  private func withID<Result>(
    of rows: ProductRows, _ other: CatalogSnapshot, _ body: (RawSpan) -> Result
  ) throws(StoreError) -> Result? {
    if let row = rows.after { return try withProduct(row) { body($0.utf8.id) } }
    guard let row = rows.before else { return nil }
    return try other.withProduct(row) { body($0.utf8.id) }
  }

  /// Calls `body` with each element, by several threads. Returns the results that are not `nil`, in order.
  private static func mapParts<Element: Sendable, Found: Sendable>(
    of elements: [Element], _ body: @Sendable (Element) throws(StoreError) -> Found?
  ) throws(StoreError) -> [Found] {
    let parts = Threads.map(elements[...], atLeast: 4096) { part in
      Result { () throws(StoreError) in
        var found: [Found] = []
        for element in part {
          if let one = try body(element) { found.append(one) }
        }
        return found
      }
    }
    var found: [Found] = []
    for part in parts { found += try part.get() }
    return found
  }

  fileprivate func product(_ row: RowID) throws(StoreError) -> Product? {
    try withProduct(row) { (view) throws(StoreError) in try copy(view) }
  }
}
