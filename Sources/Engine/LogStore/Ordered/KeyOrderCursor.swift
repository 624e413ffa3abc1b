import Bytes

/// A cursor over the rows of an ordered index by key, forward or backward, in which the rows of each key are in the
/// order of the file. A backward ``OrderedCursor`` has those in the reverse order, as it has the keys.
package struct KeyOrderCursor {
  private let snapshot: Snapshot
  private let index: OrderedIndexID
  private let isBackward: Bool
  /// A forward cursor is one row ahead, and a backward one may be.
  private var cursor: OrderedCursor
  private var isAhead = false
  /// Whether the row ahead of a forward cursor has the same key.
  private var hasMoreOfKey = false
  /// Of a backward cursor, the other rows of the key, the next one last.
  private var turned: [RowID] = []
  /// A forward cursor over the rows of the key, if they are too many to keep.
  private var rowsOfKey: OrderedCursor?

  /// The number of rows of a key that are kept to turn their order around. More are read again forward.
  private static let turnedCount = 64

  /// The key of the current row. Only valid after ``next()`` has returned `true`.
  package private(set) var key: [UInt8] = []
  /// The current row. Only valid after ``next()`` has returned `true`.
  package private(set) var row = RowID(number: 0)
  /// Whether the current row is the first one with its key.
  package private(set) var isFirstOfKey = false
  /// Whether the current row is the only one with its key.
  package var isOnlyOfKey: Bool { isFirstOfKey && !hasMoreOfKey && turned.isEmpty && rowsOfKey == nil }

  fileprivate init(
    _ snapshot: Snapshot, _ index: OrderedIndexID, from gap: OrderedGap, backward: Bool
  ) throws(StoreError) {
    self.snapshot = snapshot
    self.index = index
    isBackward = backward
    cursor = try snapshot.cursor(index, from: gap, backward: backward)
  }

  /// Moves to the next row. Returns whether there is one.
  ///
  /// - Throws: As ``OrderedCursor/next()``.
  /// - Complexity: As ``OrderedCursor/next()``; backward, rows of a key with many of them are read twice.
  package mutating func next() throws(StoreError) -> Bool {
    if isBackward { return try nextBackward() }
    if !isAhead, try !cursor.next() { return false }
    isFirstOfKey = !hasMoreOfKey
    if isFirstOfKey { takeKey() }
    row = cursor.row
    isAhead = try cursor.next()
    hasMoreOfKey = isAhead && cursor.key.hasSameBytes(as: key.rawSpan)
    return true
  }

  private mutating func nextBackward() throws(StoreError) -> Bool {
    isFirstOfKey = false
    if var forward = rowsOfKey.take(), try forward.next(), forward.key.hasSameBytes(as: key.rawSpan) {
      row = forward.row
      rowsOfKey = forward
      return true
    }
    if let next = turned.popLast() {
      row = next
      return true
    }
    if !isAhead, try !cursor.next() { return false }
    isAhead = false
    isFirstOfKey = true
    takeKey()
    row = cursor.row
    while try cursor.next() {
      guard cursor.key.hasSameBytes(as: key.rawSpan) else {
        isAhead = true
        break
      }
      turned.append(row)
      row = cursor.row
      if turned.count < Self.turnedCount { continue }
      turned.removeAll(keepingCapacity: true)
      var forward = try snapshot.cursor(index, from: .before(key))
      if try forward.next() { row = forward.row }
      rowsOfKey = forward
      cursor = try snapshot.cursor(index, from: .before(key), backward: true)
      return true
    }
    return true
  }

  private mutating func takeKey() {
    key.removeAll(keepingCapacity: true)
    key.append(cursor.key)
  }

  /// Prefetches the records of the next rows, as ``OrderedCursor/prefetchRecords(_:)``.
  package mutating func prefetchRecords() {
    if rowsOfKey == nil { cursor.prefetchRecords() } else { rowsOfKey?.prefetchRecords() }
  }
}

extension Snapshot {
  /// A cursor that goes by key, and through the rows of each key in the order of the file.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - gap: Where to begin: before or after all rows of a key.
  ///   - backward: Whether the greatest key comes first.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  package func keyOrderCursor(
    _ index: OrderedIndexID, from gap: OrderedGap, backward: Bool
  ) throws(StoreError) -> KeyOrderCursor {
    try KeyOrderCursor(self, index, from: gap, backward: backward)
  }
}
