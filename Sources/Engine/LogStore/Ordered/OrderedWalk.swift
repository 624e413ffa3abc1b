package import Bytes

/// Finds rows in the order of a query by walking ranges of an ordered index.
///
///     while try walk.next() {
///       if !matches(walk.row) { continue }
///       if walk.needsSortKey { walk.addRow(sortKey: sortKey(walk.row)) } else { walk.addRow() }
///     }
///     return walk.rows
///
/// Rows with the same key are next to each other, in the order of the file. They are sorted if the order of the query
/// has more fields than the index, and where keys were cut, so that rows with the same key may differ. The caller tests
/// the rows and makes their sort keys, because only the caller knows what the rows contain.
package struct OrderedWalk {
  private let snapshot: Snapshot
  private let index: OrderedIndexID
  private let isBackward: Bool
  private let sortsTies: Bool
  private let firstKey: [UInt8]?
  private let wanted: Int
  /// The ranges after the current one, in the direction of the walk; the next one last.
  private var ranges: [KeyRange]
  private var range: KeyRange
  private var cursor: KeyOrderCursor
  /// Whether the cursor has not left the range.
  private var isInRange = true
  /// The rows of the current key that are sorted.
  private var ties: RowKeySorter?
  /// The rows that were added. Once ``next()`` has returned `false`, they are in order, and at most as many as wanted.
  package private(set) var rows: [RowID] = []

  /// Creates a walk.
  ///
  /// - Parameters:
  ///   - snapshot: The snapshot that has the index.
  ///   - index: The index.
  ///   - ranges: The ranges of keys, in ascending order, without common keys.
  ///   - isBackward: Whether the greatest key comes first.
  ///   - sortsTies: Whether the order of the query says more than the keys of the index.
  ///   - firstKey: The key at which the walk begins, in its direction; `nil` to begin with the ranges.
  ///   - wanted: The number of rows after which the walk ends; at least one.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  package init(
    _ snapshot: Snapshot, _ index: OrderedIndexID, _ ranges: [KeyRange], isBackward: Bool, sortsTies: Bool,
    from firstKey: [UInt8]? = nil, wanted: Int
  ) throws(StoreError) {
    self.snapshot = snapshot
    self.index = index
    self.ranges = isBackward ? ranges : ranges.reversed()
    self.isBackward = isBackward
    self.sortsTies = sortsTies
    self.firstKey = firstKey
    self.wanted = wanted
    // Without a range, one that contains no key.
    range = self.ranges.popLast() ?? KeyRange(lower: [], upper: [])
    cursor = try snapshot.keyOrderCursor(
      index, from: Self.start(in: range, firstKey, isBackward), backward: isBackward)
  }

  /// Moves to the next row. Returns whether there is one and it is wanted.
  ///
  /// - Throws: `StoreError.damaged` if a page or dead block fails its check.
  /// - Complexity: As ``KeyOrderCursor/next()``.
  package mutating func next() throws(StoreError) -> Bool {
    while rows.count < wanted {
      if isInRange, try cursor.next() {
        if !cursor.isFirstOfKey { return true }
        endKey()
        isInRange = range.contains(cursor.key)
        if isInRange, rows.count < wanted { return true }
      } else {
        endKey()
        guard let next = ranges.popLast() else { return false }
        range = next
        cursor = try snapshot.keyOrderCursor(
          index, from: Self.start(in: next, firstKey, isBackward), backward: isBackward)
        isInRange = true
      }
    }
    return false
  }

  /// The gap at which a range begins in the direction of the walk, or the first key if that is later.
  private static func start(in range: KeyRange, _ firstKey: [UInt8]?, _ isBackward: Bool) -> OrderedGap {
    if isBackward {
      if let firstKey, range.upper.map({ firstKey.lexicographicallyPrecedes($0) }) ?? true { return .after(firstKey) }
      return range.end
    }
    if let firstKey, range.lower.lexicographicallyPrecedes(firstKey) { return .before(firstKey) }
    return range.start
  }

  /// Sorts the rows of a key after the last one.
  private mutating func endKey() {
    if var sorter = ties.take() { rows += sorter.rows() }
  }

  /// The key of the current row. Only valid after ``next()`` has returned `true`.
  package var key: [UInt8] { cursor.key }

  /// The current row. Only valid after ``next()`` has returned `true`.
  package var row: RowID { cursor.row }

  /// Whether the current row has to be added with a sort key: other rows have the same key, which does not order them.
  package var needsSortKey: Bool {
    (sortsTies || cursor.key.count >= OrderedKeys.maximumKeyLength) && !cursor.isOnlyOfKey
  }

  /// Adds the current row.
  package mutating func addRow() { rows.append(cursor.row) }

  /// Adds the current row, which is sorted among the rows with the same key in the index.
  package mutating func addRow(sortKey: [UInt8]) {
    var sorter = ties.take() ?? RowKeySorter(wanted: wanted - rows.count)
    let start = sorter.keys.count
    sorter.keys += sortKey
    sorter.add(row, keyAt: start)
    ties = sorter
  }

  /// Prefetches the records of the next rows. Call it after every ``next()`` if records are read.
  package mutating func prefetchRecords() { cursor.prefetchRecords() }
}

extension KeyRange {
  /// The gap at which the range begins.
  package var start: OrderedGap { .before(lower) }
  /// The gap at which the range ends.
  package var end: OrderedGap { upper.map { .before($0) } ?? .end }
}
