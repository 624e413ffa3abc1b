import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

@testable import LogStore

/// Parts of a commit, which several threads scan.
@Suite struct ScanPartTests {
  private func rows(_ snapshot: Snapshot, _ part: ScanPart) throws -> [RowID] {
    var rows: [RowID] = []
    try snapshot.forEachRecord(of: 0, in: part) { (record) throws(StoreError) in
      rows.append(record.rowID)
      return true
    }
    return rows
  }

  private func rows(_ snapshot: Snapshot) throws -> [RowID] {
    var rows: [RowID] = []
    try snapshot.scan(0) { (record) throws(StoreError) in rows.append(record.rowID) }
    return rows
  }

  @Test(arguments: 0..<3)
  func `the parts together have each live row once, in file order`(run: Int) throws {
    var random = SeededGenerator(for: "ScanPartTests \(run)")
    let writer = try TestStore().writer()
    var model = StoreModel()
    for round in 0..<20 * depth {
      let snapshot = try writer.commit { try model.change($0, rows: 60, &random) }
      let all = try rows(snapshot)
      for count in 1...7 {
        let parts = try snapshot.parts(count, of: 0)
        #expect(!parts.isEmpty && parts.count <= count)
        #expect(try parts.flatMap { try rows(snapshot, $0) } == all, "round \(round), \(count) parts")
      }
      if Int.random(in: 0..<5, using: &random) == 0 { _ = try writer.compact() }
    }
  }

  @Test func `parts have about the same number of rows`() throws {
    let writer = try TestStore().writer()
    var snapshot = try writer.commit { transaction in
      for id in 0..<20_000 { try transaction.put("\(id)", "code \(id)", body: String(repeating: "b", count: id % 50)) }
    }
    for count in [2, 4] {
      let counts = try snapshot.parts(count, of: 0).map { try rows(snapshot, $0).count }
      #expect(counts.count == count && counts.allSatisfy { $0 > 20_000 / count / 2 }, "\(counts)")
    }
    snapshot = try writer.commit { transaction in
      for id in 0..<20_000 { try transaction.put("new \(id)", "code \(id)") }
    }
    let counts = try snapshot.parts(2, of: 0).map { try rows(snapshot, $0).count }
    #expect(counts.count == 2 && counts.allSatisfy { $0 > 15_000 }, "\(counts)")
    #expect(try snapshot.parts(4, of: 1).count == 1, "a table without rows has one part")
  }

  @Test func `an index that names what is no object is damage, not other rows`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { transaction in
      for id in 0..<100 { try transaction.put("\(id)", "code \(id)", body: String(repeating: "b", count: 40)) }
    }
    writer.close()
    var log = try ForgedLog(store.log)
    // Every entry of the index of IDs names the middle of its row.
    let block = try #require(log.segments.last?.blocks.first)
    for bucket in 0..<block.bucketCount {
      for entry in 0..<Bucket.count(log.bytes.rawSpan.u32(at: block.bucket(bucket) + 4)) {
        let offset = block.bucket(bucket) + Bucket.indexOffsets + 4 * entry
        log.put(log.bytes.rawSpan.u32(at: offset) + 2, at: offset)
      }
    }
    log.seal()
    let snapshot = try #require(try TestStore().with(log: log.bytes).reader()).snapshot
    #expect(try rows(snapshot).count == 100)
    let parts = try snapshot.parts(2, of: 0)
    #expect(parts.count == 2)
    for part in parts { #expect(throws: StoreError.self) { try rows(snapshot, part) } }
  }

  @Test func `a row is replaced without a lookup, and the counters follow`() throws {
    let store = TestStore()
    let writer = try store.writer()
    var snapshot = try writer.commit { transaction in
      for id in 0..<10 { try transaction.put("\(id)", "old") }
    }
    let replaced = try rows(snapshot)
    snapshot = try writer.commit { transaction in
      for (id, row) in replaced.enumerated() where id % 2 == 0 {
        var draft = RecordDraft()
        draft.addKey(Array("\(id)".utf8).rawSpan)
        draft.addKey(Array("new".utf8).rawSpan)
        try transaction.put(0, draft, replacing: row)
      }
    }
    #expect(snapshot.rowCount(0) == 10)
    #expect(try snapshot.rows(TestSchema.code, "new").count == 5 && snapshot.rows(TestSchema.code, "old").count == 5)
    #expect(try snapshot.rows(TestSchema.id, "4").first?.keys[1] == Array("new".utf8))
    writer.close()
    #expect(try Verification.run(store.location)?.findings.isEmpty == true)
  }
}
