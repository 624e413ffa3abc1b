import Bytes
import RecordFormat

/// A position in one block of an ordered index, which moves forward or backward from row to row.
///
/// Entries are read in groups, so that a seek reads a few of a leaf's entries and not all. The next group is read early
/// if its records are to be prefetched.
struct OrderedPlace {
  private let block: OrderedBlock?
  private let isForward: Bool
  /// A copy of the leaf that was read last. It was checked after it was copied, so groups that are read from it later
  /// are what was committed, whatever happened to the file since.
  private var leaf: [UInt8] = []
  private var leafNumber = 0
  private var groupCount = 0
  /// The number of the group of the leaf that was read last: of `ahead` if `hasAhead` is set, else of `group`.
  private var groupNumber = 0
  /// The group that contains the current row.
  private(set) var group = OrderedGroup()
  /// The group after `group` in the direction of the place, if `hasAhead` is set.
  private var ahead = OrderedGroup()
  private var hasAhead = false
  /// Whether the block has no group after the one that was read last.
  private var isLastGroup = false
  /// The position of the current row among the rows of `group`.
  private(set) var position = 0
  /// The entry of the current row.
  private var entry = 0
  /// The positions of the rows of the entry.
  private var entryRows = 0..<0
  /// The number of rows after the current one whose records were prefetched.
  private var prefetchedCount = 0
  /// Whether there is no current row, because the place has passed the last one.
  private(set) var isAtEnd = false

  /// Creates a place that is at its end.
  init(isForward: Bool) {
    block = nil
    self.isForward = isForward
    isAtEnd = true
  }

  /// Creates a place at the first row in its direction from a gap on.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  /// - Complexity: One page for each level.
  init(_ snapshot: Snapshot, _ block: OrderedBlock, from gap: OrderedGap, isForward: Bool) throws(StoreError) {
    self.block = block
    self.isForward = isForward
    let tree = block.header.mainTree
    leafNumber = try snapshot.findLeaf(block, tree, gap)
    try snapshot.copyPage(block, tree, leafNumber, to: &leaf)
    guard let found = group.read(leaf, at: gap) else { throw snapshot.damagedPage(block, tree, leafNumber) }
    (groupCount, groupNumber) = (found.groupCount, found.group)
    position = group.rowCount(before: gap) - (isForward ? 0 : 1)
    if position >= 0, position < group.rowCount { findEntry() } else { try moveToNextGroup(snapshot) }
  }

  /// The current row.
  var row: UInt32 {
    @inline(__always)
    get { group.row(position) }
  }

  /// Copies the current key over the first bytes of `key`, and returns its length.
  @inline(__always)
  func copyKey(over key: inout [UInt8]) -> Int { group.copyKey(entry, over: &key) }

  /// Whether the current pair of a key and a row comes before that of another place, in the direction of both.
  func precedes(_ other: OrderedPlace) -> Bool {
    var key: [UInt8] = []
    let row = other.copyPair(to: &key)
    return precedes(key.rawSpan, row)
  }

  /// Whether the current pair of a key and a row comes before another one, in the direction of the place.
  @inline(__always)
  func precedes(_ key: RawSpan, _ row: UInt32) -> Bool {
    let order = group.compareKey(entry, to: key)
    let isBefore = order != 0 ? order < 0 : self.row < row
    return isBefore == isForward
  }

  /// Replaces `key` by the current key, and returns the current row.
  func copyPair(to key: inout [UInt8]) -> UInt32 {
    group.copyKey(entry, to: &key)
    return row
  }

  /// Moves to the next row in the direction of the place, or to the end.
  @inline(__always)
  mutating func step(_ snapshot: Snapshot) throws(StoreError) {
    position &+= isForward ? 1 : -1
    prefetchedCount &-= 1
    if entryRows.contains(position) { return }
    // Most entries have one row, so the next row is that of the next entry.
    entry &+= isForward ? 1 : -1
    if entry >= 0, entry < group.entryCount {
      entryRows = group.rowRange(entry)
      return
    }
    try moveToNextGroup(snapshot)
  }

  private mutating func findEntry() {
    entry = group.entry(ofRowAt: position)
    entryRows = group.rowRange(entry)
  }

  /// Moves to the first row of the next group in the direction of the place, or to the end.
  @inline(never)
  mutating func moveToNextGroup(_ snapshot: Snapshot) throws(StoreError) {
    if !hasAhead { try readAhead(snapshot) }
    guard hasAhead else {
      isAtEnd = true
      return
    }
    swap(&group, &ahead)
    hasAhead = false
    prefetchedCount = max(0, prefetchedCount)
    position = isForward ? 0 : group.rowCount - 1
    findEntry()
  }

  /// Reads the next group in the direction of the place, if there is one.
  private mutating func readAhead(_ snapshot: Snapshot) throws(StoreError) {
    guard !isLastGroup, let block else { return }
    let tree = block.header.mainTree
    groupNumber += isForward ? 1 : -1
    if groupNumber < 0 || groupNumber >= groupCount {
      let next = leafNumber + (isForward ? 1 : -1)
      guard next >= 0, next < tree.leafCount else {
        isLastGroup = true
        return
      }
      leafNumber = next
      try snapshot.copyPage(block, tree, next, to: &leaf)
      groupCount = OrderedGroup.count(in: leaf)
      groupNumber = isForward ? 0 : groupCount - 1
    }
    guard ahead.read(leaf, groupNumber) else { throw snapshot.damagedPage(block, tree, leafNumber) }
    hasAhead = true
  }

  /// Prefetches the records of the next `count` rows, once each. These are rows of the current group and of the next.
  @inline(__always)
  mutating func prefetchRecords(_ count: Int, _ snapshot: Snapshot) throws(StoreError) {
    while prefetchedCount < count {
      let next = isForward ? position &+ 1 &+ prefetchedCount : position &- 1 &- prefetchedCount
      let row: UInt32
      if next >= 0, next < group.rowCount {
        row = group.row(next)
      } else {
        if !hasAhead { try readAhead(snapshot) }
        let other = isForward ? next &- group.rowCount : ahead.rowCount &+ next
        guard hasAhead, other >= 0, other < ahead.rowCount else { return }
        row = ahead.row(other)
      }
      snapshot.prefetch(UnitOffset(rawValue: row))
      prefetchedCount &+= 1
    }
  }
}

extension OrderedPage {
  /// Returns the number of the group of a leaf that contains the last pair before a gap; the first group if there is
  /// none.
  ///
  /// - Returns: `nil` if an entry is not valid, or if the page is not a leaf.
  func lastGroup(notAfter gap: OrderedGap) -> Int? {
    if level > 0 { return nil }
    if gap.isAtEnd { return restartCount - 1 }
    return lastRestart(notAfter: gap.key.rawSpan, UInt32(clamping: gap.row))
  }
}

extension OrderedGroup {
  /// Returns the number of groups in a leaf; 0 if its header is not valid.
  static func count(in leaf: [UInt8]) -> Int { OrderedPage(leaf.rawSpan)?.restartCount ?? 0 }

  /// Reads a group of a leaf. Returns whether it is valid.
  mutating func read(_ leaf: [UInt8], _ number: Int) -> Bool {
    guard let page = OrderedPage(leaf.rawSpan) else { return false }
    return read(page, number)
  }

  /// Reads the group of a leaf that contains the last pair before a gap, or the first group. `nil` if it is not valid.
  mutating func read(_ leaf: [UInt8], at gap: OrderedGap) -> (group: Int, groupCount: Int)? {
    guard let page = OrderedPage(leaf.rawSpan), let number = page.lastGroup(notAfter: gap), read(page, number)
    else { return nil }
    return (number, page.restartCount)
  }

  /// Returns the number of rows, in this group, before the first pair of a key and a row that does not precede `gap`.
  func rowCount(before gap: OrderedGap) -> Int {
    // The first entry whose last row is not before the gap.
    let entry = (0..<entryCount).partitioningIndex { !gap.follows(key($0), row(rowRange($0).upperBound - 1)) }
    guard entry < entryCount else { return rowCount }
    let range = rowRange(entry)
    if range.count == 1 || !key(entry).hasSameBytes(as: gap.key.rawSpan) { return range.lowerBound }
    return range.partitioningIndex { UInt64(row($0)) >= gap.row }
  }
}
