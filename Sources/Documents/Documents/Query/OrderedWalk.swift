import Bytes
import DocumentFormat
import LogStore

/// Finds the rows of an ordered index in the order of a query.
///
/// Rows with the same key are next to each other. Where the order says more than the key, they are sorted: in pages,
/// which go by ID then; in an order of more fields than the index has; and where keys were cut, so that rows with the
/// same key may differ.
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

  /// The number of rows with the same key that are kept before they are sorted, as often there is only one.
  private static let keptCount = 1024

  /// Calls `body` with each matching row, in order, until it returns `false`.
  func forEachRow(_ body: (RowID) throws -> Bool) throws {
    for range in isBackward ? ranges.reversed() : ranges {
      if try !forEachRow(in: range, body) { return }
    }
  }

  /// Returns whether `body` never returned `false`.
  private func forEachRow(in range: KeyRange, _ body: (RowID) throws -> Bool) throws -> Bool {
    var cursor = try store.keyOrderCursor(index, from: start(in: range), backward: isBackward)
    var ties = Ties()
    while try cursor.next() {
      if cursor.isFirstOfKey {
        if try !visit(&ties, body) { return false }
        guard range.contains(cursor.key) else { return true }
        ties.isCompared = request.after != nil && (firstKey == nil || firstKey == cursor.key)
      }
      if test != nil { cursor.prefetchRecords() }
      let row = cursor.row
      // Rows with the same key may have to be sorted.
      if request.isPaged || sortsTies || cursor.key.count >= OrderedKey.maximumByteCount {
        ties.rows.append(row)
        if ties.rows.count == Self.keptCount { try sort(&ties) }
      } else if try matches(row), try !body(row) {
        return false
      }
    }
    return try visit(&ties, body)
  }

  /// Rows with the same key that are sorted.
  private struct Ties {
    /// Rows in the order of the file.
    var rows: [RowID] = []
    /// The rows before them.
    var sorter: DocumentSorter?
    /// Whether they are compared with the position at which a page begins.
    var isCompared = false
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

  /// Calls `body` with the rows of one key, and forgets them. Returns whether `body` never returned `false`.
  private func visit(_ ties: inout Ties, _ body: (RowID) throws -> Bool) throws -> Bool {
    if ties.sorter == nil, ties.rows.count <= 1, !ties.isCompared {
      for row in ties.rows where try matches(row) {
        if try !body(row) { return false }
      }
    } else {
      try sort(&ties)
      for case .row(let row) in ties.sorter?.documents() ?? [] {
        if try !body(row) { return false }
      }
    }
    ties.sorter = nil
    ties.rows.removeAll(keepingCapacity: true)
    return true
  }

  /// Gives the rows to the sorter.
  private func sort(_ ties: inout Ties) throws {
    var sorter = ties.sorter.take() ?? DocumentSorter(request)
    for row in ties.rows {
      guard let record = try store.record(row, table: index.table), try test?(record) ?? true else { continue }
      do { try sorter.add(.row(row), DocumentView(record.body), id: record.key(0)) } catch {
        throw UnreadableDocument(key: record.key(0).copied(), reason: error)
      }
    }
    ties.rows.removeAll(keepingCapacity: true)
    ties.sorter = sorter
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
