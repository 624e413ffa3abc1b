import Bytes
import RecordFormat

/// A cursor over the rows of an ordered index in a snapshot, forward or backward from a gap. It skips dead rows.
///
/// Rows with the same key are in the order of the file.
public struct OrderedCursor {
  /// A place in one block.
  private struct Place {
    let block: OrderedBlock
    let tree: OrderedBlockHeader.Tree
    var leafNumber: Int
    var leaf = OrderedLeaf()
    /// The position of the current pair among the rows of the leaf; -1 or the number of rows at an end of the block.
    var position = 0
    var entry = 0
    /// The positions of the rows of the current entry.
    var entryRows = 0..<0
    /// The first position, in the cursor's direction, of which the record was not prefetched.
    var prefetched: Int?
    var isAtEnd = false

    var row: UInt32 {
      @inline(__always)
      get { leaf.row(position) }
    }

    /// Moves to the next pair of the leaf. Returns whether there is one.
    @inline(__always)
    mutating func step(_ isForward: Bool) -> Bool {
      position &+= isForward ? 1 : -1
      if entryRows.contains(position) { return true }
      // Most entries have one row, so the next row is that of the entry beside it.
      entry &+= isForward ? 1 : -1
      guard entry >= 0, entry < leaf.entryCount else { return false }
      entryRows = leaf.rowRange(entry)
      return true
    }

    /// Copies the current pair. It changes nothing, but a place that is changed where it is need not be copied.
    @inline(__always)
    mutating func read(_ row: inout UInt32, _ key: inout [UInt8]) -> Int {
      row = leaf.row(position)
      return leaf.copyKey(entry, over: &key)
    }

    /// Prefetches the records of the next `count` rows in the leaf, once each.
    mutating func prefetchRecords(_ count: Int, _ isForward: Bool, _ snapshot: Snapshot) {
      let step = isForward ? 1 : -1
      var next = prefetched ?? position + step
      while (next - position) * step <= count, next >= 0, next < leaf.rowCount {
        snapshot.prefetch(UnitOffset(rawValue: leaf.row(next)))
        next += step
      }
      prefetched = next
    }
  }

  private let snapshot: Snapshot
  private let isForward: Bool
  private let hasDeadRows: Bool
  /// The places in the blocks of the index, newest first, without those that are at their end.
  private var places: [Place] = []
  /// The place of the current pair among `places`; -1 before the first.
  private var current = -1
  /// The key of the current pair, and bytes of longer keys before it.
  private var currentKey = OrderedPage.keyBuffer
  private var currentKeyByteCount = 0
  private var currentRow: UInt32 = 0
  /// The error that stopped the cursor.
  private var failure: StoreError?

  init(_ snapshot: Snapshot, _ id: OrderedIndexID, from gap: OrderedGap, isForward: Bool) throws(StoreError) {
    self.snapshot = snapshot
    self.isForward = isForward
    hasDeadRows = !snapshot.deadBlocks.isEmpty
    for block in try snapshot.orderedBlocks(id) {
      let tree = block.header.mainTree
      var place = Place(block: block, tree: tree, leafNumber: try snapshot.findLeaf(block, tree, gap))
      try snapshot.read(block, tree, leaf: place.leafNumber, into: &place.leaf)
      place.position = place.leaf.rowCount(before: gap)
      if !isForward { place.position -= 1 }
      try settle(&place)
      if !place.isAtEnd { places.append(place) }
    }
  }

  /// Moves a place to the next leaf if it has left its leaf, and finds its entry.
  private func settle(_ place: inout Place) throws(StoreError) {
    if place.position < 0 || place.position >= place.leaf.rowCount {
      let next = place.leafNumber + (isForward ? 1 : -1)
      guard next >= 0, next < place.tree.leafCount else {
        place.isAtEnd = true
        return
      }
      place.leafNumber = next
      try snapshot.read(place.block, place.tree, leaf: next, into: &place.leaf)
      place.position = isForward ? 0 : place.leaf.rowCount - 1
    }
    place.entry = place.leaf.entry(ofRowAt: place.position)
    place.entryRows = place.leaf.rowRange(place.entry)
    place.prefetched = nil
  }

  /// Moves to the next row in the cursor's direction. Returns whether there is one.
  ///
  /// - Throws: `StoreError.damaged` if a page or dead block fails its check, now or in an earlier call.
  /// - Complexity: A few nanoseconds for each block of the index, and one page for about a hundred rows.
  public mutating func next() throws(StoreError) -> Bool {
    if let failure { throw failure }
    do throws(StoreError) {
      while true {
        if current >= 0 { try advance() }
        current = places.count > 1 ? nearest() : places.count - 1
        if current < 0 { return false }
        currentKeyByteCount = places[current].read(&currentRow, &currentKey)
        if !hasDeadRows { return true }
        if try !snapshot.isDead(UnitOffset(rawValue: currentRow)) { return true }
      }
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func advance() throws(StoreError) {
    if places[current].step(isForward) { return }
    try settle(&places[current])
    if places[current].isAtEnd { places.remove(at: current) }
  }

  /// Returns the place with the first pair in the cursor's direction.
  private func nearest() -> Int {
    var best = 0
    for index in 1..<places.count where precedes(places[index], places[best]) { best = index }
    return best
  }

  private func precedes(_ a: Place, _ b: Place) -> Bool {
    let order = a.leaf.key(a.entry).compare(to: b.leaf.key(b.entry))
    let isBefore = order != 0 ? order < 0 : a.row < b.row
    return isBefore == isForward
  }

  /// The key of the current row. Only valid after ``next()`` has returned `true`.
  public var key: RawSpan {
    @_lifetime(borrow self)
    get { currentKey.rawSpan.slice(0, currentKeyByteCount) }
  }

  /// The current row. Only valid after ``next()`` has returned `true`.
  public var row: RowID { RowID(UnitOffset(rawValue: currentRow)) }

  /// The gap after the current row in the cursor's direction, from which another cursor of the same direction goes on.
  public var gap: OrderedGap { isForward ? .after(key.copied(), row) : .before(key.copied(), row) }

  /// Prefetches the records of the next `count` rows in the leaf of the current row, once each.
  package mutating func prefetchRecords(_ count: Int = 8) {
    places[current].prefetchRecords(count, isForward, snapshot)
  }
}
