import Bytes
import CatalogRows
public import DocumentFormat
public import LogStore

/// A query: a condition, an order, an offset and a limit for the products of a snapshot.
///
///     let query = try snapshot.products(where: "weight > 10 && isSaleProduct").order(by: "name").limit(50)
///     for product in try query.fetch() { print(product.id, product.name) }
///
/// The condition is in the language of `Condition`; its fields are the 25 fields of a ``Product``, under the names
/// that the server gives them. A product has every field, so none is null: compare with `''` or 0 instead. Conditions
/// that can never hold, because no product has the field or because the kinds differ, are errors.
///
/// `extra.NAME` is a field of one's own. If it is declared (see ``CatalogSnapshot/declaring(_:)``), its values are of the
/// declared type; otherwise they are what they are in JSON. A product may lack it: then it is null.
///
/// `codeCount` is the number of a product's codes in the table of codes, and `codes.code`, `codes.quantity`, `codes.unit`,
/// `codes.kind` and `codes.id` are their fields: a comparison holds if it holds for one of the codes.
///
/// Products that the server sent as deleted are included; `delFlag == 0` leaves them out.
///
/// Without ``order(by:)-(String)`` products come in the order of the file. It is the same for every query of one
/// snapshot, and reading stops at the limit. Commits and compactions may change it; order by `id` where that matters.
///
/// Building a query is cheap; it reads nothing. A product is not decoded to test the condition: the fields that the
/// condition names are read in the mapped file.
public struct ProductQuery: Sendable {
  /// The snapshot to read.
  public let snapshot: CatalogSnapshot
  let condition: ProductCondition
  private(set) var order: [Term] = []
  private(set) var skipped = 0
  private(set) var maximum: Int?

  struct Term {
    var field: ResolvedField
    var isDescending: Bool
  }

  init(_ snapshot: CatalogSnapshot, _ condition: ProductCondition) {
    self.snapshot = snapshot
    self.condition = condition
  }

  /// Adds sort keys, written as `name`, `weight desc` or `-weight`, with commas between them. Later sort keys decide
  /// between products for which the earlier ones are equal; products that are equal in all of them keep the order of
  /// the file.
  ///
  /// Numbers are ordered by value with NaN first, texts by their UTF-8 bytes, and false comes before true. Products
  /// without a field of one's own come before those that have it.
  ///
  /// - Throws: ``ProductQueryError``, with the column.
  public func order(by text: String) throws(ProductQueryError) -> ProductQuery {
    let ordering: Ordering
    let columns: [Int]
    do { (ordering, columns) = try Ordering.parse(text) } catch { throw .syntax(error) }
    return try order(by: ordering, columns)
  }

  /// Adds sort keys, as ``order(by:)-(String)`` does.
  ///
  /// - Throws: ``ProductQueryError/unknownField(_:column:)``, ``ProductQueryError/otherField(_:suggestion:column:)``.
  public func order(by ordering: Ordering) throws(ProductQueryError) -> ProductQuery { try order(by: ordering, []) }

  private func order(by ordering: Ordering, _ columns: [Int]) throws(ProductQueryError) -> ProductQuery {
    var query = self
    for (index, term) in ordering.terms.enumerated() {
      let column = columns.isEmpty ? nil : columns[index]
      let field = try ProductQueryField(term.path, declared: snapshot.fields, column: column)
      try field.checkIsSingle(column: column)
      query.order.append(Term(field: field.resolved(snapshot.fields), isDescending: term.isDescending))
    }
    return query
  }

  /// Returns whether a product meets the condition.
  func matches(_ view: borrowing ProductView, _ scratch: inout [UInt8]) throws(StoreError) -> Bool {
    try condition.matches(view, in: snapshot, &scratch)
  }

  /// Limits the results to `count` products.
  ///
  /// - Precondition: `count` is not negative.
  public func limit(_ count: Int) -> ProductQuery {
    precondition(count >= 0, "a limit is not negative")
    var query = self
    query.maximum = count
    return query
  }

  /// Skips the first `count` products.
  ///
  /// - Precondition: `count` is not negative.
  public func offset(_ count: Int) -> ProductQuery {
    precondition(count >= 0, "an offset is not negative")
    var query = self
    query.skipped = count
    return query
  }

  // MARK: Results

  /// Lends each matching product, until `body` returns `false`.
  ///
  /// - Throws: `StoreError.damaged` if a block or record that was read does not pass its check; any error that `body`
  ///   throws.
  /// - Complexity: A lookup for each key, or one record for each product in a part of an ordered index, if the
  ///   condition has such (see ``plan``). With a limit and an order by `id` or `updateTime`, whose indexes most
  ///   catalogues have, products are read in that order up to the limit. Otherwise a scan of all products, which
  ///   without an order stops at the limit. An order without an index keeps one sort key in memory for each match, or
  ///   for twice as many products as offset and limit allow, and reads each result once more.
  public func forEach(
    _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var read = 0
    try forEach(countingInto: &read, body)
  }

  /// The matching products as values, with all 25 fields.
  ///
  /// - Throws: The errors of ``forEach(_:)``; `StoreError.damaged` if a product breaks a rule of the format.
  /// - Complexity: As ``forEach(_:)``, and a copy of each result.
  public func fetch() throws(StoreError) -> [Product] {
    var products: [Product] = []
    try forEach { (view) throws(StoreError) in
      products.append(try snapshot.copy(view))
      return true
    }
    return products
  }

  /// The first matching product; `nil` if no product matches.
  ///
  /// - Throws: The errors of ``fetch()``.
  public func first() throws(StoreError) -> Product? { try limit(min(maximum ?? 1, 1)).fetch().first }

  /// The number of matching products, after ``offset(_:)`` and ``limit(_:)``.
  ///
  /// - Throws: The errors of ``forEach(_:)``.
  /// - Complexity: As ``forEach(_:)`` without an order; O(1) if the condition is `true`.
  public func count() throws(StoreError) -> Int {
    if condition.isAlwaysTrue { return min(max(0, snapshot.productCount - skipped), maximum ?? .max) }
    var unordered = self
    unordered.order = []
    var count = 0
    try unordered.forEach { _ in
      count += 1
      return true
    }
    return count
  }

  /// Lends each matching product, as ``forEach(_:)``.
  ///
  /// - Parameters:
  ///   - read: The number of products that were tested is added to it.
  ///   - body: A closure that returns whether to continue.
  package func forEach(
    countingInto read: inout Int, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if maximum == 0 { return }
    guard order.isEmpty else {
      for row in try sortedRows(&read) {
        if try snapshot.withProduct(row, body) == false { return }
      }
      return
    }
    var left = skipped
    var remaining = maximum ?? .max
    try forEachMatch(try access(), &read) { (view) throws(StoreError) in
      if left > 0 {
        left -= 1
        return true
      }
      remaining -= 1
      return try body(view) && remaining > 0
    }
  }

  /// The rows of the matching products in the requested order, after offset and limit.
  private func sortedRows(_ read: inout Int) throws(StoreError) -> [RowID] {
    let (sum, isTooLarge) = skipped.addingReportingOverflow(maximum ?? .max)
    let wanted = isTooLarge ? .max : sum
    let access = try access()
    if case .ordered(let index, _, let ranges, _) = access {
      return Array(try walkedRows(index, ranges, wanted: wanted, &read).dropFirst(skipped))
    }
    var sorter = RowKeySorter(wanted: wanted)
    var scratch: [UInt8] = []
    try forEachMatch(access, &read) { (view) throws(StoreError) in
      let start = sorter.keys.count
      try appendSortKey(of: view, to: &sorter.keys, &scratch)
      sorter.add(view.rowID, keyAt: start)
      return true
    }
    return Array(sorter.rows().dropFirst(skipped))
  }

  private func appendSortKey(
    of view: borrowing ProductView, to keys: inout [UInt8], _ scratch: inout [UInt8]
  ) throws(StoreError) {
    for term in order {
      try term.field.appendSortKey(of: view, in: snapshot, to: &keys, &scratch, isDescending: term.isDescending)
    }
  }

  /// The first rows in the order of an index that match.
  private func walkedRows(
    _ index: OrderedIndexID, _ ranges: [KeyRange], wanted: Int, _ read: inout Int
  ) throws(StoreError) -> [RowID] {
    guard let store = snapshot.store, let first = order.first else { return [] }
    var walk = try OrderedWalk(
      store, index, ranges, isBackward: first.isDescending, sortsTies: order.count > 1, wanted: wanted)
    var scratch: [UInt8] = []
    var key: [UInt8] = []
    while try walk.next() {
      let scope = ScratchScope(store)
      defer { scope.end() }
      walk.prefetchRecords()
      read += 1
      if !condition.isAlwaysTrue,
        try !condition.matches(try view(of: walk.row, store), in: snapshot, &scratch)
      {
        continue
      }
      if walk.needsSortKey {
        key.removeAll(keepingCapacity: true)
        try appendSortKey(of: try view(of: walk.row, store), to: &key, &scratch)
        walk.addRow(sortKey: key)
      } else {
        walk.addRow()
      }
    }
    return walk.rows
  }

  /// The product of a row that an index of the snapshot has.
  @_lifetime(borrow store)
  private func view(of row: RowID, _ store: borrowing Snapshot) throws(StoreError) -> ProductView {
    guard let record = try store.record(row, table: CatalogSchema.products) else {
      preconditionFailure("a row of a snapshot stays what it was")
    }
    return ProductView(record)
  }

  /// Lends each matching product in the order of the file, until `body` returns `false`.
  private func forEachMatch(
    _ access: Access, _ read: inout Int, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard let store = snapshot.store else { return }
    let (condition, snapshot) = (condition, snapshot)
    var scratch: [UInt8] = []
    var count = 0
    defer { read += count }
    let rows: [RowID]
    switch access {
    case .scan, .ordered:
      return try store.forEachRecord(of: CatalogSchema.products) { (record) throws(StoreError) in
        count += 1
        let view = ProductView(record)
        return try condition.matches(view, in: snapshot, &scratch) ? try body(view) : true
      }
    case .keys(let keys): rows = try self.rows(keys, store)
    case .range(let index, let ranges, _): rows = try self.rows(ranges, index, store)
    }
    for (position, row) in rows.enumerated() {
      if position + 8 < rows.count { store.prefetch(rows[position + 8]) }
      count += 1
      let scope = ScratchScope(store)
      defer { scope.end() }
      let view = try view(of: row, store)
      if try condition.matches(view, in: snapshot, &scratch), try !body(view) { return }
    }
  }

  /// The rows in some ranges of an index, in the order of the file.
  private func rows(
    _ ranges: ProductRanges, _ index: OrderedIndexID, _ store: Snapshot
  ) throws(StoreError) -> [RowID] {
    var rows: [RowID] = []
    for range in ranges.ranges { try store.appendRows(inOrderOf: index, from: range.start, to: range.end, to: &rows) }
    rows.sortByPlace()
    return rows
  }

  /// The rows that have one of the keys, each once, in the order of the file.
  private func rows(_ keys: ProductKeys, _ store: Snapshot) throws(StoreError) -> [RowID] {
    var rows: Set<RowID> = []
    for id in keys.ids {
      let scope = ScratchScope(store)
      defer { scope.end() }
      if let view = try store.product(id: id.rawSpan) { rows.insert(view.rowID) }
    }
    for barcode in keys.barcodes {
      try store.forEachProduct(barcode: barcode.rawSpan) { (view) throws(StoreError) in
        rows.insert(view.rowID)
        return true
      }
    }
    for code in keys.codes where snapshot.hasCodeTable {
      let key = DigitKey.of(CodeKey.of(code.rawSpan).rawSpan)
      if key.isEmpty { continue }
      try store.forEachRecord(CatalogSchema.codesByCode, key.rawSpan) { (record) throws(StoreError) in
        if let view = try store.product(id: CodeView(copy record).productId) { rows.insert(view.rowID) }
        return true
      }
    }
    return rows.sorted()
  }
}

extension CatalogSnapshot {
  /// Creates a query for the products that match a condition.
  ///
  ///     let soldLamps = try snapshot.products(where: "isSaleProduct && name like '%lamp%' nocase").count()
  ///
  /// - Parameter text: A condition in the syntax of `Condition.init(parsing:)`. The condition `true` holds for every
  ///   product.
  /// - Throws: ``ProductQueryError``, with the column.
  public func products(where text: String) throws(ProductQueryError) -> ProductQuery {
    let condition: Condition
    let columns: [ComparisonColumns]
    do { (condition, columns) = try Condition.parse(text) } catch { throw .syntax(error) }
    return ProductQuery(self, try ProductCondition(condition, columns: columns, declared: fields))
  }

  /// Creates a query for the products that match a condition.
  ///
  /// - Throws: ``ProductQueryError/unknownField(_:column:)``, ``ProductQueryError/kind(_:problem:column:)``.
  public func products(where condition: Condition) throws(ProductQueryError) -> ProductQuery {
    ProductQuery(self, try ProductCondition(condition, declared: fields))
  }
}
