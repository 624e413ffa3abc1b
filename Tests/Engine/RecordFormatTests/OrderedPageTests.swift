import Bytes
import RandomTestSupport
import Testing

@testable import RecordFormat

/// Pages of ordered blocks at every boundary of their format.
@Suite struct OrderedPageTests {
  private struct Entry: Equatable {
    var key: [UInt8]
    var rows: [UInt32]
  }

  private static let unit = UnitOffset(byteOffset: 64 * 1000)

  /// Builds a leaf from entries that must all fit.
  private func leaf(_ entries: [Entry], isRoot: Bool = true) -> [UInt8] {
    var builder = OrderedPageBuilder(level: 0)
    for entry in entries {
      let taken = builder.append(entry.key.rawSpan, entry.rows.span)
      #expect(taken == entry.rows.count)
    }
    var pages: [UInt8] = []
    builder.finish(into: &pages, at: Self.unit, firstChild: 0, isRoot: isRoot)
    return pages
  }

  private func entries(_ bytes: [UInt8]) -> [Entry]? {
    guard let page = OrderedPage(bytes.rawSpan) else { return nil }
    var keys: [UInt8] = []
    var (keyEnds, rowEnds): ([Int], [Int]) = ([], [])
    var rows: [UInt32] = []
    guard page.readEntries(&keys, &keyEnds, &rows, &rowEnds) else { return nil }
    return keyEnds.indices.map { index in
      Entry(
        key: Array(keys[(index == 0 ? 0 : keyEnds[index - 1])..<keyEnds[index]]),
        rows: Array(rows[(index == 0 ? 0 : rowEnds[index - 1])..<rowEnds[index]]))
    }
  }

  /// The entries as groups have them, which are read last to first into one buffer; `nil` if one is not valid.
  private func groupedEntries(_ bytes: [UInt8]) -> [Entry]? {
    guard let page = OrderedPage(bytes.rawSpan) else { return nil }
    var group = OrderedGroup()
    var entries: [Entry] = []
    for number in (0..<page.restartCount).reversed() {
      guard group.read(page, number) else { return nil }
      var own: [Entry] = []
      for entry in 0..<group.entryCount {
        var key = [UInt8](repeating: 0, count: OrderedPage.maximumKeyLength)
        let count = group.copyKey(entry, over: &key)
        var rows: [UInt32] = []
        for position in group.rowRange(entry) {
          rows.append(group.row(position))
          let found = group.entry(ofRowAt: position)
          #expect(found == entry)
        }
        own.append(Entry(key: Array(key.prefix(count)), rows: rows))
      }
      entries = own + entries
    }
    return entries
  }

  @Test(arguments: [0, 1, 13, 14, 15, 16, 17, 254, 255], [0, 1, 14, 15, 16, 31, 254])
  func `a key is read back whatever it shares with the one before it`(_ length: Int, _ shared: Int) {
    guard shared < length || length == 0 else { return }
    let first = Entry(key: [UInt8](repeating: 7, count: length == 0 ? 0 : shared), rows: [5])
    var second = first.key
    while second.count < max(1, length) { second.append(UInt8(8 + second.count % 100)) }
    let entries = [first, Entry(key: second, rows: [9, 10])]
    let bytes = leaf(entries)
    #expect(self.entries(bytes) == entries && groupedEntries(bytes) == entries)
    #expect(bytes.count % 64 == 0)
    let isValid = Checksum.isValid(bytes.rawSpan, at: Self.unit)
    let isValidElsewhere = Checksum.isValid(bytes.rawSpan, at: UnitOffset(byteOffset: Self.unit.byteOffset + 64))
    #expect(isValid && !isValidElsewhere)
  }

  @Test(arguments: [1, 15, 16, 17, 31, 32, 33, 200])
  func `every entry is found from its restart`(_ count: Int) {
    let all = (0..<count).map { Entry(key: Array("key \(1000 + $0)".utf8), rows: [UInt32(7 * $0 + 1)]) }
    let bytes = leaf(all)
    #expect(entries(bytes) == all && groupedEntries(bytes) == all)
    guard let page = OrderedPage(bytes.rawSpan) else {
      Issue.record("the page contradicts itself")
      return
    }
    #expect(page.restartCount == (count + 15) / 16 && page.entryCount == count)
    for (index, entry) in all.enumerated() {
      let restart = page.lastRestart(notAfter: entry.key.rawSpan, entry.rows[0])
      let own = page.lastEntry(notAfter: entry.key.rawSpan, entry.rows[0])
      // Before its row, and right after its key.
      let before = page.lastEntry(notAfter: entry.key.rawSpan, entry.rows[0] - 1)
      let next = entry.key + [0]
      let after = page.lastEntry(notAfter: next.rawSpan, 0)
      #expect(restart == index / 16 && own == index && before == max(0, index - 1) && after == index)
    }
  }

  @Test func `rows go down and up by any difference`() {
    let rows: [UInt32] = [.max, 1, 2, .max - 1, 5, 5, 0x8000_0000, 3]
    let all = rows.enumerated().map { Entry(key: [UInt8($0)], rows: [$1]) }
    #expect(entries(leaf(all)) == all)
    let wide = Entry(key: [1], rows: [0, 1, 128, 129, 1 << 14 + 129, 1 << 31, .max])
    #expect(entries(leaf([wide, Entry(key: [2], rows: [0])])) == [wide, Entry(key: [2], rows: [0])])
  }

  @Test(arguments: [(1, 513), (127, 513), (128, 257), (1 << 14, 171)])
  func `further rows fill 512 bytes and no more`(_ step: Int, _ expected: Int) {
    let rows = (0..<1000).map { UInt32(10 + step * $0) }
    var builder = OrderedPageBuilder(level: 0)
    let key: [UInt8] = [1, 2, 3]
    let first = builder.append(key.rawSpan, rows.span)
    let second = builder.append(key.rawSpan, rows.span.extracting(expected..<1000))
    #expect(first == expected && second == min(expected, 1000 - expected))
    var bytes: [UInt8] = []
    builder.finish(into: &bytes, at: Self.unit, firstChild: 0, isRoot: false)
    #expect(bytes.count == OrderedPage.byteCount)
    let read = entries(bytes)
    #expect(read?.map(\.key) == [key, key])
    #expect(read.map { $0.flatMap(\.rows) } == Array(rows.prefix(expected + min(expected, 1000 - expected))))
  }

  @Test func `a page takes entries until it is full, and never more than it has room for`() {
    var random = SeededGenerator(for: "OrderedPageTests, full")
    for round in 0..<(60 * depth) {
      let longest = [3, 14, 40, 255][round % 4]
      var keys = Set<[UInt8]>()
      while keys.count < 700 { keys.insert(random.bytes(Int.random(in: 0...longest, using: &random))) }
      var builder = OrderedPageBuilder(level: round % 3)
      var taken: [Entry] = []
      var counts: [Int] = []
      for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        let row = UInt32.random(in: 0...(.max), using: &random)
        if round % 3 == 0 {
          let more = row < 1 << 31 ? UInt32.random(in: 1...300, using: &random) : 1
          let rows = (0..<more).map { row + 3 * $0 }
          let count = builder.append(key.rawSpan, rows.span)
          if count == 0 { break }
          taken.append(Entry(key: key, rows: Array(rows.prefix(count))))
        } else {
          let count = Int.random(in: 0...Int(UInt32.max), using: &random)
          if !builder.append(key.rawSpan, row, rowCount: count) { break }
          taken.append(Entry(key: key, rows: [row]))
          counts.append(count)
        }
      }
      var bytes: [UInt8] = []
      builder.finish(into: &bytes, at: Self.unit, firstChild: 3, isRoot: round % 2 == 0)
      #expect(bytes.count <= OrderedPage.byteCount && bytes.count % 64 == 0)
      guard let page = OrderedPage(bytes.rawSpan) else {
        Issue.record("the page contradicts itself")
        continue
      }
      #expect(page.firstChild == 3 && page.level == round % 3 && page.entryCount == taken.count)
      if round % 3 == 0 {
        #expect(entries(bytes) == taken && groupedEntries(bytes) == taken)
      } else {
        var read = page.entries()
        for (entry, count) in zip(taken, counts) {
          let isThere = read.next()
          let key = read.key.copied()
          #expect(isThere && key == entry.key && read.firstRow == entry.rows[0] && read.rowCount == count)
        }
        let isMore = read.next()
        #expect(!isMore && read.isAtEnd)
      }
    }
  }

  @Test func `a page whose header contradicts itself is none`() {
    let bytes = leaf([Entry(key: [1], rows: [1]), Entry(key: [2], rows: [2])])
    let isShort = OrderedPage(bytes.rawSpan.slice(0, OrderedPage.firstEntry)) == nil
    #expect(isShort)
    for (offset, value) in [(6, UInt16(0)), (6, .max), (8, 16), (8, 0), (8, .max), (8, 63)] {
      var lying = bytes
      lying[offset] = UInt8(truncatingIfNeeded: value)
      lying[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
      let isRefused = OrderedPage(lying.rawSpan) == nil
      #expect(isRefused, "\(offset): \(value)")
    }
  }

  @Test func `whatever the bytes of a page are, reading it ends with an answer`() {
    var random = SeededGenerator(for: "OrderedPageTests, bytes")
    for round in 0..<(4000 * depth) {
      var builder = OrderedPageBuilder(level: round % 2)
      for number in 0..<Int.random(in: 1...60, using: &random) {
        let key = [UInt8(number)] + [UInt8](repeating: 1, count: Int.random(in: 0...20, using: &random))
        let rows = (0..<UInt32.random(in: 1...4, using: &random)).map { UInt32(100 * number) + 50 * $0 }
        if round % 2 == 0 {
          _ = builder.append(key.rawSpan, rows.span)
        } else {
          _ = builder.append(key.rawSpan, rows[0], rowCount: rows.count)
        }
      }
      var bytes: [UInt8] = []
      builder.finish(into: &bytes, at: Self.unit, firstChild: 0, isRoot: Bool.random(using: &random))
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let offset =
          Bool.random(using: &random)
          ? Int.random(in: 4..<80, using: &random) % bytes.count : Int.random(in: 4..<bytes.count, using: &random)
        bytes[offset] = [0, 1, 0x0F, 0x7F, 0x80, 0xF0, 0xFF, UInt8(round & 0xFF)].randomElement(using: &random)!
      }
      guard let page = OrderedPage(bytes.rawSpan) else { continue }
      if let all = entries(bytes), let grouped = groupedEntries(bytes) { #expect(all == grouped) }
      let key = random.bytes(Int.random(in: 0...5, using: &random))
      _ = page.lastEntry(notAfter: key.rawSpan, UInt32(truncatingIfNeeded: random.next()))
      var total = 0
      for restart in 0..<page.restartCount {
        var entries = page.entries(fromRestart: restart)
        while entries.next() { total += entries.rowCount }
      }
    }
  }

  private func header() -> OrderedBlockHeader {
    var header = OrderedBlockHeader(levels: 2, lineCount: 100, entryCount: 900, mainLineCount: 65, leafCount: 2)
    header.fragmentLeafCount = 1
    header.fragmentLevels = 1
    return header
  }

  @Test func `a block header is read back, and its trees are where it says`() throws {
    let header = header()
    let bytes = header.encoded(at: Self.unit)
    let read = try OrderedBlockHeader(bytes.rawSpan, at: Self.unit)
    #expect(read == header)
    #expect(read.mainTree.pageCount == 3 && read.mainTree.page(2) == (64 + 4096, 64))
    #expect(read.fragmentTree?.start == 64 + 65 * 64 && read.fragmentTree?.pageCount == 2)
    #expect(throws: FormatFault.self) { try OrderedBlockHeader(bytes.rawSpan, at: UnitOffset(byteOffset: 64)) }
    #expect(throws: FormatFault.self) { try BlockHeader(bytes.rawSpan, at: Self.unit) }
  }

  @Test(arguments: [
    (8, 0, 1), (8, 1, 1), (8, 3, 1), (9, 1, 1), (10, 0, 2), (10, 1, 2), (12, 64, 4), (12, 65, 4), (20, 0, 4),
    (20, 101, 4), (20, 100, 4), (24, 0, 4), (24, 4, 4), (24, 1, 4), (28, 0, 4), (28, 3, 4), (32, 0, 2), (34, 1, 1),
    (59, 1, 1),
  ])
  func `a block header that contradicts itself is refused`(_ offset: Int, _ value: Int, _ count: Int) {
    var bytes = header().encoded(at: Self.unit)
    for byte in 0..<count { bytes[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    bytes.store(Checksum.of(bytes.rawSpan.slice(0, 60), from: Checksum.salt(Self.unit)), at: 60)
    #expect(throws: FormatFault.self) { try OrderedBlockHeader(bytes.rawSpan, at: Self.unit) }
  }
}
