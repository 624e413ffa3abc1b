import Bytes
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Repair: whatever is damaged, what is whole is kept and nothing is invented.
@Suite struct RepairTests {
  /// A log with several commits, and what it holds.
  private struct Sample {
    var log: [UInt8]
    var contents: StoreContents
    /// By live row: the bytes that it needs, its own and those of its shared strings.
    var extents: [(table: Int, row: TestRow, ranges: [Range<Int>])] = []

    private static let first = [
      (0..<8).map { TestRow("\($0)", "code", shared: ["brand", "unit \($0 % 2)"], body: "body \($0)") }
        + [TestRow("0", "lost", shared: ["brand"])],
      [TestRow("from", "to", shared: ["text"]), TestRow("from", "gone")],
    ]
    private static let later = [
      [TestRow("1", "code", body: "new"), TestRow("9", "code", body: "last")], [TestRow("x", "to", shared: ["text"])],
    ]
    /// Every row that any commit put, by table.
    static let everPut = [first[0] + later[0], first[1] + later[1]]

    init() throws {
      let store = TestStore()
      let writer = try store.writer()
      _ = try writer.commit { transaction in
        for row in Self.first[0] { try transaction.put(0, row) }
        for row in Self.first[1] { try transaction.put(1, row) }
      }
      _ = try writer.commit { transaction in
        try transaction.put(0, Self.later[0][0])
        try transaction.delete(TestSchema.id, "2")
        try transaction.delete(TestSchema.to, "gone")
        transaction.state = [1, 2, 3]
      }
      let last = try writer.commit { transaction in
        try transaction.put(1, Self.later[1][0])
        try transaction.put(0, Self.later[0][1])
        transaction.state = [4, 5]
      }
      contents = try StoreContents(last)
      var extents: [(table: Int, row: TestRow, ranges: [Range<Int>])] = []
      for table in 0..<2 {
        try last.scan(table) { (record) throws(StoreError) in
          let unit = record.rowID.unit
          var ranges = [unit.byteOffset..<unit.byteOffset + last.storedByteCount(unit)]
          let object = try last.object(unit)
          if let layout = RecordLayout(object) {
            for index in 0..<layout.sharedCount {
              guard let text = layout.shared(index, in: object) else { continue }
              ranges.append(text.byteOffset..<text.byteOffset + last.storedByteCount(text))
            }
          }
          extents.append((table, try TestRow(record), ranges))
        }
      }
      writer.close()
      log = store.log
      self.extents = extents
    }

    /// The rows none of whose bytes lie in `damage`.
    func untouched(_ damage: [Range<Int>]) -> [[TestRow]] {
      (0..<2).map { table in
        extents.filter { extent in
          extent.table == table && !extent.ranges.contains { range in damage.contains { $0.overlaps(range) } }
        }.map(\.row).sorted()
      }
    }
  }

  /// Repairs a store that holds `log`, and holds what came of it against the sample.
  private func check(_ sample: Sample, _ log: [UInt8], damage ranges: Range<Int>...) throws {
    let damage: Comment = "\(ranges)"
    let store = TestStore().with(log: log)
    let findings = try #require(try Verification.run(store.location)).findings
    let repair = try #require(
      try Repair.run(store.location, schema: TestSchema.schema) { state, isComplete, _ in
        isComplete ? state : [0xFF]
      })
    #expect(repair.findings.count == findings.count, damage)
    if findings.isEmpty {
      #expect(repair.snapshot == nil && store.log == log)
      return
    }
    #expect(try Verification.run(store.location)?.findings.map(\.description) == [], damage)
    let snapshot = try #require(try store.reader()).snapshot
    let contents = try StoreContents(snapshot)
    // Where one place is damaged, another one still tells the number of the last commit.
    #expect(snapshot.sequence == 4 || ranges.count > 1 && snapshot.sequence < 4, damage)
    #expect(snapshot.generation == 2, damage)
    let kept = sample.untouched(ranges)
    for table in 0..<2 {
      // Where more than a byte is damaged, both records of a row's death may be: then it is back, and that is reported.
      let known = ranges.count == 1 && ranges[0].count == 1 ? sample.contents.tables[table] : Sample.everPut[table]
      #expect(Set(contents.tables[table]).isSubset(of: known), "\(ranges) invents")
      #expect(Set(kept[table]).isSubset(of: contents.tables[table]), "\(ranges) loses more than it has to")
    }
    // With its slot and its segment gone, nobody can know of the last commit.
    let lastSegment = sample.log.count - 4096..<sample.log.count
    if [4096..<8192, lastSegment].allSatisfy({ place in ranges.contains { $0.overlaps(place) } }), ranges.count > 1 {
      return
    }
    let isComplete = contents.tables == sample.contents.tables
    if !isComplete { #expect(contents.state == [0xFF] && !repair.losses.isEmpty, "\(ranges) is not reported") }
    if contents.state != [0xFF] { #expect(contents.state == [4, 5] && repair.losses.isEmpty, damage) }
    #expect(store.device.contents("s.damaged-1") == log)
    // What follows is an ordinary store.
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("next") }
    #expect(writer.snapshot?.sequence == snapshot.sequence + 1)
    writer.close()
  }

  @Test func `a clean store is left as it is, and one that is not there is none`() throws {
    let sample = try Sample()
    try check(sample, sample.log, damage: 0..<0)
    let empty = TestStore()
    #expect(try Repair.run(empty.location, schema: TestSchema.schema) == nil)
    // A torn tail is no damage either.
    let torn = TestStore().with(log: sample.log + [UInt8](repeating: 7, count: 5000))
    #expect(try Repair.run(torn.location, schema: TestSchema.schema)?.snapshot == nil)
  }

  @Test func `a changed byte anywhere costs no more than the rows that it belongs to`() throws {
    let sample = try Sample()
    var tried = 0
    for offset in sample.log.indices {
      let isInside =
        offset > 8 && offset + 8 < sample.log.count
        && sample.log[(offset - 8)...(offset + 8)].allSatisfy { $0 == 0 }
      if depth == 1, isInside ? offset % 509 != 0 : offset % 7 != 0 { continue }
      let masks: [UInt8] = [0x01, 0x80, 0xFF]
      for mask in depth == 1 ? [masks[offset / 7 % 3]] : masks {
        var log = sample.log
        log[offset] ^= mask
        tried += 1
        try check(sample, log, damage: offset..<offset + 1)
      }
    }
    print("RepairTests: \(tried) changed bytes")
  }

  @Test func `a page of zeros, garbage or another page costs no more than what stood in it`() throws {
    let sample = try Sample()
    var random = SeededGenerator(for: "RepairTests, pages")
    let pages = stride(from: 0, to: sample.log.count, by: 4096).map { $0..<$0 + 4096 }
    for page in pages {
      for bytes in [[UInt8](repeating: 0, count: 4096), random.bytes(4096)] {
        var log = sample.log
        log.replaceSubrange(page, with: bytes)
        try check(sample, log, damage: page)
      }
      for other in pages where other != page && sample.log[other] != sample.log[page] {
        var log = sample.log
        log.replaceSubrange(page, with: sample.log[other])
        if other.lowerBound < page.lowerBound {
          log.replaceSubrange(other, with: sample.log[page])
          try check(sample, log, damage: page, other)
        } else {
          try check(sample, log, damage: page)
        }
      }
    }
  }

  @Test func `garbage behind a damaged store belongs to nobody`() throws {
    let sample = try Sample()
    var random = SeededGenerator(for: "RepairTests, appended")
    let row = sample.extents[2].ranges[0]
    for _ in 0..<10 * depth {
      var log = sample.log
      log[row.lowerBound] ^= 1
      log += random.bytes(Int.random(in: 1...9000, using: &random))
      try check(sample, log, damage: row.lowerBound..<row.lowerBound + 1)
    }
  }

  @Test func `a file that was cut keeps what stands before the cut`() throws {
    let sample = try Sample()
    for size in stride(from: 12288, through: sample.log.count - 1, by: depth == 1 ? 331 : 17) {
      try check(sample, Array(sample.log[..<size]), damage: size..<sample.log.count)
    }
  }

  @Test(arguments: 0..<4) func `damage in several places`(run: Int) throws {
    var random = SeededGenerator(for: "RepairTests \(run)")
    for _ in 0..<run { _ = random.next() }
    let sample = try Sample()
    for _ in 0..<20 * depth {
      var log = sample.log
      let start = Int.random(in: 0..<log.count, using: &random)
      let end = min(log.count, start + Int.random(in: 1...9000, using: &random))
      log.replaceSubrange(start..<end, with: random.bytes(end - start))
      try check(sample, log, damage: start..<end)
    }
  }

  @Test func `the rows of a commit that was torn are not taken for committed ones`() throws {
    let sample = try Sample()
    let store = TestStore().with(log: sample.log)
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("torn") }
    let end = sample.log.count
    var log = store.log
    // The slots as they were before, a byte of the new segment's body not there, and a damaged object in the base.
    log.replaceSubrange(4096..<12288, with: sample.log[4096..<12288])
    log[end + SegmentHeader.byteCount + 200] ^= 1
    log[sample.extents[0].ranges[0].lowerBound + 9] ^= 1
    try check(sample, log, damage: sample.extents[0].ranges[0])
  }

  @Test func `what is lost is named by its key`() throws {
    let sample = try Sample()
    let victim = try #require(sample.extents.first { $0.row.keys[0] == Array("5".utf8) })
    var log = sample.log
    log[victim.ranges[0].upperBound - 1] ^= 1
    let store = TestStore().with(log: log)
    let repair = try #require(try Repair.run(store.location, schema: TestSchema.schema))
    #expect(repair.losses.map(\.offset) == [victim.ranges[0].lowerBound])
    // Of a sealed row that cannot be opened only the table is known.
    #expect(repair.losses.first?.lost == (testsAreSealed ? "a row of items" : "a row of items, key \"5\""))
  }

  @Test func `nothing is done to a file of another version, or to one that is no store`() throws {
    let sample = try Sample()
    var newer = sample.log
    newer[8] = 2
    newer.store(Checksum.of(newer.rawSpan.slice(0, 4092)), at: 4092)
    let short = [0, 1, 4095, 4096, 8191, 12_287].map { [UInt8](repeating: 0x20, count: $0) }
    for log in [newer, [UInt8](repeating: 0x20, count: 20_000)] + short {
      let store = TestStore().with(log: log)
      #expect(throws: StoreError.self) { try Repair.run(store.location, schema: TestSchema.schema) }
      #expect(store.log == log && store.device.contents("s.damaged-1") == nil)
    }
  }

  @Test func `tables that only a newer program knows are saved as well, and mad numbers are no trap`() throws {
    let sample = try Sample()
    var log = sample.log
    let slot = try AcknowledgementSlot(log.rawSpan.slice(4096, 4096))
    var mad = slot
    mad.sequence = .max
    mad.generation = .max
    mad.end = .max
    log.replaceSubrange(4096..<8192, with: mad.encoded())
    log[sample.extents[0].ranges[0].lowerBound] ^= 1
    let store = TestStore().with(log: log)
    let repair = try #require(try Repair.run(store.location, schema: Schema([TestSchema.items])))
    let contents = try StoreContents(try #require(repair.snapshot))
    #expect(contents.tables[1] == sample.contents.tables[1])
    #expect(contents.tables[0].count == sample.contents.tables[0].count - 1)
  }

  @Test func `a writer at work is waited for, not disturbed`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a") }
    #expect(throws: StoreError.self) { try Repair.run(store.location, schema: TestSchema.schema) }
    writer.close()
    #expect(try Repair.run(store.location, schema: TestSchema.schema)?.findings.isEmpty == true)
  }
}
