import Bytes
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

@Suite struct StoreWriterTests {
  @Test func `a store without a commit has no log and no snapshot`() throws {
    let store = TestStore()
    let writer = try store.writer()
    #expect(writer.snapshot == nil)
    #expect(writer.nextSequence == 1)
    #expect(try store.reader() == nil)
    #expect(store.device.contents("s.log") == nil)
  }

  @Test func `what was put is found by each of its keys`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let snapshot = try writer.commit { transaction in
      try transaction.put("a", "1", shared: ["brand", "", "brand"], body: "first")
      try transaction.put("b", "1", body: "second")
      try transaction.put("c", "", body: "third")
      try transaction.put(1, TestRow("x", "y", body: "link"))
      transaction.state = [1, 2, 3]
    }
    #expect(try snapshot.rows(TestSchema.id, "a").map(\.description) == ["a|1|brand||brand|first"])
    #expect(try snapshot.rows(TestSchema.code, "1").map { $0.keys[0] } == [Array("a".utf8), Array("b".utf8)])
    #expect(try snapshot.rows(TestSchema.code, "").isEmpty)
    #expect(try snapshot.rows(TestSchema.from, "x") == [TestRow("x", "y", body: "link")])
    #expect(try snapshot.rows(TestSchema.to, "y") == [TestRow("x", "y", body: "link")])
    #expect(snapshot.state == [1, 2, 3])
    #expect(snapshot.sequence == 1)
    #expect(snapshot.generation == 1)
    #expect(snapshot.path == "/simulated/s.log")
    _ = try StoreContents(snapshot)
  }

  @Test func `a lookup ends when its body says so`() throws {
    let writer = try TestStore().writer()
    let snapshot = try writer.commit { transaction in
      for id in 0..<20 { try transaction.put("\(id)", id < 3 ? "few" : "many") }
    }
    for code in ["few", "many"] {
      var seen = 0
      try snapshot.forEachRecord(TestSchema.code, Array(code.utf8).rawSpan) { _ in
        seen += 1
        return seen < 2
      }
      #expect(seen == 2)
    }
  }

  @Test func `a put replaces the row with its unique key`() throws {
    let writer = try TestStore().writer()
    _ = try writer.commit { try $0.put("a", "old") }
    let snapshot = try writer.commit { try $0.put("a", "new") }
    #expect(try snapshot.rows(TestSchema.id, "a") == [TestRow("a", "new")])
    #expect(try snapshot.rows(TestSchema.code, "old").isEmpty)
    #expect(snapshot.rowCount(0) == 1)
    #expect(try snapshot.statistics().deadRowCount == 1)
    _ = try StoreContents(snapshot)
  }

  @Test(arguments: [false, true])
  func `of several rows put with one unique key the last one counts`(_ isFirst: Bool) throws {
    let writer = try TestStore().writer()
    if !isFirst { _ = try writer.commit { try $0.put("a", "before") } }
    let snapshot = try writer.commit { transaction in
      for value in 0..<10 { try transaction.put("a", "c\(value)", body: "\(value)") }
      try transaction.put("b", "c3")
    }
    #expect(try snapshot.rows(0) == [TestRow("a", "c9", body: "9"), TestRow("b", "c3")])
    #expect(try snapshot.rows(TestSchema.code, "c3") == [TestRow("b", "c3")])
    _ = try StoreContents(snapshot)
  }

  @Test func `a deletion acts on the snapshot before the transaction`() throws {
    let writer = try TestStore().writer()
    _ = try writer.commit { transaction in
      for id in 0..<10 { try transaction.put("\(id)", id % 2 == 0 ? "even" : "odd") }
    }
    let snapshot = try writer.commit { transaction in
      try transaction.put("20", "even")
      #expect(try transaction.delete(TestSchema.code, "even") == 5)
      #expect(try transaction.delete(TestSchema.code, "even") == 0)
      #expect(try transaction.delete(TestSchema.id, "0") == 0)
      #expect(try transaction.delete(TestSchema.id, "1") == 1)
      #expect(try transaction.delete(TestSchema.id, "none") == 0)
      try transaction.put("3", "again")
    }
    #expect(
      try snapshot.rows(0).map { String(decoding: $0.keys[0], as: UTF8.self) } == ["20", "3", "5", "7", "9"])
    #expect(try snapshot.rows(TestSchema.code, "even") == [TestRow("20", "even")])
    _ = try StoreContents(snapshot)
  }

  @Test func `a transaction without changes is a commit`() throws {
    let writer = try TestStore().writer()
    let empty = try writer.commit { _ in }
    #expect(empty.sequence == 1)
    #expect(try StoreContents(empty).tables == [[], []])
    #expect(try writer.commit { $0.state = [7] }.state == [7])
    let third = try writer.commit { _ in }
    #expect(third.sequence == 3)
    #expect(third.state == [7])
  }

  @Test(arguments: [nil, 4096])
  func `an aborted transaction leaves no trace`(_ flushLimit: Int?) throws {
    struct Stop: Error {}
    let store = TestStore(flushLimit: flushLimit)
    let writer = try store.writer()
    let before = try StoreContents(try writer.commit { try $0.put("a", "1") })
    let bytes = store.log
    #expect(throws: Stop.self) {
      _ = try writer.commit { transaction in
        for id in 0..<500 { try transaction.put("\(id)", "x", body: "some text that takes room") }
        try transaction.delete(TestSchema.id, "a")
        throw Stop()
      }
    }
    #expect(store.log == bytes)
    #expect(try StoreContents(#require(writer.snapshot)) == before)
    #expect(try writer.commit { try $0.put("b", "2") }.sequence == 2)
    #expect(throws: Stop.self) {
      _ = try writer.replace { transaction in
        for id in 0..<500 { try transaction.put("\(id)", "x") }
        throw Stop()
      }
    }
    #expect(throws: Stop.self) { _ = try writer.replace({ try $0.put("z") }, accept: { _ in throw Stop() }) }
    #expect(store.device.names == ["s.log"])
    #expect(try StoreContents(#require(writer.snapshot)).tables[0].count == 2)
  }

  @Test func `keys may be empty, and as long as the format allows, but no longer`() throws {
    let writer = try TestStore().writer()
    let longest = String(repeating: "k", count: 65_535)
    let snapshot = try writer.commit { transaction in
      try transaction.put("", "", body: "empty")
      try transaction.put(longest, "", body: "long")
      for id in 0..<6 { try transaction.put("\(id)", String(repeating: "c", count: 65_534)) }
      #expect {
        try transaction.put(longest, "1")
      } throws: { error in
        guard case StoreError.tooLarge(_, 65_536, 65_535) = error else { return false }
        return true
      }
      try transaction.put(1, TestRow("", ""))
    }
    #expect(try snapshot.rows(TestSchema.id, "").map(\.body) == [Array("empty".utf8)])
    #expect(try snapshot.rows(TestSchema.id, longest).map(\.body) == [Array("long".utf8)])
    #expect(snapshot.keyLengths(TestSchema.id).lengths == [0, 1, 255])
    #expect(snapshot.rowCount(0) == 8)
    _ = try StoreContents(snapshot)
  }

  @Test func `a record may be as long as the format allows, but no longer`() throws {
    let writer = try TestStore().writer()
    // Object header, counts and key ends to a multiple of four, and the one-byte key.
    let sealed = testsAreSealed ? SealedForm.baseObjectOverhead : 0
    let room = ObjectHeader.maximumLength - 16 - 1 - sealed
    let snapshot = try writer.commit { transaction in
      var draft = RecordDraft()
      let text = [UInt8](repeating: 1, count: ObjectHeader.maximumLength - 7 - sealed)
      draft.addKey(text.rawSpan.slice(0, 1))
      draft.addKey(text.rawSpan.slice(0, 0))
      draft.body = [UInt8](repeating: 5, count: room + 1)
      #expect {
        try transaction.put(0, draft)
      } throws: { error in
        guard case StoreError.tooLarge(_, 16_777_216, 16_777_215) = error else { return false }
        return true
      }
      draft.body.removeLast()
      try transaction.put(0, draft)
      #expect(throws: StoreError.self) {
        _ = try transaction.share(text.rawSpan)
      }
    }
    var length = 0
    try snapshot.scan(0) { record in length = record.body.byteCount }
    #expect(length == room)
    #expect(snapshot.rowCount(0) == 1)
  }

  @Test func `segments beyond 8 MiB are written in pieces, in the base and in the tail`() throws {
    let temporary = try TemporaryDirectory()
    let location = StoreLocation.test(temporary.directory, name: "large")
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    let body = [UInt8](repeating: 9, count: 1 << 20)
    for round in 0..<2 {
      let snapshot = try writer.commit { transaction in
        for id in 0..<9 {
          var row = TestRow("", "")
          row.keys = [[UInt8(id + round)], [7]]
          row.shared = [[UInt8(round + 1)]]
          row.body = body
          try transaction.put(0, row)
        }
        #expect(transaction.appender.builder.isLarge)
      }
      #expect(snapshot.footer.bodyWasSynced)
      #expect(snapshot.rowCount(0) == 9 + round)
      #expect(try snapshot.rows(TestSchema.code, [7]).count == 9 + round)
    }
    let next = try writer.commit { try $0.put("small") }
    let contents = try StoreContents(next)
    writer.close()
    #expect(try StoreContents(#require(try StoreReader.open(location)).snapshot) == contents)
    let again = try StoreWriter(location, schema: TestSchema.schema)
    #expect(try StoreContents(#require(again.snapshot)) == contents)
  }

  @Test func `a second writer is refused, and waits when asked`() throws {
    let device = SimulatedDevice()
    let fixed = FixedEnvironment()
    let location = StoreLocation.test(device.directory, name: "s", environment: fixed.environment())
    _ = try StoreWriter(location, schema: TestSchema.schema)
    let first = try #require(try device.directory.lock("s.lock"))
    func open(lockTimeout: Duration) throws(StoreError) -> StoreWriter {
      let waiting = StoreLocation.test(
        device.directory, name: "s",
        environment: fixed.environment { _ in
          if fixed.waited.load(ordering: .relaxed) >= 55 { first.release() }
        })
      return try StoreWriter(waiting, schema: TestSchema.schema, lockTimeout: lockTimeout)
    }
    for waiting in [Duration.zero, .milliseconds(25)] {
      #expect {
        _ = try open(lockTimeout: waiting)
      } throws: { error in
        guard case StoreError.locked = error else { return false }
        return true
      }
    }
    #expect(fixed.waited.load(ordering: .relaxed) == 25)
    _ = try open(lockTimeout: .milliseconds(100))
  }

  @Test func `a closed writer takes no more commits`() throws {
    let writer = try TestStore().writer()
    _ = try writer.commit { try $0.put("a") }
    writer.close()
    #expect(throws: StoreError.self) { _ = try writer.commit { try $0.put("b") } }
    #expect(throws: StoreError.self) { _ = try writer.compact() }
  }

  @Test func `history and the snapshot at each of its commits are what they were`() throws {
    let writer = try TestStore().writer()
    var expected: [StoreContents] = []
    for number in 1...12 {
      let snapshot = try writer.commit { transaction in
        try transaction.put("\(number % 5)", "code", body: "\(number)")
        if number % 3 == 0 { try transaction.delete(TestSchema.id, "\((number + 1) % 5)") }
        transaction.state = [UInt8(number)]
      }
      expected.append(try StoreContents(snapshot))
    }
    let last = try #require(writer.snapshot)
    let history = try last.history()
    #expect(history.map(\.sequence) == Array((1...12).reversed()))
    #expect(history.map(\.state) == (1...12).reversed().map { [UInt8($0)] })
    #expect(history.allSatisfy { $0.byteCount % 4096 == 0 && $0.generation == 1 })
    #expect(Set(history.map(\.time)).count == 12)
    for contents in expected {
      #expect(try StoreContents(#require(try last.snapshot(at: contents.sequence))) == contents)
    }
    #expect(try last.snapshot(at: 13) == nil)
    #expect(try last.snapshot(at: 0) == nil)
  }

  @Test func `compaction keeps content, sequence and state, and raises the generation`() throws {
    let store = TestStore()
    let writer = try store.writer()
    #expect(try writer.compact() == nil)
    for number in 0..<40 {
      _ = try writer.commit { transaction in
        for row in 0..<5 {
          try transaction.put("\((number * 3 + row) % 50)", "c\(row)", shared: ["brand"], body: "\(number)")
        }
        try transaction.put(1, TestRow("p\(number)", "q\(number % 3)"))
        transaction.state = [UInt8(number)]
      }
    }
    let before = try #require(writer.snapshot)
    let contents = try StoreContents(before)
    let compacted = try #require(try writer.compact())
    #expect(try StoreContents(compacted) == contents)
    #expect(try StoreContents(before) == contents)
    #expect(compacted.generation == before.generation + 1)
    let statistics = try compacted.statistics()
    #expect(statistics.deadRowCount == 0 && statistics.tailRowCount == 0 && statistics.tailByteCount == 0)
    #expect(statistics.fileByteCount == store.log.count)
    #expect(statistics.fileByteCount < (try before.statistics().fileByteCount) / 4)
    #expect(statistics.indexes.allSatisfy { $0.blockCount == 1 })
    #expect(store.device.names == ["s.log"])
    let next = try writer.commit { try $0.put("after") }
    #expect(next.sequence == contents.sequence + 1)
    _ = try StoreContents(next)
  }

  @Test func `compaction keeps tables that the program does not know`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let before = try StoreContents(
      try writer.commit { transaction in
        try transaction.put("a", "1")
        try transaction.put(1, TestRow("x", "y", shared: ["text"]))
      })
    writer.close()
    let old = try store.writer(Schema([TestSchema.items]))
    #expect(try StoreContents(#require(try old.compact())) == before)
    _ = try old.commit { try $0.put("b", "2") }
    old.close()
    #expect(try StoreContents(#require(try store.reader()).snapshot).tables[1] == before.tables[1])
  }

  @Test func `a full update replaces everything and keeps the previous generation`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let old = try writer.commit { try $0.put("old") }
    let new = try writer.replace { transaction in
      #expect(transaction.base == nil)
      try transaction.put("new")
    }
    #expect(store.device.names == ["s.log", "s.previous"])
    #expect(try StoreContents(old).tables[0] == [TestRow("old", "")])
    #expect(try StoreContents(new).tables[0] == [TestRow("new", "")])
    #expect(new.sequence == 2 && new.generation == 2)
    let previous = store.with(log: try #require(store.device.contents("s.previous")))
    #expect(try StoreContents(#require(try previous.reader()).snapshot).tables[0] == [TestRow("old", "")])
    _ = try writer.replace { try $0.put("newer") }
    #expect(try StoreContents(new).tables[0] == [TestRow("new", "")])
    _ = try writer.replace(keepsPrevious: false) { try $0.put("newest") }
    #expect(store.device.names == ["s.log", "s.previous"])
  }

  @Test func `another schema is refused, added tables are accepted`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    writer.close()
    let items = TestSchema.items
    let id = Schema.KeySpace("id", isUnique: true)
    let code = Schema.KeySpace("code", skipsEmptyKeys: true)
    for table in [
      Schema.Table("things", keySpaces: items.keySpaces), Schema.Table("items", keySpaces: [id]),
      Schema.Table("items", keySpaces: [id, code, code]),
      Schema.Table("items", keySpaces: [id, Schema.KeySpace("code")]),
      Schema.Table("items", keySpaces: [Schema.KeySpace("id"), code]),
      Schema.Table("items", keySpaces: [Schema.KeySpace("key", isUnique: true), code]),
    ] {
      #expect {
        _ = try store.writer(Schema([table]))
      } throws: { error in
        guard case StoreError.schema = error else { return false }
        return true
      }
    }
    let more = Schema([items, TestSchema.links, Schema.Table("notes", keySpaces: [id])])
    let wider = try store.writer(more)
    #expect(try #require(wider.snapshot).rowCount(2) == 0)
    var draft = RecordDraft()
    let key: [UInt8] = [1]
    draft.addKey(key.rawSpan)
    let snapshot = try wider.commit { try $0.put(2, draft) }
    #expect(snapshot.rowCount(2) == 1)
    #expect(snapshot.rowCount(0) == 1)
    #expect(try snapshot.rows(KeySpaceID(table: 2, index: 0), key).count == 1)
  }

  @Test func `a file that a newer program wrote is read but not written`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    writer.close()
    var bytes = store.log
    bytes[24] = 1
    let checksum = Checksum.of(bytes.rawSpan.slice(0, 4092))
    for index in 0..<4 { bytes[4092 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    let newer = store.with(log: bytes)
    #expect(try #require(try newer.reader()).snapshot.rowCount(0) == 1)
    #expect {
      _ = try newer.writer()
    } throws: { error in
      guard case StoreError.newer = error else { return false }
      return true
    }
    #expect(newer.log == bytes)
  }

  @Test(arguments: [8, 32], [false, true])
  func `a file of an unknown version or with unknown features is not replaced, repaired or set aside`(
    offset: Int, replacesDamaged: Bool
  ) throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    writer.close()
    var bytes = store.log
    bytes[offset] |= 1 << 4
    // A later version may have another length of the header.
    bytes[13] = 0x20
    let checksum = Checksum.of(bytes.rawSpan.slice(0, 4092))
    for index in 0..<4 { bytes[4092 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    let newer = store.with(log: bytes)
    let attempts: [() throws -> Void] = [
      { _ = try newer.reader() }, { _ = try Verification.run(newer.location) },
      { _ = try StoreWriter(newer.location, schema: TestSchema.schema, replacesDamaged: replacesDamaged) },
      { _ = try Repair.run(newer.location, schema: TestSchema.schema, setsAside: replacesDamaged) },
    ]
    for attempt in attempts {
      #expect {
        try attempt()
      } throws: { error in
        guard case StoreError.newer(let path, _) = error, let error = error as? StoreError else { return false }
        return path == newer.location.path && !error.isDamage && "\(error)".contains(StoreError.newerWords)
      }
    }
    #expect(newer.log == bytes)
    #expect(newer.device.names.allSatisfy { !$0.contains("damaged") })
  }

  @Test(.disabled(if: testsAreSealed, "it finds the row in clear"))
  func `an error that a body swallows still refuses the commit`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { transaction in
      for id in 0..<50 { try transaction.put("\(id)", "1") }
    }
    writer.close()
    // The record of one row rots; replacing it cannot find it.
    var bytes = store.log
    let place = try #require(bytes.firstRange(of: Array("17".utf8) + Array("1".utf8))).lowerBound
    bytes[place] ^= 1
    let rotten = store.with(log: bytes)
    let next = try rotten.writer()
    #expect(throws: StoreError.self) {
      _ = try next.commit { transaction in
        for id in 0..<50 { try? transaction.put("\(id)", "2") }
      }
    }
    #expect(rotten.log == bytes)
  }
}
