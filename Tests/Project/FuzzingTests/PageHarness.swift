import Bytes
@testable import LogStore
@testable import RecordFormat

/// A page of an ordered block, with any bytes under a checksum that fits. If no rule of the format is broken, each
/// entry is found by its key and first row.
@Sendable func fuzzPage(_ bytes: [UInt8]) {
  var page = Array(bytes.prefix(OrderedPage.byteCount))
  page.append(contentsOf: repeatElement(0, count: max(64, (page.count + 63) / 64 * 64) - page.count))
  let unit = UnitOffset(byteOffset: 1 << 20)
  page.storeChecksum(of: 4, page.count - 4, salt: Checksum.salt(unit), at: 0)
  guard let ordered = OrderedPage(page.rawSpan) else { return }
  for restart in 0..<ordered.restartCount {
    var entries = ordered.entries(fromRestart: restart)
    while entries.next() { require(entries.key.byteCount <= OrderedPage.maximumKeyLength, "page: a key is too long") }
  }
  let key = Array(bytes.suffix(3))
  _ = ordered.lastEntry(notAfter: key.rawSpan, 7)
  var leaf = OrderedLeaf()
  _ = leaf.read(ordered)
  let tree = OrderedBlockHeader.Tree(start: 0, lineCount: page.count / 64, leafCount: 1, levels: 1)
  var check = OrderedTreeCheck(tree)
  guard (try? check.run(block: unit, read: { Array(page[$0..<$0 + $1]) }, visit: { _, _ in })) != nil else { return }
  require(leaf.entryCount == ordered.entryCount && leaf.rowCount == check.rowCount, "page: entries are missing")
  for entry in 0..<leaf.entryCount {
    let range = leaf.rowRange(entry)
    let found = ordered.lastEntry(notAfter: leaf.key(entry), leaf.row(range.lowerBound))
    require(found == entry, "page: entry \(entry) is not found by its key")
    let gap = OrderedGap.before(leaf.key(entry).copied(), RowID(UnitOffset(rawValue: leaf.row(range.lowerBound))))
    require(leaf.rowCount(before: gap) == range.lowerBound, "page: a gap is elsewhere")
  }
}
