import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

@testable import LogStore

/// Ordered blocks that say what is not so, under checksums that hold.
@Suite(.disabled(if: testsAreSealed, "it forges what is in clear")) struct OrderedLieTests {
  /// A store whose index of codes has two levels in the base, and another block in the tail.
  private static func sample() throws -> ForgedLog {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { transaction in
      for id in 0..<260 {
        let code = "\(1000 + (id * 77) % 260), a code that is so long that a page has few"
        try transaction.put("\(id)", code, shared: ["brand"], body: "body \(id % 7)")
      }
      try transaction.put(1, TestRow("from", "to"))
    }
    _ = try writer.commit { transaction in
      for id in 300..<304 { try transaction.put("\(id)", "code", shared: ["brand"], body: "body \(id % 7)") }
      try transaction.delete(TestSchema.id, "7")
    }
    writer.close()
    return try ForgedLog(store.log)
  }

  /// A change of a log, and what a finding says of it.
  struct Lie: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let what: String
    let change: @Sendable (inout ForgedLog) throws -> Void

    init(_ name: String, _ what: String, _ change: @escaping @Sendable (inout ForgedLog) throws -> Void) {
      testDescription = name
      self.what = what
      self.change = change
    }

    /// A lie about the entries of the last leaf of the codes, which has room.
    init(leaf name: String, _ what: String, _ change: @escaping @Sendable (inout [[UInt32]], ForgedLog) -> Void) {
      self.init(name, what) { log in
        let block = try log.codes()
        let page = block.mainPages[Int(block.header.leafCount) - 1]
        let entries = log.entries(page)
        var rows = entries.map(\.rows)
        change(&rows, log)
        log.rebuild(page, zip(entries, rows).map { ($0.key, $1) })
      }
    }

    /// A lie of the root of the codes.
    init(
      root name: String, _ what: String,
      _ change: @escaping @Sendable (inout [ForgedLog.OrderedEntry], inout Int, inout Int) -> Void
    ) {
      self.init(name, what) { log in
        let page = try #require(log.codes().mainPages.last)
        var entries = log.entries(page)
        var (level, firstChild) = (1, 0)
        change(&entries, &level, &firstChild)
        log.rebuild(
          page, level: level, firstChild: firstChild, entries.map { ($0.key, $0.rows) },
          rowCounts: entries.map(\.rowCount))
      }
    }
  }

  static let lies: [Lie] = [
    Lie(leaf: "a row outside the file", "a row outside the commit") { rows, _ in rows[3] = [.max] },
    Lie(leaf: "row zero", "not after those of the block before it") { rows, _ in rows[3] = [0] },
    Lie(leaf: "a row of another table", "names what is no row of its table") { rows, log in
      rows[3] = [UnitOffset(byteOffset: log.records(1)[0].offset).rawValue]
    },
    Lie(leaf: "a shared string", "names what is no row of its table") { rows, log in
      rows[3] = [UnitOffset(byteOffset: log.objects(.sharedString)[0].offset).rawValue]
    },
    Lie(leaf: "a row of a later commit", "not after those of the block before it") { rows, log in
      rows[3] = [UnitOffset(byteOffset: log.records(0).last!.offset).rawValue]
    },
    Lie("keys that do not ascend", "does not follow the one before it") { log in
      let page = try log.codes().mainPages[0]
      var entries = log.entries(page).map { (key: $0.key, rows: $0.rows) }
      entries.swapAt(1, 2)
      log.rebuild(page, entries)
    },
    Lie("rows of one key that do not ascend", "does not follow the one before it") { log in
      let page = try log.codes().mainPages[0]
      var entries = log.entries(page).map { (key: $0.key, rows: $0.rows) }
      entries[2] = (entries[1].key, [entries[1].rows[0] - 1])
      log.rebuild(page, entries)
    },
    Lie("the same row twice for a key", "does not follow the one before it") { log in
      let page = try log.codes().mainPages[0]
      var entries = log.entries(page).map { (key: $0.key, rows: $0.rows) }
      entries[2] = entries[1]
      log.rebuild(page, entries)
    },
    Lie("an entry fewer", "entries and") { log in
      let page = try log.codes(1).mainPages[0]
      log.rebuild(page, [(log.entries(page)[0].key, [log.entries(page)[0].rows[0]])])
    },
    Lie(root: "a root that leads to itself", "does not lead to the pages that follow") { _, _, firstChild in
      firstChild = 9
    },
    Lie(root: "a root that leads nowhere", "does not lead to the pages that follow") { _, _, firstChild in
      firstChild = .init(UInt32.max)
    },
    Lie(root: "a root that says that it is a leaf", "level 0 instead of 1") { entries, level, _ in
      level = 0
      for index in entries.indices { entries[index].rows = [UInt32(index + 1)] }
    },
    Lie(root: "a root of a high level", "level 200 instead of 1") { _, level, _ in level = 200 },
    Lie(root: "a wrong number of rows", "counts 1 rows instead of") { entries, _, _ in entries[1].rowCount = 1 },
    Lie(root: "a number of rows that overflows", "its entry 0") { entries, _, _ in
      // Large numbers need room.
      entries.removeLast(4)
      for index in 0..<2 { entries[index].rowCount = .max }
    },
    Lie(root: "as many rows as there can be", "counts 4294967295 rows instead of") { entries, _, _ in
      entries.removeLast(4)
      for index in 0..<3 { entries[index].rowCount = Int(UInt32.max) }
    },
    Lie(root: "a wrong key", "does not lead to the keys from its own on") { entries, _, _ in entries[1].key = [1] },
    Lie(root: "a key after its page's", "does not lead to the keys from its own on") { entries, _, _ in
      entries[entries.count - 1].key = [0xFF]
    },
    Lie(root: "an entry fewer in the root", "page of the ordered index code") { entries, _, _ in
      entries.removeLast()
    },
    Lie("a fragment of a leaf that does not exist", "is not a fragment of the keys") { log in
      let page = try #require(log.words().fragmentPages.first)
      log.rebuild(page, log.entries(page).map { ($0.key, [77]) })
    },
    Lie("a fragment of leaf zero", "is not a fragment of the keys") { log in
      let page = try #require(log.words().fragmentPages.first)
      log.rebuild(page, log.entries(page).map { ($0.key, [0]) })
    },
    Lie("a missing fragment", "a fragment of a key is missing") { log in
      let page = try #require(log.words().fragmentPages.first)
      log.rebuild(page, log.entries(page).dropLast().map { ($0.key, $0.rows) })
    },
    Lie("a fragment tree where none belongs", "has a fragment tree") { log in
      try log.changeManifest(of: 0) { $0.tables[0].orderedIndexes[1].hasFragments = false }
      try log.changeManifest(of: 1) { $0.tables[0].orderedIndexes[1].hasFragments = false }
    },
    Lie("no fragment tree where one belongs", "lacks its fragment tree") { log in
      let block = try log.words()
      log.put(UInt32(block.header.mainLineCount), at: block.offset + 12)
      log.put(UInt32(0), at: block.offset + 28)
      log.put(UInt32(0), at: block.offset + 32)
      for segment in 0..<2 {
        try log.changeManifest(of: segment) { manifest in
          let last = manifest.tables[0].orderedIndexes[1].blocks.count - 1
          manifest.tables[0].orderedIndexes[1].blocks[last].bucketCount = block.header.mainLineCount
        }
      }
    },
    Lie("fewer leaves than there are", "page of the ordered index code") { log in
      let block = try log.codes()
      log.put(UInt32(block.header.leafCount - 1), at: block.offset + 24)
    },
    Lie("another level", "header of a block") { log in log.bytes[try log.codes().offset + 10] = 3 },
    Lie("another level, in the manifest too", "a tree of 2 levels") { log in
      log.bytes[try log.codes().offset + 10] = 3
      for segment in 0..<2 {
        try log.changeManifest(of: segment) { manifest in
          let last = manifest.tables[0].orderedIndexes[0].blocks.count - 1
          manifest.tables[0].orderedIndexes[0].blocks[last].longestDisplacement = 3
        }
      }
    },
    Lie("a wrong number of rows in the manifest", "rows in a block of the ordered index code of items") { log in
      for segment in 0..<2 {
        try log.changeManifest(of: segment) { manifest in
          let last = manifest.tables[0].orderedIndexes[0].blocks.count - 1
          manifest.tables[0].orderedIndexes[0].blocks[last].rowCount += 1
        }
      }
    },
    Lie("an offset of a restart", "the offset of its entry 16") { log in
      let page = try log.codes().mainPages[0]
      let restarts = page.upperBound - 2 * OrderedPage.restartCount(log.entries(page).count)
      log.bytes[restarts + 2] &+= 1
    },
    Lie("the end of the entries", "the end of its entries") { log in
      let page = try log.codes().mainPages[0]
      log.bytes[page.lowerBound + 8] &+= 1
    },
    Lie("a byte after the entries", "reserved bytes are not zero") { log in
      let page = try log.codes().mainPages[0]
      let end = Int(log.bytes.rawSpan.u16(at: page.lowerBound + 8))
      log.bytes[page.lowerBound + end] = 1
    },
    Lie("a first child of a leaf", "reserved bytes are not zero") { log in
      log.bytes[try log.codes().mainPages[1].lowerBound + 12] = 1
    },
    Lie("two names of one block", "block") { log in
      try log.changeManifest(of: 1) { manifest in
        manifest.tables[0].orderedIndexes[0].blocks[0] = manifest.tables[0].orderedIndexes[1].blocks[0]
      }
    },
    Lie("a block outside the file", "block") { log in
      try log.changeManifest(of: 1) { $0.tables[0].orderedIndexes[0].blocks[0].offset = 1 << 60 }
    },
    Lie("a block of any size", "block") { log in
      try log.changeManifest(of: 1) { $0.tables[0].orderedIndexes[0].blocks[0].bucketCount = .max }
    },
  ]

  @Test(arguments: lies)
  func `verification finds it, and everything else ends with an answer or an error`(_ lie: Lie) throws {
    var log = try Self.sample()
    try lie.change(&log)
    log.seal()
    let findings = try #require(try Verification.run(TestStore().with(log: log.bytes).location)).findings
    #expect(findings.contains { $0.what.contains(lie.what) }, "\(findings)")
    exercise(log.bytes)
  }

  @Test func `changed bytes of ordered blocks under checksums that hold do not trap`() throws {
    let sample = try Self.sample()
    let blocks = sample.segments.flatMap(\.ordered)
    var random = SeededGenerator(for: "OrderedLieTests, bytes")
    for _ in 0..<(60 * depth) {
      var log = sample
      let block = blocks.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let pages = block.mainPages + block.fragmentPages
        let range =
          Int.random(in: 0..<8, using: &random) == 0
          ? block.offset + 8..<block.offset + 60 : pages.randomElement(using: &random)!
        // The beginning of a page has its header, and most entries are there too.
        let limit = Bool.random(using: &random) ? min(range.count, 40) : range.count
        log.bytes[range.lowerBound + Int.random(in: 0..<limit, using: &random)] =
          [0, 1, 0x0F, 0x7F, 0x80, 0xF0, 0xFF].randomElement(using: &random)!
      }
      log.seal()
      exercise(log.bytes)
    }
  }

  /// Does everything with a store that one can do. Any error of the store will do.
  private func exercise(_ log: [UInt8]) {
    let store = TestStore().with(log: log)
    attempt {
      let snapshot = try #require(try store.reader()).snapshot
      for table in 0..<2 {
        for name in snapshot.orderedIndexes(of: table) {
          let index = try #require(snapshot.orderedIndex(table, named: name))
          for backward in [false, true] {
            attempt {
              try snapshot.forEachRecord(inOrderOf: index, from: backward ? .end : .start, backward: backward) { _, _ in
                true
              }
            }
          }
          for key in [[], Array("1100".utf8), Array("wbody".utf8), [0xFF]] {
            attempt { _ = try snapshot.rowCount(inOrderOf: index, from: .before(key)) }
            attempt { _ = try snapshot.rowCount(inOrderOf: index, to: .after(key)) }
            attempt {
              var rows: [UInt32] = []
              try snapshot.appendRows(of: key.rawSpan, in: index, to: &rows)
            }
            attempt {
              var cursor = try snapshot.cursor(index, from: .after(key), backward: true)
              for _ in 0..<30 where try cursor.next() { _ = cursor.gap }
            }
            attempt { try snapshot.forEachKey(of: index, from: .before(key), to: .end) { _, _ in true } }
            attempt { try snapshot.forEachKeyAndRows(of: index, from: .after(key), to: .end) { _, _ in true } }
          }
          attempt {
            let part = Array("bod".utf8)
            try snapshot.forEachKey(containing: part.rawSpan, of: index) { _, _ in true }
            try snapshot.forEachKeyAndRows(containing: part.rawSpan, of: index, isWanted: { _, _ in true }) { _, _ in
              true
            }
          }
        }
      }
      attempt { _ = try StoreContents(snapshot) }
      attempt { _ = try snapshot.statistics() }
      attempt { _ = try snapshot.orderedFindings(TestSchema.schema) }
    }
    attempt {
      let writer = try store.writer()
      defer { writer.close() }
      attempt { _ = try writer.commit { transaction in for id in 0..<4 { try transaction.put("\(id)", "code") } } }
      attempt {
        guard let last = writer.snapshot, let old = try last.snapshot(at: 1) else { return }
        _ = try writer.rollback(to: old) { _, _ in }
      }
      attempt { _ = try writer.compact() }
    }
    attempt {
      guard let repair = try Repair.run(store.location, schema: TestSchema.schema), repair.snapshot != nil else {
        return
      }
      #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { #expect(error is StoreError || error is StoreContents.Contradiction, "\(error)") }
  }
}

extension ForgedLog {
  fileprivate func codes(_ segment: Int = 0) throws -> OrderedBlock {
    try #require(segments[segment].ordered.first { $0.name == "code" })
  }
  fileprivate func words() throws -> OrderedBlock { try #require(segments[0].ordered.first { $0.name == "words" }) }
}
