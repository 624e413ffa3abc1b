import Bytes
import RecordFormat

/// A check of all rules of FORMAT.md for one tree of an ordered block, page by page.
struct OrderedTreeCheck {
  /// The part of the tree below a page.
  private struct Part {
    var firstKey: [UInt8]
    var firstRow: UInt32
    var lastKey: [UInt8]
    var lastRow: UInt32
    var rowCount: Int
  }

  /// A rule that is broken.
  struct Fault: Error {
    /// The offset after the header of the block.
    let offset: Int
    let what: String
  }

  /// Returns the plain form of a sealed page whose checksum is valid; `nil` if it is not genuine.
  typealias PageOpening = ([UInt8], UnitOffset) -> [UInt8]?

  private let tree: OrderedBlockHeader.Tree
  private(set) var entryCount = 0
  private(set) var rowCount = 0
  private var leaf = OrderedLeaf()

  init(_ tree: OrderedBlockHeader.Tree) { self.tree = tree }

  /// Checks the tree.
  ///
  /// - Parameters:
  ///   - block: The unit offset of the block's header.
  ///   - read: Returns bytes at an offset after the start of the block's header.
  ///   - open: Opens pages; `nil` in a clear log.
  ///   - visit: A closure that is called with the number and entries of each leaf, in order.
  /// - Throws: ``Fault``, or the error of `read`.
  mutating func run(
    block: UnitOffset, read: (Int, Int) throws -> [UInt8], open: PageOpening? = nil,
    visit: (Int, OrderedLeaf) throws -> Void
  ) throws {
    func readPage(_ place: (start: Int, byteCount: Int)) throws -> [UInt8] {
      let stored = try read(place.start, place.byteCount)
      let unit = UnitOffset(byteOffset: block.byteOffset + place.start)
      guard Checksum.isValid(stored.rawSpan, at: unit) else { throw Fault(offset: place.start, what: "checksum") }
      guard let open else { return stored }
      guard let plain = open(stored, unit) else {
        throw Fault(offset: place.start, what: "it is not what was sealed here")
      }
      return plain
    }
    var parts: [Part] = []
    for number in 0..<tree.leafCount {
      let place = tree.page(number)
      let bytes = try readPage(place)
      let page = try checked(bytes.rawSpan, place.start, level: 0)
      guard page.firstChild == 0 else { throw Fault(offset: place.start, what: "reserved bytes are not zero") }
      guard leaf.read(page) else { throw Fault(offset: place.start, what: "its entries contradict each other") }
      let part = try checkedLeaf(place.start, after: parts.last)
      try visit(number, leaf)
      entryCount += leaf.entryCount
      rowCount += part.rowCount
      parts.append(part)
    }
    var firstPage = 0
    var level = 1
    while parts.count > 1 {
      var parents: [Part] = []
      var next = 0
      var number = firstPage + parts.count
      while next < parts.count {
        guard number < tree.pageCount else { throw Fault(offset: tree.start, what: "it ends before its root") }
        let place = tree.page(number)
        let bytes = try readPage(place)
        let page = try checked(bytes.rawSpan, place.start, level: level)
        guard page.firstChild == firstPage + next else {
          throw Fault(offset: place.start, what: "it does not lead to the pages that follow those before it")
        }
        parents.append(try checkedParent(page, place.start, parts, &next))
        number += 1
      }
      firstPage += parts.count
      parts = parents
      level += 1
    }
    guard level == tree.levels, firstPage + 1 == tree.pageCount else {
      throw Fault(offset: tree.start, what: "a tree of \(level) levels and \(firstPage + 1) pages")
    }
  }

  @_lifetime(copy bytes)
  private func checked(
    _ bytes: RawSpan, _ start: Int, level: Int
  ) throws(Fault) -> OrderedPage {
    guard let page = OrderedPage(bytes) else { throw Fault(offset: start, what: "its header contradicts itself") }
    guard page.level == level else { throw Fault(offset: start, what: "level \(page.level) instead of \(level)") }
    guard bytes.u8(at: 5) == 0, bytes.u16(at: 10) == 0, bytes.slice(page.end, page.restarts - page.end).isZero(from: 0)
    else { throw Fault(offset: start, what: "reserved bytes are not zero") }
    var entries = page.entries()
    var position = OrderedPage.firstEntry
    for number in 0..<page.entryCount {
      if number % OrderedPage.restartInterval == 0,
        page.restart(number / OrderedPage.restartInterval) != position
      {
        throw Fault(offset: start, what: "the offset of its entry \(number)")
      }
      guard entries.next() else { throw Fault(offset: start, what: "its entry \(number)") }
      position = entries.position
    }
    guard position == page.end else { throw Fault(offset: start, what: "the end of its entries") }
    return page
  }

  private func checkedLeaf(_ start: Int, after last: Part?) throws(Fault) -> Part {
    var key = last?.lastKey ?? []
    var row = last?.lastRow ?? 0
    var isFirst = last == nil
    for entry in 0..<leaf.entryCount {
      let range = leaf.rowRange(entry)
      let own = leaf.key(entry).copied()
      let order = own.rawSpan.compare(to: key.rawSpan)
      guard isFirst || order > 0 || order == 0 && leaf.rows[range.lowerBound] > row else {
        throw Fault(offset: start, what: "its entry \(entry) does not follow the one before it")
      }
      isFirst = false
      key = own
      row = leaf.rows[range.upperBound - 1]
    }
    return Part(
      firstKey: leaf.key(0).copied(), firstRow: leaf.rows[0], lastKey: key, lastRow: row, rowCount: leaf.rowCount)
  }

  /// Checks the entries of a page above the leaves against the parts to which they lead.
  private func checkedParent(
    _ page: OrderedPage, _ start: Int, _ parts: [Part], _ next: inout Int
  ) throws(Fault) -> Part {
    let first = next
    var rows = 0
    var entries = page.entries()
    while entries.next() {
      guard next < parts.count else { throw Fault(offset: start, what: "it leads to pages that are not there") }
      let part = parts[next]
      let key = entries.key.copied()
      let isReached = !Self.precedes(part.firstKey, part.firstRow, key, entries.firstRow)
      let isAfter = next == 0 || Self.precedes(parts[next - 1].lastKey, parts[next - 1].lastRow, key, entries.firstRow)
      guard isReached, isAfter else {
        throw Fault(offset: start, what: "its entry \(entries.index) does not lead to the keys from its own on")
      }
      guard entries.rowCount == part.rowCount else {
        throw Fault(
          offset: start, what: "its entry \(entries.index) counts \(entries.rowCount) rows instead of \(part.rowCount)")
      }
      rows += part.rowCount
      next += 1
    }
    return Part(
      firstKey: parts[first].firstKey, firstRow: parts[first].firstRow, lastKey: parts[next - 1].lastKey,
      lastRow: parts[next - 1].lastRow, rowCount: rows)
  }

  private static func precedes(_ a: [UInt8], _ aRow: UInt32, _ b: [UInt8], _ bRow: UInt32) -> Bool {
    let order = a.rawSpan.compare(to: b.rawSpan)
    return order != 0 ? order < 0 : aRow < bRow
  }
}
