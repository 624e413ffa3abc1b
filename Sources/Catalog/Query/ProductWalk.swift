import Bytes
import DocumentFormat
import LogStore

/// Finds the rows of an ordered index that match, in the order of a query.
///
/// Rows with the same key are next to each other, in the order of the file. Where the order has more fields than the index,
/// and where keys were cut so that rows with the same key may differ, they are sorted.
struct ProductWalk {
  let store: Snapshot
  let index: OrderedIndexID
  let isBackward: Bool
  /// Whether the order has more fields than the index.
  let sortsTies: Bool
  /// The number of rows to find.
  let wanted: Int
  private(set) var rows: [RowID] = []

  /// The number of rows with the same key that are kept to turn their order around. More are read again forward.
  private static let keptCount = 64

  init(_ store: Snapshot, _ index: OrderedIndexID, isBackward: Bool, sortsTies: Bool, wanted: Int) {
    self.store = store
    self.index = index
    self.isBackward = isBackward
    self.sortsTies = sortsTies
    self.wanted = wanted
  }

  /// Finds rows in ranges, until there are enough.
  ///
  /// - Parameters:
  ///   - test: Returns whether a row matches.
  ///   - addKey: Appends the sort key of a row to a buffer.
  mutating func find(
    _ ranges: [KeyRange], test: (RowID) throws(StoreError) -> Bool,
    addKey: (RowID, inout [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    for range in isBackward ? ranges.reversed() : ranges {
      var cursor = try store.cursor(index, from: isBackward ? range.end : range.start, backward: isBackward)
      var key: [UInt8] = []
      var ties: [RowID] = []
      while rows.count < wanted, try cursor.next() {
        if ties.isEmpty || !cursor.key.hasSameBytes(as: key.rawSpan) {
          try add(isBackward ? ties.reversed() : ties, key, test, addKey)
          ties.removeAll(keepingCapacity: true)
          key.removeAll(keepingCapacity: true)
          key.append(cursor.key)
          if !isInside(key, range) { break }
          cursor.prefetchRecords()
        }
        ties.append(cursor.row)
        if ties.count < Self.keptCount { continue }
        ties.removeAll(keepingCapacity: true)
        try add(rowsOf: key, test, addKey)
        cursor = try store.cursor(index, from: isBackward ? .before(key) : .after(key), backward: isBackward)
      }
      try add(isBackward ? ties.reversed() : ties, key, test, addKey)
      if rows.count >= wanted { return }
    }
  }

  private func isInside(_ key: [UInt8], _ range: KeyRange) -> Bool {
    if isBackward { return !key.lexicographicallyPrecedes(range.lower) }
    return range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
  }

  private func isSorting(_ key: [UInt8]) -> Bool { sortsTies || key.count >= OrderedKeys.maximumKeyLength }

  /// Adds those of some rows with the same key that match, as many as are wanted.
  private mutating func add(
    _ ties: [RowID], _ key: [UInt8], _ test: (RowID) throws(StoreError) -> Bool,
    _ addKey: (RowID, inout [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    if ties.isEmpty || rows.count >= wanted { return }
    if ties.count == 1 || !isSorting(key) {
      for row in ties where rows.count < wanted {
        if try test(row) { rows.append(row) }
      }
      return
    }
    var sorter = RowKeySorter(wanted: wanted - rows.count)
    for row in ties where try test(row) {
      let start = sorter.keys.count
      try addKey(row, &sorter.keys)
      sorter.add(row, keyAt: start)
    }
    rows += sorter.rows()
  }

  /// Adds those of the rows of a key that match, as many as are wanted, whatever their number.
  private mutating func add(
    rowsOf key: [UInt8], _ test: (RowID) throws(StoreError) -> Bool,
    _ addKey: (RowID, inout [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var cursor = try store.cursor(index, from: .before(key))
    let isSorting = isSorting(key)
    var sorter = RowKeySorter(wanted: max(1, wanted - rows.count))
    while isSorting || rows.count < wanted, try cursor.next(), cursor.key.hasSameBytes(as: key.rawSpan) {
      cursor.prefetchRecords()
      let row = cursor.row
      guard try test(row) else { continue }
      if isSorting {
        let start = sorter.keys.count
        try addKey(row, &sorter.keys)
        sorter.add(row, keyAt: start)
      } else {
        rows.append(row)
      }
    }
    if isSorting { rows += sorter.rows() }
  }
}
