import Bytes
import RecordFormat
import Synchronization

/// Where the leaves of a tree begin, in memory: what its higher pages say.
///
/// A seek reads a page for each level, and each has to be checked whole, which takes most of its time. A tree in which
/// much is looked for gets a directory, so that only leaves are read and checked.
final class OrderedDirectory: Sendable {
  /// The first eight bytes of the key at which each leaf begins, the first one highest. The first leaf begins before
  /// everything.
  private let prefixes: [UInt64]
  /// The keys, one after another.
  private let keys: [UInt8]
  /// The end of each key among them.
  private let keyEnds: [UInt32]
  /// The first row of each leaf.
  private let rows: [UInt32]
  /// The number of rows in all leaves before each leaf, and at the end that in all leaves.
  private let rowCounts: [Int]

  /// Reads the pages above the leaves.
  ///
  /// - Throws: `StoreError.damaged` if one of them fails its check.
  init(_ snapshot: Snapshot, _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree) throws(StoreError) {
    var prefixes: [UInt64] = []
    var keys: [UInt8] = []
    var keyEnds: [UInt32] = []
    var rows: [UInt32] = []
    var rowCounts = [0]
    var number = tree.leafCount
    guard number > 0 else { throw snapshot.damagedPage(block, tree, tree.pageCount - 1) }
    while rows.count < tree.leafCount {
      let scope = ScratchScope(snapshot)
      defer { scope.end() }
      let page = try snapshot.page(block, tree, number)
      guard page.level == 1, page.firstChild == rows.count else { throw snapshot.damagedPage(block, tree, number) }
      var entries = page.entries()
      while entries.next() {
        prefixes.append(Self.prefix(of: entries.key))
        keys.append(entries.key)
        keyEnds.append(UInt32(truncatingIfNeeded: keys.count))
        rows.append(entries.firstRow)
        rowCounts.append(rowCounts[rowCounts.count - 1] + entries.rowCount)
      }
      guard entries.isAtEnd, rows.count <= tree.leafCount, keys.count <= UInt32.max else {
        throw snapshot.damagedPage(block, tree, number)
      }
      number += 1
    }
    self.prefixes = prefixes
    self.keys = keys
    self.keyEnds = keyEnds
    self.rows = rows
    self.rowCounts = rowCounts
  }

  /// Returns the number of the leaf that has the first pair at or after a gap, if the tree has one, or the leaf before
  /// it.
  ///
  /// - Complexity: O(log n) for n leaves.
  func leaf(at gap: OrderedGap) -> Int {
    if gap.isAtEnd { return rows.count - 1 }
    let key = gap.key.rawSpan
    let prefix = Self.prefix(of: key)
    let next = (1..<rows.count).partitioningIndex { leaf in
      prefixes[leaf] != prefix ? prefixes[leaf] > prefix : begins(leaf, after: key, gap.row)
    }
    return next - 1
  }

  /// Returns the number of rows in all leaves before a leaf.
  func rowCount(before leaf: Int) -> Int { rowCounts[leaf] }

  private func begins(_ leaf: Int, after key: RawSpan, _ row: UInt64) -> Bool {
    let start = Int(keyEnds[leaf - 1])
    let keys = keys
    let order = keys.rawSpan.slice(start, Int(keyEnds[leaf]) - start).compare(to: key)
    return order != 0 ? order > 0 : UInt64(rows[leaf]) > row
  }

  /// Two keys whose prefixes differ are in the order of these.
  private static func prefix(of key: RawSpan) -> UInt64 {
    var prefix: UInt64 = 0
    for index in 0..<min(8, key.byteCount) { prefix |= UInt64(key.u8(at: index)) << UInt64(56 - 8 * index) }
    return prefix
  }
}

/// The directories of the trees of a log.
final class OrderedDirectories: Sendable {
  private enum Entry {
    /// The number of seeks so far.
    case wanted(Int)
    case made(OrderedDirectory)
  }

  /// The seeks in a tree after which it gets a directory. A program that looks for one thing needs none.
  private static let seekCount = 16
  /// The number of trees after which all are forgotten: those of blocks that were merged among them.
  private static let limit = 256

  /// By the offset of the tree in the log.
  private let entries = Mutex<[Int: Entry]>([:])

  /// Returns the directory of a tree; `nil` if it has none.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  func directory(
    _ snapshot: Snapshot, _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree
  ) throws(StoreError) -> OrderedDirectory? {
    if tree.levels < 2 { return nil }
    let offset = block.offset + tree.start
    let known = entries.withLock { entries -> (directory: OrderedDirectory?, isWanted: Bool) in
      switch entries[offset] {
      case .made(let directory): return (directory, false)
      case .wanted(let count) where count >= Self.seekCount: return (nil, true)
      case .wanted(let count):
        entries[offset] = .wanted(count + 1)
        return (nil, false)
      case nil:
        if entries.count >= Self.limit { entries.removeAll() }
        entries[offset] = .wanted(1)
        return (nil, false)
      }
    }
    guard known.isWanted else { return known.directory }
    // Several threads may make it at once, and all make the same.
    let made = try OrderedDirectory(snapshot, block, tree)
    entries.withLock { $0[offset] = .made(made) }
    return made
  }
}
