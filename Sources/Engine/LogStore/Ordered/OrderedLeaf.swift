import Bytes
import RecordFormat

/// The entries of a leaf of an ordered block, read into memory. It is reused from leaf to leaf.
///
/// Merges and checks read whole leaves. A cursor reads an `OrderedGroup` at a time.
struct OrderedLeaf {
  /// The keys of all entries, one after another, and room for more.
  private var keys: [UInt8] = []
  private var keyEnds: [Int] = []
  /// The rows of all entries, one after another, those of each entry in ascending order.
  private(set) var rows: [UInt32] = []
  private var rowEnds: [Int] = []

  var entryCount: Int { keyEnds.count }
  var rowCount: Int { rows.count }

  /// Reads a page. Returns whether its entries are valid.
  mutating func read(_ page: OrderedPage) -> Bool { page.readEntries(&keys, &keyEnds, &rows, &rowEnds) }

  /// Returns the key of an entry.
  @_lifetime(borrow self)
  func key(_ entry: Int) -> RawSpan {
    let start = entry == 0 ? 0 : keyEnds[entry - 1]
    return keys.rawSpan.slice(start, keyEnds[entry] - start)
  }

  /// Replaces `key` by the key of an entry.
  func copyKey(_ entry: Int, to key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    key.append(self.key(entry))
  }

  /// Returns the row at a position in ``rows``.
  @inline(__always)
  func row(_ position: Int) -> UInt32 { rows[position] }

  /// Returns the range of an entry's rows in ``rows``.
  func rowRange(_ entry: Int) -> Range<Int> { (entry == 0 ? 0 : rowEnds[entry - 1])..<rowEnds[entry] }

  /// Returns the number of rows, in this leaf, before the first pair of a key and a row that does not precede `gap`.
  func rowCount(before gap: OrderedGap) -> Int {
    // The first entry whose last row is not before the gap.
    let entry = keyEnds.indices.partitioningIndex { !gap.follows(key($0), rows[rowEnds[$0] - 1]) }
    guard entry < entryCount else { return rows.count }
    let range = rowRange(entry)
    guard key(entry).hasSameBytes(as: gap.key.rawSpan) else { return range.lowerBound }
    return range.partitioningIndex { UInt64(rows[$0]) >= gap.row }
  }

  /// Returns the number of the entry to which the row at `position` in ``rows`` belongs.
  func entry(ofRowAt position: Int) -> Int {
    rowEnds.indices.partitioningIndex { rowEnds[$0] > position }
  }
}

/// A place between two pairs of a key and a row in an ordered index: before everything, after everything, or next to a
/// key or a row.
public struct OrderedGap: Sendable {
  /// The key and row of the pair that would follow the gap.
  let key: [UInt8]
  /// One more than any row has if the gap follows all rows of its key.
  let row: UInt64
  let isAtEnd: Bool

  private init(_ key: [UInt8], _ row: UInt64, isAtEnd: Bool = false) {
    self.key = key
    self.row = row
    self.isAtEnd = isAtEnd
  }

  /// Before everything.
  public static let start = OrderedGap([], 0)
  /// After everything.
  public static let end = OrderedGap([], 0, isAtEnd: true)

  /// Before the rows of `key`, which need not exist.
  public static func before(_ key: [UInt8]) -> OrderedGap { OrderedGap(key, 0) }

  /// After the rows of `key`, which need not exist.
  public static func after(_ key: [UInt8]) -> OrderedGap { OrderedGap(key, 1 << 32) }

  /// After all keys that begin with `prefix`.
  public static func afterPrefix(_ prefix: [UInt8]) -> OrderedGap { KeyRange(prefix: prefix).end }

  /// Before one row of `key`, which need not exist.
  public static func before(_ key: [UInt8], _ row: RowID) -> OrderedGap { OrderedGap(key, UInt64(row.rawValue)) }

  /// After one row of `key`, which need not exist.
  public static func after(_ key: [UInt8], _ row: RowID) -> OrderedGap { OrderedGap(key, UInt64(row.rawValue) + 1) }

  /// Whether the pair of a key and a row precedes the gap.
  @inline(__always)
  func follows(_ key: RawSpan, _ row: UInt32) -> Bool {
    if isAtEnd { return true }
    let order = key.compare(to: self.key.rawSpan)
    return order != 0 ? order < 0 : UInt64(row) < self.row
  }
}
