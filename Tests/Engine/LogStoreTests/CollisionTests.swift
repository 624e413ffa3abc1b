import RecordFormat
import StoreTestSupport
import Testing
@testable import Bytes
@testable import LogStore

/// Keys that somebody chose who knows the seed, and one key of very many rows: answers stay right, and what they cost
/// stays bounded.
@Suite(.disabled(if: testsAreSealed, "keys of one hash are found for the clear one")) struct CollisionTests {
  /// Keys whose 64-bit hashes are all the same under `seed`: home bucket, tag and filter bit with them.
  ///
  /// The last multiplication but one has a factor that is the exclusive-or of the key's last eight bytes and a word of
  /// the seed's: whoever knows that word makes the factor zero, and then the other half of the key counts for nothing.
  private func collidingKeys(_ range: Range<Int>, _ seed: HashSeed) -> [[UInt8]] {
    let (first, second) = seed.words
    let word = first ^ KeyHash.mix(first ^ KeyHash.c0, 16 ^ second)
    return range.map { bytes(UInt64($0)) + bytes(word) }
  }

  private func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

  /// Codes of digits with one home bucket among `bucketCount`, found by trying.
  private func crowdedKeys(_ count: Int, _ seed: HashSeed, bucketCount: UInt32) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var number = 690_000_000
    while keys.count < count {
      let key = Array(String(number).utf8)
      if Bucket.home(KeyHash.of(key.rawSpan, seed), bucketCount: bucketCount) == 7 { keys.append(key) }
      number += 1
    }
    return keys
  }

  private func row(_ key: [UInt8]) -> TestRow {
    var row = TestRow("", "")
    row.keys[0] = key
    return row
  }

  private func seed(_ store: TestStore) throws -> HashSeed { try FileHeader(store.log.rawSpan).seed }

  private func index(_ snapshot: Snapshot, _ name: String) throws -> StoreStatistics.Index {
    try #require(try snapshot.statistics().indexes.first { $0.name == name })
  }

  /// Commits rows with `keys` behind a base of ordinary ones.
  private func attacked(_ store: TestStore, _ makeKeys: (HashSeed) -> [[UInt8]]) throws -> (StoreWriter, [[UInt8]]) {
    let writer = try store.writer()
    _ = try writer.commit { transaction in for id in 0..<100 { try transaction.put("ordinary \(id)") } }
    let keys = makeKeys(try seed(store))
    _ = try writer.commit { transaction in for key in keys { try transaction.put(0, row(key)) } }
    return (writer, keys)
  }

  private func expectFound(_ keys: [[UInt8]], in snapshot: Snapshot) throws {
    for key in keys { #expect(try snapshot.rows(TestSchema.id, key) == [row(key)]) }
    for id in 0..<100 { #expect(try snapshot.rows(TestSchema.id, "ordinary \(id)").count == 1) }
  }

  @Test(arguments: [9, 300, 585, 586, 3000])
  func `keys of one hash are found within a way that their number bounds`(count: Int) throws {
    let store = TestStore()
    let (writer, keys) = try attacked(store) { collidingKeys(0..<count, $0) }
    let last = try #require(writer.snapshot)
    let seed = try seed(store)
    for key in keys { #expect(KeyHash.of(key.rawSpan, seed) == 0) }
    let some = stride(from: 0, to: count, by: 1 + count / 60).map { keys[$0] }
    try expectFound(some, in: last)
    for absent in collidingKeys(count..<(count + 3), seed) { #expect(try last.rows(TestSchema.id, absent).isEmpty) }
    // Nine to a bucket, one bucket after another; and no more buckets than for other keys.
    let index = try index(last, "items.id")
    let ordinary = try self.index(#require(try last.snapshot(at: 1)), "items.id").longestProbe
    #expect(index.longestProbe == max(ordinary, (count - 1) / Bucket.indexCapacity))
    #expect(index.byteCount <= 2 * BlockHeader.byteCount + (100 + count) * 10 + 2 * Bucket.byteCount)
    // One deleted and one replaced are so, the others stay.
    let gone = keys[1]
    let changed = try writer.commit { transaction in
      try transaction.delete(TestSchema.id, gone.rawSpan)
      try transaction.put(0, row(keys[2]))
    }
    #expect(try changed.rows(TestSchema.id, gone).isEmpty)
    #expect(try changed.rows(TestSchema.id, keys[2]).count == 1)
    #expect(changed.rowCount(0) == 100 + count - 1)
    // A new generation has another seed, under which the same keys are keys like any others.
    let compacted = try #require(try writer.compact())
    #expect(try self.seed(store) != seed)
    try expectFound(some.filter { $0 != gone }, in: compacted)
    #expect(try self.index(compacted, "items.id").longestProbe <= 8)
  }

  @Test func `codes that crowd one bucket are found, and spread under another seed`() throws {
    let store = TestStore()
    let count = 400
    // As many buckets as their block will have.
    let (writer, keys) = try attacked(store) { crowdedKeys(count, $0, bucketCount: 60) }
    let last = try #require(writer.snapshot)
    try expectFound(keys, in: last)
    let probe = try index(last, "items.id").longestProbe
    #expect(probe >= 30 && probe <= count / Bucket.indexCapacity)
    let compacted = try #require(try writer.compact())
    try expectFound(keys, in: compacted)
    #expect(try index(compacted, "items.id").longestProbe <= 8)
  }

  @Test func `a table that would need a way beyond the format's says so`() throws {
    // As many as fit in 65,536 buckets, all at home in the first of them; and one more.
    let limit = (Int(UInt16.max) + 1) * Bucket.indexCapacity
    for count in [limit, limit + 1] {
      let entries = [IndexEntry](repeating: IndexEntry(hash: 0, offset: 1), count: count)
      let table = try BucketTable(.index, NewEntries(entries), rowCount: count)
      #expect(table.isComplete == (count == limit))
      #expect(table.longestDisplacement == Int(UInt16.max))
    }
  }

  @Test func `a barcode of a hundred thousand rows costs a change no more than any other`() throws {
    let count = 100_000
    let store = TestStore()
    let writer = try store.writer()
    let first = try writer.commit { transaction in
      var draft = RecordDraft()
      let code = Array("6901234567892".utf8)
      for id in 0..<count {
        draft.reset()
        let key = bytes(UInt64(id))
        draft.addKey(key.rawSpan)
        draft.addKey(code.rawSpan)
        try transaction.put(0, draft)
      }
    }
    // Lists of 4096 rows stand in the index, not rows.
    let index = try index(first, "items.code")
    #expect(index.entryCount == (count + PostingList.usualCount - 1) / PostingList.usualCount)
    #expect(index.longestProbe <= PostingList.listLimit / Bucket.indexCapacity)
    let code = Array("6901234567892".utf8)
    func rows(_ snapshot: Snapshot) throws -> Set<RowID> {
      var rows: Set<RowID> = []
      try snapshot.forEachRecord(TestSchema.code, code.rawSpan) { (record) throws(StoreError) in
        rows.insert(record.rowID).inserted
      }
      return rows
    }
    #expect(try rows(first).count == count)
    // Deleting one of them, and adding one, writes two pages, in one write and one sync, and a slot.
    var size = store.log.count
    var operations = store.device.operations
    let gone = bytes(77)
    let deleted = try writer.commit { _ = try $0.delete(TestSchema.id, gone.rawSpan) }
    #expect(try rows(deleted).count == count - 1)
    #expect(store.log.count - size <= 8192 && store.device.operations - operations <= 3)
    size = store.log.count
    operations = store.device.operations
    let added = try writer.commit { try $0.put("one more", "6901234567892") }
    #expect(store.log.count - size <= 8192 && store.device.operations - operations <= 3)
    #expect(try rows(added).count == count)
    #expect(try self.index(added, "items.code").blockCount == 2)
  }
}
