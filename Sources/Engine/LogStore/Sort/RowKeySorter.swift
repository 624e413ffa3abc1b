import Bytes

/// A top-*k* sorter: sorts rows by byte keys, and keeps only as many as are needed.
///
/// The keys are stored consecutively in one buffer. When there are about twice as many as needed, they are sorted and
/// truncated. From then on, a row that does not precede the last remaining one is skipped.
package struct RowKeySorter {
  private struct Entry {
    /// The first eight bytes of the key as a number. They decide most comparisons.
    var head: UInt64
    var start: Int
    var count: Int
    var number: UInt64
  }

  private let wanted: Int
  private let capacity: Int
  private var entries: [Entry] = []
  /// The last remaining entry, once the sorter was truncated.
  private var last: Entry?

  /// The keys. To add a row, append its key and call ``add(_:keyAt:)``; nothing else may change the buffer.
  package var keys: [UInt8] = []

  /// Creates a sorter.
  ///
  /// - Parameter wanted: The maximum number of rows; at least one.
  package init(wanted: Int) {
    self.wanted = wanted
    capacity = wanted < Int.max / 4 ? 2 * wanted + 1000 : .max
  }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - start: The offset of its key, which extends to the end of ``keys``.
  package mutating func add(_ row: RowID, keyAt start: Int) { add(number: row.number, keyAt: start) }

  /// Adds a row, or anything else that a number identifies. The number orders rows with equal keys.
  package mutating func add(number: UInt64, keyAt start: Int) {
    let head = keys.rawSpan.bigEndianHead(at: start)
    let entry = Entry(head: head, start: start, count: keys.count - start, number: number)
    if let last, !Self.precedes(entry, last, keys.rawSpan) {
      keys.removeLast(entry.count)
      return
    }
    entries.append(entry)
    if entries.count == capacity { truncate() }
  }

  /// The sorted rows, up to the maximum. Rows with equal keys keep the order of the file.
  package mutating func rows() -> [RowID] { numbers().map(RowID.init) }

  /// The numbers of the sorted rows, up to the maximum.
  package mutating func numbers() -> [UInt64] {
    sort()
    return entries.prefix(wanted).map(\.number)
  }

  private mutating func sort() {
    let keys = keys
    entries.sort { Self.precedes($0, $1, keys.rawSpan) }
  }

  /// Removes the rows beyond the maximum, and their keys.
  private mutating func truncate() {
    sort()
    entries.removeLast(entries.count - wanted)
    var kept: [UInt8] = []
    for index in entries.indices {
      let start = kept.count
      kept.append(contentsOf: keys[entries[index].start..<entries[index].start + entries[index].count])
      entries[index].start = start
    }
    keys = kept
    last = entries.last
  }

  private static func precedes(_ a: Entry, _ b: Entry, _ keys: RawSpan) -> Bool {
    if a.head != b.head { return a.head < b.head }
    var offset = 8
    let common = min(a.count, b.count)
    while offset < common {
      let mine = keys.u8(at: a.start + offset)
      let other = keys.u8(at: b.start + offset)
      if mine != other { return mine < other }
      offset += 1
    }
    return a.count == b.count ? a.number < b.number : a.count < b.count
  }
}
