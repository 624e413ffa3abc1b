import Bytes
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Verification finds what breaks a rule of FORMAT.md under checksums that hold: what a faulty or hostile writer
/// leaves.
@Suite(.disabled(if: testsAreSealed, "it forges what is in clear")) struct FormatRuleTests {
  private static let notes = Schema.Table(
    "notes", keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("words", isList: true)])

  /// A log with every kind of structure: two commits, rows of three tables, shared strings, posting lists, tombstones.
  private static func sample() throws -> ForgedLog {
    let store = TestStore()
    let writer = try store.writer(Schema(TestSchema.schema.tables + [notes]))
    _ = try writer.commit { transaction in
      for id in 0..<8 { try transaction.put("r\(id)", "code", shared: ["brand"], body: "body") }
      try transaction.put("other", "2", shared: ["text"])
      try transaction.put(1, TestRow("from", "to", shared: ["text"]))
      var draft = RecordDraft()
      draft.addKey(Array("note".utf8).rawSpan)
      draft.addKeys([Array("x".utf8), Array("y".utf8)])
      try transaction.put(2, draft)
      transaction.state = [7]
    }
    _ = try writer.commit { transaction in
      try transaction.put("r1", "code", body: "new")
      try transaction.delete(TestSchema.id, "r2")
      for id in 10..<15 { try transaction.put("r\(id)", "many") }
    }
    writer.close()
    return try ForgedLog(store.log)
  }

  private static func findings(in log: ForgedLog) throws -> [Finding] {
    try #require(try Verification.run(TestStore().with(log: log.bytes).location)).findings
  }

  @Test func `a log whose checksums are made anew is the same, and clean`() throws {
    let sample = try Self.sample()
    var sealed = sample
    sealed.seal()
    #expect(sealed.bytes == sample.bytes)
    #expect(try Self.findings(in: sealed).map(\.description) == [])
  }

  /// A change of a log, and what a finding says of it.
  struct Forgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let what: String
    let change: @Sendable (inout ForgedLog) throws -> Void

    init(_ name: String, _ what: String, _ change: @escaping @Sendable (inout ForgedLog) throws -> Void) {
      testDescription = name
      self.what = what
      self.change = change
    }
  }

  private static let manifests = [
    Forgery("live rows", "live rows of items where the manifest counts") { log in
      try log.changeManifest { $0.tables[0].liveRows += 1 }
    },
    Forgery("live bytes", "bytes of live rows of links where the manifest counts") { log in
      try log.changeManifest { $0.tables[1].liveBytes -= 8 }
    },
    Forgery("live bytes of an earlier commit", "bytes of live rows of items where the manifest counts") { log in
      try log.changeManifest(of: 0) { $0.tables[0].liveBytes += 8 }
    },
    Forgery("dead rows", "dead rows where the manifest counts") { log in try log.changeManifest { $0.deadRows = 1 } },
    Forgery("dead bytes", "bytes of dead rows where") { log in try log.changeManifest { $0.deadBytes = 8 } },
    Forgery("rows in the tail", "rows put after the base where") { log in try log.changeManifest { $0.tailRows = 5 } },
    Forgery("a key length that is not listed", "a length that the manifest does not list") { log in
      try log.changeManifest { $0.tables[0].keySpaces[0].lengths = KeyLengths() }
    },
    Forgery("rows of a block", "in a block of the index over code of items for which the manifest counts 99") { log in
      try log.changeManifest { $0.tables[0].keySpaces[1].blocks[0].rowCount = 99 }
    },
    Forgery("rows of a dead block", "99 rows in a dead block of 2 entries") { log in
      try log.changeManifest { $0.deadBlocks[0].rowCount = 99 }
    },
    Forgery("a displacement that its block does not have", "header of a block") { log in
      try log.changeManifest { $0.tables[0].keySpaces[0].blocks[0].longestDisplacement = 3 }
    },
    Forgery("a flag of a key space that is reserved", "table description") { log in
      // Behind version, count of tables, and of the first one key space count, name and two counters.
      log.bytes[log.segments[1].manifestOffset + 8 + 7 + 16] |= 8
    },
    Forgery("a key space of lists that is unique", "table description") { log in
      log.bytes[log.segments[1].manifestOffset + 8 + 7 + 16] |= 4
    },
    Forgery("a manifest's version", "manifest version") { log in log.bytes[log.segments[1].manifestOffset] = 5 },
    Forgery("bytes after the manifest's end", "manifest length") { log in
      let segment = log.segments[1]
      log.put(segment.footer.manifestLength + 1, at: segment.footerOffset + 64)
    },
    Forgery("padding after a manifest", "bytes of padding are not zero") { log in
      let segment = log.segments[0]
      log.bytes[segment.manifestOffset + Int(segment.footer.manifestLength)] = 1
    },
    Forgery("padding before a block", "bytes of padding are not zero") { log in
      let segment = try #require(log.segments.first { Int($0.footer.objectEnd) % Bucket.byteCount != 0 })
      log.bytes[Int(segment.footer.objectEnd)] = 1
    },
  ]

  private static let objects = [
    Forgery("padding after an object", "the bytes after an object are not zero") { log in
      let object = try #require(log.objects.first { $0.length % 8 != 0 })
      log.bytes[object.offset + object.length] = 1
    },
    Forgery("a reserved kind", "kind 243 is reserved") { log in
      log.bytes[try #require(log.objects(.tombstones).first).offset + 7] = 243
    },
    Forgery("a table that does not exist", "there is no table 9") { log in log.bytes[log.records(2)[0].offset + 7] = 9
    },
    Forgery("a missing key", "keys where items has 2 key spaces") { log in log.bytes[log.records(0)[0].offset + 9] = 1
    },
    Forgery("ends of keys", "the ends of its keys") { log in log.bytes[log.records(0)[0].offset + 10] = 200 },
    Forgery("reserved bytes of a record", "reserved bytes are not zero") { log in
      log.bytes[log.records(0)[0].offset + 14] = 1
    },
    Forgery("a text that is a row", "names a text that is not there") { log in
      log.put(UnitOffset(byteOffset: log.records(0)[0].offset).rawValue, at: log.records(0)[1].offset + 16)
    },
    Forgery("a text that stands later", "names a text that is not there") { log in
      let text = try #require(log.objects(.sharedString).last)
      log.put(UnitOffset(byteOffset: text.offset).rawValue, at: log.records(0)[0].offset + 16)
    },
    Forgery("a key twice in a list", "a key stands in its words more than once") { log in
      let note = log.records(2)[0]
      let y = try #require((note.offset..<note.offset + note.length).last { log.bytes[$0] == UInt8(ascii: "y") })
      log.bytes[y] = UInt8(ascii: "x")
    },
    Forgery("a list that ends too late", "is no list of keys") { log in
      let note = log.records(2)[0]
      let y = try #require((note.offset..<note.offset + note.length).last { log.bytes[$0] == UInt8(ascii: "y") })
      log.bytes[y - 1] = 9
    },
    Forgery("the order of a posting list", "not in ascending order") { log in
      let list = try #require(log.objects(.postingList).first).offset + 16
      let first = log.bytes.rawSpan.u32(at: list)
      log.put(log.bytes.rawSpan.u32(at: list + 4), at: list)
      log.put(first, at: list + 4)
    },
    Forgery("the key space of a posting list", "names the list of another key space") { log in
      log.bytes[try #require(log.objects(.postingList).first).offset + 8] = 0
    },
    Forgery("a reserved byte of a posting list", "posting list: reserved bytes are not zero") { log in
      log.bytes[try #require(log.objects(.postingList).first).offset + 9] = 1
    },
    Forgery("the key of a posting list", "names the list of another key") { log in
      let list = try #require(log.objects(.postingList).first)
      log.bytes[list.offset + list.length - 1] ^= 1
    },
    Forgery("a row of another key in a posting list", "of which row 7 has not its key") { log in
      let list = try #require(log.objects(.postingList).first)
      let other = UnitOffset(byteOffset: log.records(0)[8].offset)
      log.put(other.rawValue, at: list.offset + 16 + 4 * 7)
    },
  ]

  private static let deaths = [
    Forgery("reserved bytes of tombstones", "tombstones: reserved bytes are not zero") { log in
      log.bytes[try #require(log.objects(.tombstones).first).offset + 12] = 1
    },
    Forgery("the order of tombstones", "tombstones: numbers 0 and 1 are not in ascending order") { log in
      let list = try #require(log.objects(.tombstones).first).offset + 16
      let first = log.bytes.rawSpan.u32(at: list)
      log.put(log.bytes.rawSpan.u32(at: list + 4), at: list)
      log.put(first, at: list + 4)
    },
    Forgery("a tombstone for what is no row", "names what is no row before it") { log in
      let text = try #require(log.objects(.sharedString).first)
      log.put(
        UnitOffset(byteOffset: text.offset).rawValue, at: try #require(log.objects(.tombstones).first).offset + 16)
    },
    Forgery("a tombstone for another row than the dead block lists", "which no tombstone names") { log in
      log.put(
        UnitOffset(byteOffset: log.records(0)[0].offset).rawValue,
        at: try #require(log.objects(.tombstones).first).offset + 16)
    },
    Forgery("a dead block that lists another row than the tombstones", "no dead block lists it") { log in
      let block = try #require(log.segments[1].blocks.first { $0.isDead })
      log.put(UnitOffset(byteOffset: log.records(0)[0].offset).rawValue, at: block.bucket(0) + Bucket.deadOffsets)
    },
    Forgery("a dead block that lists a row twice", "which is listed already") { log in
      let place = try #require(log.segments[1].blocks.first { $0.isDead }).bucket(0) + Bucket.deadOffsets
      log.put(log.bytes.rawSpan.u32(at: place), at: place + 4)
    },
  ]

  private static let blocks = [
    Forgery("bytes 26 and 27 of a bucket", "bucket: reserved bytes are not zero, in the index over id of items") {
      log in
      log.bytes[try #require(log.segments[0].blocks.first).bucket(0) + 27] = 1
    },
    Forgery("a place of a bucket that has no entry", "bucket: reserved bytes are not zero") { log in
      log.bytes[try #require(log.segments[1].blocks.first { $0.isDead }).bucket(0) + 63] = 1
    },
    Forgery("the number of entries of a bucket", "entries in a block that says") { log in
      log.bytes[try #require(log.segments[1].blocks.first { $0.isDead }).bucket(0) + 7] = 3
    },
    Forgery("the displacement in a block's header", "header of a block") { log in
      log.bytes[try #require(log.segments[0].blocks.first).offset + 10] = 1
    },
    Forgery("a tag", "names a row that has not its key") { log in
      log.bytes[try #require(log.segments[0].blocks.first).bucket(0) + Bucket.tags] ^= 1
    },
  ]

  @Test(arguments: manifests + objects + deaths + blocks)
  func `verification finds it under checksums that hold`(_ forgery: Forgery) throws {
    var log = try Self.sample()
    try forgery.change(&log)
    log.seal()
    let findings = try Self.findings(in: log)
    #expect(findings.contains { $0.what.contains(forgery.what) }, "\(findings)")
  }

  @Test func `a repair of what breaks a rule leaves a store that breaks none`() throws {
    for forgery in Self.manifests + Self.objects + Self.deaths + Self.blocks {
      var log = try Self.sample()
      try forgery.change(&log)
      log.seal()
      let store = TestStore().with(log: log.bytes)
      let repair = try #require(try Repair.run(store.location, schema: Schema(TestSchema.schema.tables + [Self.notes])))
      #expect(repair.snapshot != nil)
      #expect(try Verification.run(store.location)?.findings.map(\.description) == [], "\(forgery.testDescription)")
    }
  }

  @Test func `a store with as many blocks as a manifest can list takes no further commit, and can be compacted`() throws
  {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    let transaction = try writer.begin()
    let block = try #require(transaction.manifest.tables[0].keySpaces[0].blocks.first)
    transaction.manifest.tables[0].keySpaces[0].blocks = Array(repeating: block, count: Manifest.blockLimit)
    let full = try writer.commit(transaction)
    #expect(throws: StoreError.self) { _ = try writer.commit { try $0.put("b", "2") } }
    #expect(writer.snapshot?.sequence == full.sequence)
    _ = try writer.compact()
    #expect(try writer.commit { try $0.put("b", "2") }.rows(TestSchema.id, "b").count == 1)
    writer.close()
  }

  @Test func `verification of small commits reads no large pieces of the file for each of them`() throws {
    let store = TestStore().with(log: try Self.sample().bytes)
    #expect(try Verification.run(store.location)?.findings.isEmpty == true)
    #expect(store.device.largestRead < store.log.count)
  }

  @Test func `a slot that names no commit is found`() throws {
    var log = try Self.sample()
    // The slot of the first commit, which is the older one.
    log.put(UInt64(1 << 20), at: AcknowledgementSlot.offsets[0] + 40)
    log.sealSlots()
    let findings = try Self.findings(in: log)
    #expect(findings.map(\.what) == ["acknowledgement slot: it names no commit of this file"])
  }

  @Test func `a finding names the table and the key of the row`() throws {
    var log = try Self.sample()
    let row = log.records(0)[3]
    log.bytes[row.offset + row.length - 1] ^= 1
    let damaged = try Self.findings(in: log)
    #expect(damaged.map(\.lost) == ["a row of items, key \"r3\""])
    #expect(damaged.map(\.offset) == [row.offset])
  }
}
