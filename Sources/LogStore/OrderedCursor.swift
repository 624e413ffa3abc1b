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
    var isAtEnd = false

    var row: UInt32 { leaf.rows[position] }
  }

  private let snapshot: Snapshot
  private let isForward: Bool
  /// The places in the blocks of the index, newest first, without those that are at their end.
  private var places: [Place] = []
  /// The place of the current pair among `places`; -1 before the first.
  private var current = -1
  private var currentKey: [UInt8] = []

  init(_ snapshot: Snapshot, _ id: OrderedIndexID, from gap: OrderedGap, isForward: Bool) throws(StoreError) {
    self.snapshot = snapshot
    self.isForward = isForward
    for block in try snapshot.orderedBlocks(id) {
      let tree = block.header.mainTree
      var place = Place(block: block, tree: tree, leafNumber: try snapshot.findLeaf(block, tree, gap).number)
      try snapshot.read(block, tree, leaf: place.leafNumber, into: &place.leaf)
      place.position = place.leaf.rowCount(before: gap)
      if !isForward { place.position -= 1 }
      try settle(&place)
      if !place.isAtEnd { places.append(place) }
    }
  }

  /// Moves a place to the next leaf if it has left its leaf, and finds its entry.
  private func settle(_ place: inout Place) throws(StoreError) {
    if place.position >= 0, place.position < place.leaf.rowCount {
      place.entry = place.leaf.entry(ofRowAt: place.position)
      return
    }
    let next = place.leafNumber + (isForward ? 1 : -1)
    guard next >= 0, next < place.tree.leafCount else {
      place.isAtEnd = true
      return
    }
    place.leafNumber = next
    try snapshot.read(place.block, place.tree, leaf: next, into: &place.leaf)
    place.position = isForward ? 0 : place.leaf.rowCount - 1
    place.entry = isForward ? 0 : place.leaf.entryCount - 1
  }

  /// Moves to the next row in the cursor's direction. Returns whether there is one.
  ///
  /// - Throws: `StoreError.damaged` if a page or dead block fails its check.
  /// - Complexity: A few nanoseconds for each block of the index, and one page for about a hundred rows.
  public mutating func next() throws(StoreError) -> Bool {
    while true {
      if current >= 0 { try advance(current) }
      guard let best = nearest() else {
        current = -1
        return false
      }
      current = best
      if try snapshot.isDead(UnitOffset(rawValue: places[best].row)) { continue }
      places[best].leaf.copyKey(places[best].entry, to: &currentKey)
      return true
    }
  }

  private mutating func advance(_ index: Int) throws(StoreError) {
    places[index].position += isForward ? 1 : -1
    let position = places[index].position
    let entry = places[index].entry
    if !places[index].leaf.rowRange(entry).contains(position) {
      // Most entries have one row, so the next row is that of the entry beside it.
      let next = entry + (isForward ? 1 : -1)
      if next >= 0, next < places[index].leaf.entryCount {
        places[index].entry = next
      } else {
        try settle(&places[index])
        if places[index].isAtEnd { places.remove(at: index) }
      }
    }
    current = -1
  }

  /// Returns the place with the first pair in the cursor's direction.
  private func nearest() -> Int? {
    if places.isEmpty { return nil }
    var best = 0
    for index in 1..<max(1, places.count) where precedes(places[index], places[best]) { best = index }
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
    get { currentKey.rawSpan }
  }

  /// The current row. Only valid after ``next()`` has returned `true`.
  public var row: RowID { RowID(UnitOffset(rawValue: places[current].row)) }

  /// The gap after the current row in the cursor's direction, from which another cursor of the same direction goes on.
  public var gap: OrderedGap { isForward ? .after(currentKey, row) : .before(currentKey, row) }

  /// Prefetches the records of the rows that follow in the same leaf, at most `count`.
  func prefetchRecords(_ count: Int) {
    for place in places {
      for step in 1...count {
        let position = place.position + (isForward ? step : -step)
        if position < 0 || position >= place.leaf.rowCount { break }
        snapshot.prefetch(UnitOffset(rawValue: place.leaf.rows[position]))
      }
    }
  }
}
