import Bytes
import RecordFormat

/// A walk through the keys of an ordered block from the first to the last, with the rows of each, as a merge reads
/// them.
///
/// The rows of a key that has several entries come in parts.
struct OrderedRun {
  private let snapshot: Snapshot
  private let block: OrderedBlock
  private let tree: OrderedBlockHeader.Tree
  private var leaf = OrderedLeaf()
  private var leafNumber = -1
  private var entry = -1
  /// The present key.
  private(set) var key: [UInt8] = []
  /// The rows of the present key, or a part of them, in ascending order.
  private(set) var rows: [UInt32] = []

  init(_ snapshot: Snapshot, _ block: OrderedBlock) {
    self.snapshot = snapshot
    self.block = block
    tree = block.header.mainTree
  }

  /// Moves to the next key, or to the next part of the rows of the same key. Returns whether there is one.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check, or if the key and its rows do not follow those before
  ///   or lie outside the commit.
  mutating func next() throws(StoreError) -> Bool {
    entry += 1
    if entry >= leaf.entryCount || leafNumber < 0 {
      leafNumber += 1
      guard leafNumber < tree.leafCount else { return false }
      try snapshot.read(block, tree, leaf: leafNumber, into: &leaf)
      entry = 0
    }
    let range = leaf.rowRange(entry)
    guard UnitOffset(rawValue: leaf.rows[range.upperBound - 1]).byteOffset < snapshot.end else {
      throw snapshot.log.damage(block.offset, "ordered block: it has a row outside the commit")
    }
    if let last = rows.last {
      let order = leaf.key(entry).compare(to: key.rawSpan)
      guard order > 0 || order == 0 && leaf.rows[range.lowerBound] > last else {
        throw snapshot.damagedPage(block, tree, leafNumber)
      }
    }
    leaf.copyKey(entry, to: &key)
    rows.removeAll(keepingCapacity: true)
    rows.append(contentsOf: leaf.rows[range])
    return true
  }

  /// The error for rows that do not lie after those of an older block.
  var misplacedRows: StoreError {
    snapshot.log.damage(block.offset, "ordered block: it has rows that do not lie after those of the block before it")
  }
}
