import Bytes
import DocumentFormat
import LogStore

/// Sorts rows by the sort keys of their documents, and keeps no more of them than are wanted.
///
/// The sort keys lie one after another in one buffer. When there are twice as many as are wanted, they are sorted and cut; from
/// then on a document that does not precede the last one kept is skipped.
struct RowSorter {
  private struct Entry {
    /// The first eight bytes of the key as a number: most comparisons end here.
    var head: UInt64
    var start: Int
    var count: Int
    var row: RowID
  }

  private let ordering: Ordering
  private let wanted: Int
  private let capacity: Int
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// The last one that is kept, once there are enough.
  private var last: Entry?

  /// - Parameter wanted: at least one.
  init(_ ordering: Ordering, wanted: Int) {
    self.ordering = ordering
    self.wanted = wanted
    capacity = wanted < Int.max / 4 ? 2 * wanted + 1000 : .max
  }

  mutating func add(_ row: RowID, _ document: borrowing DocumentView) throws(DocumentError) {
    let start = bytes.count
    try ordering.appendSortKey(of: document, to: &bytes)
    let entry = Entry(
      head: bytes.rawSpan.head(at: start), start: start, count: bytes.count - start, row: row)
    if let last, !Self.precedes(entry, last, bytes.rawSpan) {
      bytes.removeLast(entry.count)
      return
    }
    entries.append(entry)
    if entries.count == capacity { cut() }
  }

  /// The rows in order, as many as are wanted. Documents that are equal come in the order of the file.
  mutating func rows() -> [RowID] {
    sort()
    return entries.prefix(wanted).map(\.row)
  }

  private mutating func sort() {
    let bytes = bytes
    entries.sort { Self.precedes($0, $1, bytes.rawSpan) }
  }

  /// Drops the rows that are not wanted, and their keys.
  private mutating func cut() {
    sort()
    entries.removeLast(entries.count - wanted)
    var kept: [UInt8] = []
    for index in entries.indices {
      let start = kept.count
      kept.append(contentsOf: bytes[entries[index].start..<entries[index].start + entries[index].count])
      entries[index].start = start
    }
    bytes = kept
    last = entries.last
  }

  private static func precedes(_ a: Entry, _ b: Entry, _ bytes: RawSpan) -> Bool {
    if a.head != b.head { return a.head < b.head }
    var offset = 8
    let common = min(a.count, b.count)
    while offset < common {
      let mine = bytes.u8(at: a.start + offset)
      let other = bytes.u8(at: b.start + offset)
      if mine != other { return mine < other }
      offset += 1
    }
    return a.count == b.count ? a.row < b.row : a.count < b.count
  }
}

extension RawSpan {
  /// The eight bytes from `start` on as a big-endian number, padded with zeros.
  fileprivate func head(at start: Int) -> UInt64 {
    if byteCount - start >= 8 { return u64(at: start).byteSwapped }
    var head: UInt64 = 0
    for offset in start..<byteCount { head |= UInt64(u8(at: offset)) << (56 - 8 * UInt64(offset - start)) }
    return head
  }
}
