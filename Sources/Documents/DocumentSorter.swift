import Bytes
import DocumentFormat

/// A top-*k* sorter: sorts documents by their sort keys, and keeps only as many as are needed.
///
/// The sort keys are stored consecutively in one buffer. When there are about twice as many as needed, they are sorted
/// and truncated. From then on, a document that does not precede the last remaining one is skipped.
struct DocumentSorter {
  private struct Entry {
    /// The first eight bytes of the key as a number. They decide most comparisons.
    var head: UInt64
    var start: Int
    var count: Int
    var found: FoundDocument
  }

  private let ordering: Ordering
  private let wanted: Int
  private let capacity: Int
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// The last remaining entry, once the sorter was truncated.
  private var last: Entry?

  /// Creates a sorter.
  ///
  /// - Parameter wanted: The maximum number of documents; at least one.
  init(_ ordering: Ordering, wanted: Int) {
    self.ordering = ordering
    self.wanted = wanted
    capacity = wanted < Int.max / 4 ? 2 * wanted + 1000 : .max
  }

  mutating func add(_ found: FoundDocument, _ document: borrowing DocumentView) throws(DocumentError) {
    let start = bytes.count
    try ordering.appendSortKey(of: document, to: &bytes)
    let entry = Entry(
      head: bytes.rawSpan.head(at: start), start: start, count: bytes.count - start, found: found)
    if let last, !Self.precedes(entry, last, bytes.rawSpan) {
      bytes.removeLast(entry.count)
      return
    }
    entries.append(entry)
    if entries.count == capacity { truncate() }
  }

  /// The sorted documents, up to the maximum. Those with equal sort keys keep the order of the file.
  mutating func documents() -> [FoundDocument] {
    sort()
    return entries.prefix(wanted).map(\.found)
  }

  private mutating func sort() {
    let bytes = bytes
    entries.sort { Self.precedes($0, $1, bytes.rawSpan) }
  }

  /// Removes the documents beyond the maximum, and their keys.
  private mutating func truncate() {
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
    return a.count == b.count ? a.found < b.found : a.count < b.count
  }
}

extension RawSpan {
  /// The eight bytes at `start` as a big-endian number, padded with zeros.
  fileprivate func head(at start: Int) -> UInt64 {
    if byteCount - start >= 8 { return u64(at: start).byteSwapped }
    var head: UInt64 = 0
    for offset in start..<byteCount { head |= UInt64(u8(at: offset)) << (56 - 8 * UInt64(offset - start)) }
    return head
  }
}
