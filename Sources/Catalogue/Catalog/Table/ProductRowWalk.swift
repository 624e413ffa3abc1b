import Bytes
import CatalogRows
import DocumentFormat
package import LogStore
import SearchText

/// The order of a table of products.
package struct ProductTableOrder: Sendable, Hashable {
  /// The field, of which a product has one value. One that has an index is compared as the index compares it, any other
  /// by its value.
  package var field: ProductQueryField
  /// Whether the order is reversed.
  package var isDescending: Bool
  /// Whether Han characters in words are compared by their pinyin; see ``PinyinOrder``. Without it they are compared by
  /// their code points. Other fields than those with words are compared as without it.
  package var isPinyin: Bool

  /// Creates an order.
  package init(_ field: ProductQueryField, isDescending: Bool = false, isPinyin: Bool = false) {
    self.field = field
    self.isDescending = isDescending
    self.isPinyin = isPinyin && field.plain.map(Self.words.contains) == true
  }

  /// The fields with words of a language, which are compared folded: letters without marks and case.
  fileprivate static let words: Set<ProductField> = [.name, .brand, .category, .unit, .createBy, .updateBy]
}

/// Finds the rows of a table of products step by step, in order, so that the first ones are known before the others.
///
/// An ordered index is walked without reading records, unless the filter asks for them. If it does, the first rows are
/// found that way; for the rest, all records are tested in the order of the file, which no order of ids slows down, by
/// several threads. Then their number is known, and the walk goes on among those that passed, unless they are few:
/// these, and rows in the order of a field without an index, are sorted.
///
/// A query uses `OrderedWalk` instead, which finds all its rows in one call. This walk does a limited amount of work in
/// each step and goes on from there, and it sorts no ties, because a table has the order of the index.
package struct ProductRowWalk: Sendable {
  /// The maximum number of rows that are sorted; more need an index, except by id.
  package static let sortLimit = 100_000
  /// The maximum number of rows that are sorted by pinyin. More come in the order of the index: they would need a second
  /// or more before the first page.
  package static let pinyinLimit = 500_000
  /// The maximum number of rows that are sorted though the order has an index. With more, a walk of the index finds the
  /// first page sooner.
  private static let fewCount = 20_000
  /// The number of products in a part of a scan: some hundred microseconds. As many parts as threads take are one step.
  fileprivate static let partSize = 8192

  private let snapshot: CatalogSnapshot
  private var order: ProductTableOrder
  private var test: ProductFilterTest
  private var source: Source
  /// The rows of which others cannot pass; `nil` if they are not known.
  private var members: RowBits?
  /// The number of records that a walk reads before the others are tested in the order of the file.
  private let walkLimit: Int
  /// The maximum number of rows that may be sorted.
  private var limit: Int
  private var walkedCount = 0
  /// The number of rows that were appended.
  private var foundCount = 0
  /// The number of all rows that pass, as soon as it is known: often before all of them are in order.
  package private(set) var count: Int?

  private enum Source: Sendable {
    case index(OrderedIndexID, OrderedGap)
    /// The rows that pass are collected from parts of the file, before the walk goes on at the gap.
    case scan(ArraySlice<ScanPart>, passed: RowBits, passedCount: Int, OrderedIndexID, OrderedGap)
    case rows([RowID], ArraySlice<RowID>.Index)
    /// Rows that pass are collected from candidates, or from parts of the file, and sorted then.
    case candidates(ArraySlice<RowID>, passed: [RowID])
    case parts(ArraySlice<ScanPart>, passed: [RowID])
    case end
  }

  /// - Parameters:
  ///   - snapshot: The commit to read.
  ///   - filter: What the products have to pass.
  ///   - order: The order of the rows.
  ///   - walkLimit: The number of records that a walk reads before the others are tested in the order of the file.
  /// - Throws: `SearchError.noOrder` if there are more rows than ``sortLimit`` and the field has no index; `.store`.
  /// - Complexity: A few nanoseconds for each row that the filter's indexes find. By id without an index, every product
  ///   is read.
  package init(
    _ snapshot: CatalogSnapshot, _ filter: ProductFilter, _ order: ProductTableOrder, walkLimit: Int = 1 << 16
  ) throws(SearchError) {
    self.snapshot = snapshot
    self.walkLimit = walkLimit
    (self.order, limit) = (order, Self.sortLimit)
    do { test = try ProductFilterTest(filter, snapshot) } catch { throw .store(error) }
    guard let store = snapshot.store else {
      (source, members) = (.end, nil)
      return
    }
    let candidates = test.candidates
    let index = order.field.tableIndex(snapshot.fields).flatMap {
      store.orderedIndex(CatalogSchema.products, named: $0.name)
    }
    let sortsByPinyin = order.isPinyin && candidates?.count ?? snapshot.productCount <= Self.pinyinLimit
    if sortsByPinyin { limit = Self.pinyinLimit } else { self.order.isPinyin = false }
    if let index, !sortsByPinyin,
      candidates.map({ $0.count > Self.fewCount }) ?? true
    {
      source = .index(index, order.isDescending ? .end : .start)
      members = candidates.map(RowBits.init)
      if test.isDecidedByCandidates { count = candidates?.count }
      return
    }
    members = nil
    source = .end
    do {
      if candidates == nil, order.field == .id {
        let rows = try snapshot.productRowsByID()
        source = .rows(order.isDescending ? rows.reversed() : rows, 0)
        return
      }
      if test.isDecidedByCandidates, candidates?.count ?? snapshot.productCount > limit {
        throw SearchError.noOrder(order.field.key, path: store.path)
      }
      source =
        if let candidates {
          .candidates(candidates[...], passed: [])
        } else {
          .parts(try store.parts(Self.partCount(of: snapshot), of: CatalogSchema.products)[...], passed: [])
        }
    } catch let error as SearchError { throw error } catch {
      guard let error = error as? StoreError else { preconditionFailure("\(error)") }
      throw .store(error)
    }
  }

  /// Appends further rows, in order.
  ///
  /// - Parameters:
  ///   - count: The number of entries to read.
  ///   - rows: The numbers of the rows that pass are appended, 4 bytes each; see `RowID.number`.
  /// - Returns: Whether there are further rows to read.
  /// - Throws: `SearchError.noOrder` if more rows than ``sortLimit`` pass and the field has no index; `.store`.
  package mutating func appendRows(lookingAt count: Int, to rows: inout [UInt32]) throws(SearchError) -> Bool {
    let before = rows.count
    defer { foundCount += rows.count - before }
    do { return try step(count, &rows) } catch let error as SearchError { throw error } catch {
      guard let error = error as? StoreError else { preconditionFailure("\(error)") }
      throw .store(error)
    }
  }

  private mutating func step(_ count: Int, _ rows: inout [UInt32]) throws -> Bool {
    guard let store = snapshot.store else { return false }
    switch source {
    case .end: return false
    case .candidates(let candidates, var passed):
      source = .end
      for row in candidates.prefix(count) where try passes(row) { passed.append(row) }
      return try goOn(with: candidates.dropFirst(count), Source.candidates, passed)
    case .parts(var parts, var passed):
      source = .end
      passed += try passingRows(ofNext: &parts, store)
      return try goOn(with: parts, Source.parts, passed)
    case .rows(let found, let start):
      let end = min(found.count, start + count)
      for row in found[start..<end] where try passes(row) { rows.append(UInt32(truncatingIfNeeded: row.number)) }
      source = end < found.count ? .rows(found, end) : .end
      return end < found.count
    case .index(let index, let gap):
      var cursor = try store.cursor(index, from: gap, backward: order.isDescending)
      var seen = 0
      while seen < count {
        guard try cursor.next() else {
          source = .end
          return false
        }
        seen += 1
        let row = cursor.row
        if let members, !members.contains(row) { continue }
        if try passes(row) { rows.append(UInt32(truncatingIfNeeded: row.number)) }
      }
      source = .index(index, cursor.gap)
      if members == nil, !test.isDecidedByCandidates {
        walkedCount += seen
        if walkedCount >= walkLimit, snapshot.productCount - walkedCount > walkLimit {
          let parts = try store.parts(Self.partCount(of: snapshot), of: CatalogSchema.products)
          source = .scan(parts[...], passed: RowBits([]), passedCount: 0, index, cursor.gap)
        }
      }
      return true
    case .scan(var parts, var passed, let passedCount, let index, let gap):
      source = .end
      if !parts.isEmpty {
        let rows = try passingRows(ofNext: &parts, store)
        for row in rows { _ = passed.insert(row) }
        source = .scan(parts, passed: passed, passedCount: passedCount + rows.count, index, gap)
        return true
      }
      self.count = passedCount
      test = try ProductFilterTest(ProductFilter(), snapshot)
      if passedCount <= Self.fewCount {
        // The first of them were found by walking.
        source = .rows(try sorted(passed.rows), foundCount)
      } else {
        members = passed
        source = .index(index, gap)
      }
      return true
    }
  }

  /// Takes the next parts of a scan and tests their records, on several threads. Returns the rows that pass, in the
  /// order of the file.
  private mutating func passingRows(
    ofNext parts: inout ArraySlice<ScanPart>, _ store: Snapshot
  ) throws(StoreError) -> [RowID] {
    let group = Array(parts.prefix(Threads.partCount))
    parts = parts.dropFirst(group.count)
    let results = Threads.map(group) { [test] part in
      Result { () throws(StoreError) in
        var (test, rows) = (test, [RowID]())
        try store.forEachRecord(of: CatalogSchema.products, in: part) { (record) throws(StoreError) in
          let view = ProductView(record)
          if try test.passes(view) { rows.append(view.rowID) }
          return true
        }
        return (rows, test)
      }
    }
    var passed: [RowID] = []
    for result in results {
      let (rows, used) = try result.get()
      passed += rows
      // It remembers the texts that it has folded.
      test = used
    }
    return passed
  }

  /// Continues to collect rows, or sorts them after the last one.
  private mutating func goOn<Element>(
    with rest: ArraySlice<Element>, _ next: (ArraySlice<Element>, [RowID]) -> Source, _ passed: [RowID]
  ) throws -> Bool {
    if passed.count > limit {
      throw SearchError.noOrder(order.field.key, path: snapshot.store?.path ?? "")
    }
    if !rest.isEmpty {
      source = next(rest, passed)
      return true
    }
    source = .rows(try sorted(passed), 0)
    count = passed.count
    // They passed.
    test = try ProductFilterTest(ProductFilter(), snapshot)
    return true
  }

  private mutating func passes(_ row: RowID) throws(StoreError) -> Bool {
    if test.isDecidedByCandidates { return true }
    let snapshot = snapshot
    return try snapshot.withProduct(row) { (view) throws(StoreError) in try test.passes(view) } ?? false
  }

  /// The number of parts into which the scan of a catalogue is divided.
  fileprivate static func partCount(of snapshot: CatalogSnapshot) -> Int { max(1, snapshot.productCount / partSize) }

  private func sorted(_ rows: [RowID]) throws(StoreError) -> [RowID] {
    var keyed: [(key: [UInt8], row: RowID)] = []
    keyed.reserveCapacity(rows.count)
    var keys = ProductIndexKeys()
    var folder = TextFolder()
    var scratch: [UInt8] = []
    let index = order.field.tableIndex(snapshot.fields)
    let field = order.field.resolved(snapshot.fields)
    let hasWords = order.field.plain.map(ProductTableOrder.words.contains) == true
    for row in rows {
      let key = try snapshot.withProduct(row) { (view) throws(StoreError) in
        if order.isPinyin || index == nil && hasWords {
          var key: [UInt8] = []
          try field.withItem(of: view, in: snapshot, &scratch) { bytes, _ in
            folder.fold(bytes)
            order.isPinyin ? PinyinOrder.appendKey(of: folder, to: &key) : folder.appendTokens(to: &key)
          }
          return key
        }
        // As the index has it, so that rows come in the order of a walk.
        if let index { return Array(try keys.key(of: index, view).prefix(OrderedKeys.maximumKeyLength)) }
        var key: [UInt8] = []
        try field.appendSortKey(of: view, in: snapshot, to: &key, &scratch)
        return key
      }
      keyed.append((key ?? [], row))
    }
    keyed.sort { a, b in a.key == b.key ? a.row < b.row : a.key.lexicographicallyPrecedes(b.key) }
    let sorted = keyed.map(\.row)
    return order.isDescending ? sorted.reversed() : sorted
  }
}

extension ProductQueryField {
  /// The index whose order is that of a table by the field.
  fileprivate func tableIndex(_ declared: DeclaredFields) -> ProductIndex? {
    switch self {
    case .field(let field): CatalogIndexes.Order(rawValue: field.key).map(ProductIndex.order)
    case .extra, .codeCount, .codes, .code: resolved(declared).exactOrder
    }
  }
}

/// The numbers of products by what they have in a field, each with one of the products.
private typealias FacetCounts = [[UInt8]: (row: RowID, count: Int)]

/// Counts what products that pass a filter have in a field.
///
/// A `GroupTable` has aggregates for each group. Here only counts are needed, which several threads make and add up.
private struct FacetCounter: Sendable {
  private let field: ResolvedField
  private let snapshot: CatalogSnapshot
  /// Whether the field is a text, which its index folds.
  private let isText: Bool
  private(set) var test: ProductFilterTest
  /// The counts, without the rows since ``lastKey`` began.
  private var entered = FacetCounts()
  /// Products that lie next to one another often have the same value, so they are entered together.
  private var lastKey: [UInt8] = []
  private var last: (row: RowID, count: Int)?
  private var key: [UInt8] = []
  private var scratch: [UInt8] = []

  init(field: ResolvedField, test: ProductFilterTest, snapshot: CatalogSnapshot) {
    self.field = field
    self.snapshot = snapshot
    self.test = test
    isText = if case .field(let field) = field { CatalogIndexes.Order(rawValue: field.key) != nil } else { false }
  }

  /// Counts a product if it passes.
  mutating func add(_ view: borrowing ProductView) throws(StoreError) {
    if try !test.passes(view) { return }
    key.removeAll(keepingCapacity: true)
    if isText {
      try field.withItem(of: view, in: snapshot, &scratch) { bytes, _ in key.append(bytes) }
    } else {
      try field.appendSortKey(of: view, in: snapshot, to: &key, &scratch)
    }
    if last != nil, key == lastKey {
      last?.count += 1
    } else {
      enterLast()
      swap(&key, &lastKey)
      last = (view.rowID, 1)
    }
  }

  private mutating func enterLast() {
    if let last { entered[lastKey, default: (last.row, 0)].count += last.count }
    last = nil
  }

  /// Counts the values of the records of some parts, several parts at the same time; `nil` if `shouldStop` returns
  /// `true`.
  ///
  /// - Parameter forEachRecord: Calls its second argument with each record of a part.
  mutating func counts<Part: Sendable>(
    of parts: [Part], _ shouldStop: () -> Bool,
    _ forEachRecord: @Sendable (Part, (borrowing RecordView) throws(StoreError) -> Bool) throws(StoreError) -> Void
  ) throws(StoreError) -> FacetCounts? {
    var rest = parts[...]
    while !rest.isEmpty {
      if shouldStop() { return nil }
      let group = Array(rest.prefix(Threads.partCount))
      rest = rest.dropFirst(group.count)
      let results = Threads.map(group) { [field, test, snapshot] part in
        Result { () throws(StoreError) in
          var counter = FacetCounter(field: field, test: test, snapshot: snapshot)
          try forEachRecord(part) { (record) throws(StoreError) in
            try counter.add(ProductView(record))
            return true
          }
          return counter
        }
      }
      for result in results { add(try result.get()) }
    }
    return counts
  }

  /// Adds the counts of rows that lie after those of this one.
  private mutating func add(_ later: FacetCounter) {
    for (key, entry) in later.counts { entered[key, default: (entry.row, 0)].count += entry.count }
    test = later.test
  }

  /// What was counted.
  var counts: FacetCounts {
    var all = self
    all.enterLast()
    return all.entered
  }
}

/// A value of a field, and the number of products that have it.
package struct FacetValue: Sendable {
  /// The value as text; `nil` for products without the field.
  package let value: String?
  package let count: Int

  package init(value: String?, count: Int) {
    self.value = value
    self.count = count
  }

  fileprivate init(_ value: DocumentValue, count: Int) {
    let text: String? =
      switch value {
      case .null: nil
      case .text(let text): text
      default: value.json
      }
    self.init(value: text, count: count)
  }
}

extension CatalogSnapshot {
  /// Counts the values of a field among products that pass a filter, the most frequent first. Brands and categories
  /// whose folded texts are the same are one value, with the text of one of them.
  ///
  /// - Parameters:
  ///   - field: `brand`, `category`, `delFlag`, `isGroupedProduct`, or a field of one's own.
  ///   - rows: The products to count, instead of all.
  ///   - shouldStop: Called every few milliseconds; if it returns `true`, the result is `nil`.
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: With an index and without a filter, the index is read and one record for each value. Otherwise every
  ///   product that the filter's indexes find is read.
  package func facets(
    of field: ProductQueryField, _ filter: ProductFilter, among rows: [RowID]? = nil, shouldStop: () -> Bool
  ) throws(StoreError) -> [FacetValue]? {
    guard let store else { return [] }
    var counts = FacetCounts()
    let order = CatalogIndexes.Order(rawValue: field.key)
    if rows == nil, filter.isEmpty, order != nil,
      let index = store.orderedIndex(CatalogSchema.products, named: field.key)
    {
      guard let found = try facetCounts(index, shouldStop) else { return nil }
      counts = found
    } else {
      let counter = FacetCounter(
        field: field.resolved(fields), test: try ProductFilterTest(filter, self), snapshot: self)
      guard let found = try facetCounts(counter, rows ?? counter.test.candidates, shouldStop) else { return nil }
      counts = order.map { Self.folded(found, $0) } ?? found
    }
    var values: [FacetValue] = []
    var scratch: [UInt8] = []
    for (row, count) in counts.values.sorted(by: { $0.count != $1.count ? $0.count > $1.count : $0.row < $1.row }) {
      let value = try withProduct(row) { (view) throws(StoreError) in
        switch field {
        case .brand: DocumentValue.text(try view.brand)
        case .category: DocumentValue.text(try view.category)
        default: try field.resolved(fields).value(of: view, in: self, &scratch)
        }
      }
      values.append(FacetValue(value ?? .null, count: count))
    }
    return values
  }

  private func facetCounts(_ index: OrderedIndexID, _ shouldStop: () -> Bool) throws(StoreError) -> FacetCounts? {
    guard let store else { return [:] }
    var counts = FacetCounts()
    var seen = 0
    var cursor = try store.cursor(index)
    var key: [UInt8] = []
    var current: (row: RowID, count: Int)?
    while try cursor.next() {
      seen += 1
      if seen & 4095 == 0, shouldStop() { return nil }
      if let last = current, cursor.key.hasSameBytes(as: key.rawSpan) {
        current = (last.row, last.count + 1)
      } else {
        if let current { counts[key] = current }
        key = cursor.key.copied()
        current = (cursor.row, 1)
      }
    }
    if let current { counts[key] = current }
    return counts
  }

  /// Counts the values of some rows, or of all, by several threads.
  private func facetCounts(
    _ counter: FacetCounter, _ rows: [RowID]?, _ shouldStop: () -> Bool
  ) throws(StoreError) -> FacetCounts? {
    guard let store else { return [:] }
    var counter = counter
    guard let rows else {
      let parts = try store.parts(ProductRowWalk.partCount(of: self), of: CatalogSchema.products)
      return try counter.counts(of: parts, shouldStop) { (part, body) throws(StoreError) in
        try store.forEachRecord(of: CatalogSchema.products, in: part, body)
      }
    }
    let size = ProductRowWalk.partSize
    let parts = stride(from: 0, to: rows.count, by: size).map { rows[$0..<min($0 + size, rows.count)] }
    return try counter.counts(of: parts, shouldStop) { (part, body) throws(StoreError) in
      try store.forEachRecord(ofRows: Array(part), table: CatalogSchema.products, body)
    }
  }

  private static func folded(_ counts: FacetCounts, _ order: CatalogIndexes.Order) -> FacetCounts {
    var keys = ProductIndexKeys()
    var merged = FacetCounts()
    for (text, entry) in counts {
      let key = keys.key(of: order, text)
      let current = merged[key] ?? (entry.row, 0)
      merged[key] = (min(current.row, entry.row), current.count + entry.count)
    }
    return merged
  }
}
