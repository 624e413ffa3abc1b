import Bytes
import DocumentFormat
import LogStore

/// Finds the rows of an ordered index in the order of a query.
///
/// Rows with the same key are next to each other. Where the order says more than the key, they are sorted: in pages, which
/// go by ID then; in an order of more fields than the index has; and where keys were cut, so that rows with the same key
/// may differ.
struct OrderedWalk {
  let store: Snapshot
  let index: OrderedIndexID
  let ranges: [KeyRange]
  let isBackward: Bool
  /// Whether the order has more fields than the index.
  let sortsTies: Bool
  let request: QueryRequest
  /// The key at which a page begins; `nil` to compare every document with the position.
  let firstKey: [UInt8]?
  /// Tests a row; `nil` if every row of the ranges matches.
  let test: ((borrowing RecordView) throws -> Bool)?

  /// The number of rows with the same key that are kept to turn their order around. More are read again forward.
  private static let turnedCount = 64

  /// Calls `body` with each matching row, in order, until it returns `false`.
  func forEachRow(_ body: (RowID) throws -> Bool) throws {
    for range in isBackward ? ranges.reversed() : ranges {
      if try !forEachRow(in: range, body) { return }
    }
  }

  /// Returns whether `body` never returned `false`.
  private func forEachRow(in range: KeyRange, _ body: (RowID) throws -> Bool) throws -> Bool {
    var cursor = try store.cursor(index, from: start(in: range), backward: isBackward)
    var key: [UInt8] = []
    var rows: [RowID] = []
    while try cursor.next() {
      if rows.isEmpty || !cursor.key.hasSameBytes(as: key.rawSpan) {
        if try !visit(rows, key, body) { return false }
        rows.removeAll(keepingCapacity: true)
        guard isInside(cursor.key, range) else { return true }
        key.removeAll(keepingCapacity: true)
        key.append(cursor.key)
        if test != nil { cursor.prefetchRecords() }
      }
      let row = cursor.row
      if !isBackward, !isSorting(key) {
        if try matches(row), try !body(row) { return false }
        continue
      }
      rows.append(row)
      if rows.count == Self.turnedCount, !isSorting(key) {
        rows.removeAll(keepingCapacity: true)
        if try !forEachRow(of: key, body) { return false }
        cursor = try store.cursor(index, from: .before(key), backward: true)
      }
    }
    return try visit(rows, key, body)
  }

  /// Calls `body` with the rows of one key, in the order of the file.
  private func forEachRow(of key: [UInt8], _ body: (RowID) throws -> Bool) throws -> Bool {
    var cursor = try store.cursor(index, from: .before(key))
    while try cursor.next(), cursor.key.hasSameBytes(as: key.rawSpan) {
      if test != nil { cursor.prefetchRecords() }
      let row = cursor.row
      if try matches(row), try !body(row) { return false }
    }
    return true
  }

  /// The gap at which the range begins in the direction of the walk, or the page if that is later.
  private func start(in range: KeyRange) -> OrderedGap {
    if isBackward {
      if let firstKey, range.upper.map({ firstKey.lexicographicallyPrecedes($0) }) ?? true { return .after(firstKey) }
      return range.end
    }
    if let firstKey, range.lower.lexicographicallyPrecedes(firstKey) { return .before(firstKey) }
    return range.start
  }

  private func isInside(_ key: RawSpan, _ range: KeyRange) -> Bool {
    if isBackward { return key.compare(to: range.lower.rawSpan) >= 0 }
    guard let upper = range.upper else { return true }
    return key.compare(to: upper.rawSpan) < 0
  }

  /// Whether rows with this key may have to be sorted.
  private func isSorting(_ key: [UInt8]) -> Bool {
    request.isPaged || sortsTies || key.count >= OrderedKey.maximumByteCount
  }

  /// Calls `body` with the rows of one key, which were found in the direction of the walk.
  private func visit(_ rows: [RowID], _ key: [UInt8], _ body: (RowID) throws -> Bool) throws -> Bool {
    if rows.isEmpty { return true }
    let isCompared = request.after != nil && (firstKey == nil || firstKey == key)
    guard isSorting(key), rows.count > 1 || isCompared else {
      for row in rows.reversed() where try matches(row) {
        if try !body(row) { return false }
      }
      return true
    }
    var sorter = DocumentSorter(request)
    for row in rows {
      guard let record = try store.record(row, table: index.table), try test?(record) ?? true else { continue }
      do { try sorter.add(.row(row), DocumentView(record.body), id: record.key(0)) } catch {
        throw UnreadableDocument(key: record.key(0).copied(), reason: error)
      }
    }
    for case .row(let row) in sorter.documents() {
      if try !body(row) { return false }
    }
    return true
  }

  private func matches(_ row: RowID) throws -> Bool {
    guard let test else { return true }
    guard let record = try store.record(row, table: index.table) else { return false }
    return try test(record)
  }
}

/// The error that prevents a document from being read, and the document's key.
struct UnreadableDocument: Error {
  let key: [UInt8]
  let reason: any Error
}

extension KeyRange {
  var start: OrderedGap { .before(lower) }
  var end: OrderedGap { upper.map { .before($0) } ?? .end }
}
