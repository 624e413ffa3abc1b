import Bytes
import Platform
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

@Suite struct PostingListTests {
  @Test(arguments: [4, 5, 100, 5000])
  func `all rows of one key are found, through deletions, merging and compaction`(_ count: Int) throws {
    var count = count
    let writer = try TestStore().writer()
    _ = try writer.commit { _ in }
    var snapshot = try writer.commit { transaction in
      for id in 0..<count { try transaction.put("\(id)", "shared") }
      try transaction.put("x", "other")
    }
    func check() throws {
      let rows = try snapshot.rows(0).filter { $0.keys[1] == Array("shared".utf8) }
      #expect(try snapshot.rows(TestSchema.code, "shared") == rows)
      #expect(rows.count == count)
    }
    try check()
    snapshot = try writer.commit { transaction in
      for id in stride(from: 0, to: count, by: 2) { try transaction.delete(TestSchema.id, "\(id)") }
    }
    count /= 2
    try check()
    // Merges with the block before, as it has no fewer rows.
    snapshot = try writer.commit { transaction in
      for id in 0..<count { try transaction.put("new\(id)", "shared") }
    }
    count *= 2
    try check()
    #expect(snapshot.blocks(of: KeySpaceID(table: 0, index: 1)).all.count == 1)
    snapshot = try #require(try writer.compact())
    try check()
    snapshot = try writer.commit { try $0.delete(TestSchema.code, "shared") }
    #expect(try snapshot.rows(TestSchema.code, "shared").isEmpty)
    #expect(snapshot.rowCount(0) == 1)
  }

  @Test func `a small commit does not write the long list of its key again`() throws {
    let writer = try TestStore().writer()
    _ = try writer.commit { _ in }
    _ = try writer.commit { transaction in
      for id in 0..<5000 { try transaction.put("\(id)", "shared") }
    }
    var longest = 0
    for id in 0..<30 {
      let snapshot = try writer.commit { try $0.put("new\(id)", "shared") }
      longest = max(longest, Int(snapshot.footer.segmentLength))
    }
    #expect(longest <= 8192)
    #expect(try #require(writer.snapshot).rows(TestSchema.code, "shared").count == 5030)
  }

  @Test func `a posting list is checked once for all of its rows, in a batch too`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let snapshot = try writer.commit { transaction in
      for id in 0..<100 { try transaction.put("\(id)", "shared") }
    }
    let list = try #require(try ForgedLog(store.log).objects(.postingList).first).offset
    let file = try #require(try store.device.directory.open("s.log", .write))
    var keys = KeyBatch()
    keys.append(Array("shared".utf8).rawSpan)
    var rows = 0
    try snapshot.forEachRecord(TestSchema.code, of: keys) { (_, _) throws(StoreError) in
      rows += 1
      // The list's checksum; its rows stay as they are.
      if rows == 1 { try storage { () throws(StorageError) in try file.write([0, 0, 0, 0].rawSpan, at: list) } }
    }
    #expect(rows == 100)
    #expect(throws: StoreError.self) { try snapshot.rows(TestSchema.code, "shared") }
  }

  @Test func `verification looks at the rows of a key once, not once for each of them`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { transaction in
      for id in 0..<20_000 { try transaction.put("\(id)", "shared") }
    }
    let verification = try #require(try Verification.run(store.location))
    #expect(verification.findings.isEmpty)
  }

  @Test func `lists grow with the rows of their key, so that their number has a limit`() {
    #expect(PostingList.count(forRows: 5) == 4096)
    #expect(PostingList.count(forRows: 64 * 4096) == 4096)
    #expect(PostingList.count(forRows: 64 * 4096 + 1) == 4097)
    #expect(PostingList.count(forRows: 1 << 31) == PostingList.maximumCount)
    let longest = 16 + 4 * PostingList.maximumCount + RecordLayout.maximumKeyLength
    #expect(longest <= ObjectHeader.maximumLength)
  }

  @Test func `lengths that contradict each other are no list`() {
    let key = Array("key".utf8)
    let rows = (0..<3).map { IndexEntry(hash: 0, offset: UInt32($0)) }
    var contents = [UInt8](repeating: 0xFF, count: PostingList.byteCount(of: rows.count, key: key.rawSpan))
    contents.change(0, contents.count) { PostingList.put(keySpace: 1, key: key.rawSpan, rows: rows.span, in: &$0) }
    let object = [UInt8](repeating: 0, count: 8) + contents
    func isList(_ bytes: [UInt8]) -> Bool {
      if PostingList(bytes.rawSpan) != nil { true } else { false }
    }
    #expect(isList(object))
    for count in 0..<object.count { #expect(!isList(Array(object.prefix(count)))) }
    for byte in [10, 12, 15] {
      var wrong = object
      wrong[byte] = 0xFF
      #expect(!isList(wrong))
    }
  }
}
