import Bytes
import DocumentFormat
import LogStore

/// Finds the rows of an ordered index that match, in the order of a query.
///
/// Rows with the same key are next to each other, in the order of the file. Where the order has more fields than the
/// index, and where keys were cut so that rows with the same key may differ, they are sorted.
struct ProductWalk {
  let store: Snapshot
  let index: OrderedIndexID
  let isBackward: Bool
  /// Whether the order has more fields than the index.
  let sortsTies: Bool
  /// The number of rows to find.
  let wanted: Int
  private(set) var rows: [RowID] = []

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
      var cursor = try store.keyOrderCursor(
        index, from: isBackward ? range.end : range.start, backward: isBackward)
      var ties: RowKeySorter?
      while try cursor.next() {
        if cursor.isFirstOfKey {
          if var sorter = ties.take() { rows += sorter.rows() }
          if rows.count >= wanted || !range.contains(cursor.key) { break }
        }
        cursor.prefetchRecords()
        guard try test(cursor.row) else { continue }
        if sortsTies || cursor.key.count >= OrderedKeys.maximumKeyLength {
          var sorter = ties.take() ?? RowKeySorter(wanted: wanted - rows.count)
          let start = sorter.keys.count
          try addKey(cursor.row, &sorter.keys)
          sorter.add(cursor.row, keyAt: start)
          ties = sorter
        } else {
          rows.append(cursor.row)
          if rows.count >= wanted { return }
        }
      }
      if var sorter = ties { rows += sorter.rows() }
      if rows.count >= wanted { return }
    }
  }
}
