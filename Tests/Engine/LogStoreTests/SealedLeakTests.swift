import Bytes
import RecordFormat
import StoreTestSupport
import Testing

@testable import LogStore

/// What somebody learns from a sealed log without the key: the list in FORMAT.md, item by item. Nothing here has the key
/// but what writes the log.
@Suite struct SealedLeakTests {
  /// Makes a log of two commits: twelve items, of which eight share a code; then one more item, and a deletion.
  private static func made(_ letter: String = "x", isSealed: Bool = true) throws -> ForgedLog {
    let device = SimulatedDevice()
    let location = StoreLocation(device.directory, name: "s", environment: FixedEnvironment().environment())
      .opening(with: isSealed ? testKey : nil, sealsNew: isSealed)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try writer.commit { transaction in
      for number in 10..<22 {
        let code = number < 18 ? "common-\(letter)" : "single-\(letter)-\(number)"
        try transaction.put(
          "item-\(letter)-\(number)", code, shared: ["brand \(letter)"], body: String(repeating: letter, count: number))
      }
      transaction.state = Array("cursor".utf8)
    }
    _ = try writer.commit { transaction in
      try transaction.put("item-\(letter)-22", "new \(letter)", body: "text \(letter)")
      try transaction.delete(TestSchema.id, "item-\(letter)-10")
    }
    writer.close()
    return try ForgedLog(device.contents("s.log") ?? [])
  }

  private static func manifest(_ log: ForgedLog, _ segment: Int) throws -> Manifest {
    let footer = log.segments[segment].footer
    return try Manifest(log.bytes.rawSpan.slice(Int(footer.manifestOffset), Int(footer.manifestLength)))
  }

  /// The offsets that the buckets of a block list, with their tags; without tags of a dead block.
  private static func entries(_ log: ForgedLog, _ block: ForgedLog.Block) -> [(tag: UInt16, offset: Int)] {
    var result: [(tag: UInt16, offset: Int)] = []
    for bucket in (0..<block.bucketCount).map(block.bucket) {
      for entry in 0..<Bucket.count(log.bytes.rawSpan.u32(at: bucket + 4)) {
        let place = bucket + (block.isDead ? Bucket.deadOffsets : Bucket.indexOffsets) + 4 * entry
        let tag = block.isDead ? 0 : log.bytes.rawSpan.u16(at: bucket + Bucket.tags + 2 * entry)
        result.append((tag, 8 * Int(log.bytes.rawSpan.u32(at: place))))
      }
    }
    return result
  }

  @Test func `number, kind, length and place of all objects are seen`() throws {
    let (sealed, clear) = (try Self.made(), try Self.made(isSealed: false))
    for (segment, overhead) in [(0, 16), (1, 28)] {
      let (a, b) = (sealed.segments[segment].objects, clear.segments[segment].objects)
      #expect(a.map(\.kind) == b.map(\.kind) && !a.isEmpty)
      #expect(a.map(\.length) == b.map { $0.length + overhead })
    }
  }

  @Test func `logs whose rows have the same lengths look the same, up to what is random`() throws {
    let (a, b) = (try Self.made("x"), try Self.made("y"))
    #expect(a.objects.map(\.offset) == b.objects.map(\.offset) && a.objects.map(\.length) == b.objects.map(\.length))
    for segment in 0..<2 {
      var (x, y) = (try Self.manifest(a, segment), try Self.manifest(b, segment))
      #expect(x.isSealed && x.state.count == y.state.count)
      (x.state, y.state) = ([], [])
      #expect(x == y)
    }
  }

  @Test func `rows that share a key, and how many, are seen, and the lengths of keys`() throws {
    let log = try Self.made()
    // The code that eight rows share has a list, whose length says so: 16 bytes, 4 for each row, the key, the tag.
    let lists = log.objects(.postingList)
    let key = "common-x".utf8.count
    #expect(lists.map(\.length) == [16 + 4 * 8 + key + 16])
    let lengths = try Self.manifest(log, 1).tables[0].keySpaces[1].lengths
    #expect((0..<256).filter(lengths.contains) == ["new x", "common-x", "single-x-18"].map(\.utf8.count))
    // The index over codes leads to that list, and to the four rows with codes of their own.
    let codes = try #require(
      log.segments[0].blocks.first { Self.entries(log, $0).contains { $0.offset == lists[0].offset } })
    #expect(Self.entries(log, codes).count == 5)
  }

  @Test func `which row died in which commit is seen, and that rows replace others`() throws {
    let log = try Self.made()
    let dead = try #require(log.segments[1].blocks.first { $0.isDead })
    #expect(Self.entries(log, dead).map(\.offset) == [log.segments[0].objects.first { $0.kind.table == 0 }?.offset])
    #expect(!log.segments[0].blocks.contains { $0.isDead })
  }

  @Test func `counters, times and numbers of commits are seen, and how long names and state are together`() throws {
    let log = try Self.made()
    let last = try Self.manifest(log, 1)
    #expect(last.tables.map(\.liveRows) == [12, 0] && last.deadRows == 1 && last.tailRows == 1)
    #expect(last.tables.map(\.name) == ["", ""])
    #expect(log.segments.map(\.footer.sequence) == [1, 2])
    #expect(log.segments[1].footer.time > log.segments[0].footer.time)
    let names = ["items", "id", "code", "code", "words", "links", "from", "to", "ends"]
    let first = try Self.manifest(log, 0)
    #expect(first.state.count == names.reduce(0) { $0 + 1 + $1.utf8.count } + "cursor".utf8.count + 28)
  }

  @Test func `the pages of an ordered index that a commit writes are seen, in the order of their keys`() throws {
    let (sealed, clear) = (try Self.made(), try Self.made(isSealed: false))
    for segment in 0..<2 {
      let (a, b) = (sealed.segments[segment].ordered, clear.segments[segment].ordered)
      #expect(a.map(\.header.entryCount) == b.map(\.header.entryCount) && !a.isEmpty)
      // A page is where it is in a clear log, whose leaves are in ascending order of their keys.
      #expect(a.map(\.mainPages.count) == b.map(\.mainPages.count))
      #expect(a.map(\.fragmentPages.count) == b.map(\.fragmentPages.count))
    }
    let rows = try Self.manifest(sealed, 1).tables[0].orderedIndexes.map { $0.blocks.map(\.rowCount) }
    #expect(rows == (try Self.manifest(clear, 1).tables[0].orderedIndexes.map { $0.blocks.map(\.rowCount) }))
  }
}
