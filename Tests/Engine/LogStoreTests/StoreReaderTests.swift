import Bytes
import Storage
import StoreTestSupport
import Synchronization
import Testing
@testable import LogStore

@Suite struct StoreReaderTests {
  @Test(arguments: [Duration.zero, .seconds(3600)])
  func `a reader moves on across commits and generations when it is asked to`(refreshInterval: Duration) throws {
    let temporary = try TemporaryDirectory()
    let location = StoreLocation.test(temporary.directory, name: "s")
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    var contents = [try StoreContents(try writer.commit { try $0.put("a", "1") })]
    let reader = try #require(try StoreReader.open(location, refreshInterval: refreshInterval))
    #expect(try !reader.refresh())
    let first = reader.snapshot
    func step(_ next: Snapshot?) throws {
      contents.append(try StoreContents(#require(next)))
      #expect(reader.snapshot !== next)
      #expect(try StoreContents(reader.snapshot) == contents[contents.count - 2])
      #expect(try reader.refresh())
      #expect(try StoreContents(reader.snapshot) == contents.last)
      #expect(try !reader.refresh())
    }
    try step(writer.commit { try $0.put("b", "2") })
    try step(writer.commit { try $0.delete(TestSchema.id, "a") })
    try step(writer.replace { try $0.put("c", "3") })
    try step(writer.commit { try $0.put("d", "4") })
    try step(writer.compact())
    try step(writer.commit { try $0.put("e", "5") })
    // Three generations ago, and its file has no name any more.
    #expect(try StoreContents(first) == contents[0])
  }

  @Test func `what nobody announces is seen when the directory is looked at again`() throws {
    let temporary = try TemporaryDirectory()
    let clock = Uptime()
    var environment = StoreEnvironment.system
    environment.uptime = { clock.nanoseconds.load(ordering: .relaxed) }
    let location = StoreLocation.test(temporary.directory, name: "s", environment: environment)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try writer.commit { try $0.put("a", "1") }
    writer.close()
    let reader = try #require(try StoreReader.open(location, refreshInterval: .milliseconds(2)))
    _ = try temporary.directory.remove(location.log)
    clock.nanoseconds.add(1_999_999, ordering: .relaxed)
    #expect(try !reader.refresh() && !reader.isRemoved)
    clock.nanoseconds.add(1, ordering: .relaxed)
    #expect(try !reader.refresh() && reader.isRemoved)
    // What is gone is looked for each time.
    let next = try StoreWriter(location, schema: TestSchema.schema)
    _ = try next.commit { try $0.put("b", "2") }
    #expect(throws: (any Error).self) { try reader.refresh() }
    #expect(!reader.isRemoved)
  }

  @Test func `a reader grows its mapping with the log`() throws {
    let temporary = try TemporaryDirectory()
    let location = StoreLocation.test(temporary.directory, name: "s")
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try writer.commit { try $0.put("a", "1") }
    let reader = try #require(try StoreReader.open(location))
    let body = [UInt8](repeating: 1, count: 15 << 20)
    for number in 0..<6 {
      _ = try writer.commit { transaction in
        var row = TestRow("\(number)", "")
        row.body = body
        try transaction.put(0, row)
      }
      #expect(try reader.refresh())
      #expect(reader.snapshot.rowCount(0) == number + 2)
      #expect(try reader.snapshot.rows(TestSchema.id, "\(number)")[0].body == body)
      #expect(try reader.snapshot.rows(TestSchema.id, "a").count == 1)
    }
  }

  @Test func `a reader of a store that was never written, or is gone, sees none`() throws {
    let store = TestStore()
    #expect(try store.reader() == nil)
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    let reader = try #require(try store.reader())
    #expect(try store.device.directory.remove("s.log"))
    #expect(try !reader.refresh())
    #expect(try reader.snapshot.rows(TestSchema.id, "a").count == 1)
    #expect(try store.reader() == nil)
    #expect(try StoreLocation.existing("/nonexistent/directory", name: "s") == nil)
  }

  @Test func `what is no store is refused and left alone`() throws {
    for bytes in [[], [1, 2, 3], [UInt8](repeating: 0, count: 20_000), Array("SHELFLOG".utf8)] {
      let store = TestStore().with(log: bytes)
      for open in [{ _ = try store.reader() }, { _ = try store.writer() }] {
        #expect {
          try open()
        } throws: { error in
          guard case StoreError.unusable = error else { return false }
          return true
        }
      }
      #expect(store.log == bytes)
    }
  }

  @Test func `a log without any commit is damaged, not empty`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    var bytes = store.log
    for offset in 4096..<12_300 { bytes[offset] = 0 }
    let broken = store.with(log: bytes)
    #expect(throws: StoreError.self) { _ = try broken.reader() }
    #expect(throws: StoreError.self) { _ = try broken.writer() }
    #expect(broken.log == bytes)
  }

  @Test func `several threads refresh and read while one writes`() async throws {
    let temporary = try TemporaryDirectory()
    let location = StoreLocation.test(temporary.directory, name: "s")
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try writer.commit { transaction in
      for id in 0..<50 { try transaction.put("\(id)", "same", body: "0") }
    }
    let reader = try #require(try StoreReader.open(location))
    let rounds = 40
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var last: UInt64 = 0
          while last <= UInt64(rounds) {
            try reader.refresh()
            let snapshot = reader.snapshot
            #expect(snapshot.sequence >= last)
            last = snapshot.sequence
            // All rows of a commit carry its number.
            let bodies = Set(try snapshot.rows(TestSchema.code, "same").map(\.body))
            #expect(bodies == [Array("\(last - 1)".utf8)])
            await Task.yield()
          }
        }
      }
      for round in 1...rounds {
        let fill: (Transaction) throws -> Void = { transaction in
          for id in 0..<50 { try transaction.put("\(id)", "same", body: "\(round)") }
        }
        _ = round % 10 == 5 ? try writer.replace(fill) : try writer.commit(fill)
        if round % 10 == 0 { _ = try writer.compact() }
        await Task.yield()
      }
      try await group.waitForAll()
    }
  }

  /// A reader knows no schema: a store of another program may have fewer key spaces than are asked for.
  @Test func `a key space that a store lacks holds no rows`() throws {
    let store = TestStore()
    let writer = try store.writer(Schema([Schema.Table("other", keySpaces: [Schema.KeySpace("id")])]))
    _ = try writer.commit { transaction in
      var draft = RecordDraft()
      draft.addKey([1].rawSpan)
      try transaction.put(0, draft)
    }
    writer.close()
    let snapshot = try #require(try store.reader()).snapshot
    for space in [TestSchema.code, TestSchema.to] {
      #expect(try snapshot.rows(space, "x").isEmpty && snapshot.keyLengths(space).lengths.isEmpty)
      snapshot.prefetch(space, [1].rawSpan)
    }
    #expect(try snapshot.rows(TestSchema.id, [1]).count == 1)
  }
}

/// A clock that moves when it is told to.
private final class Uptime: Sendable {
  let nanoseconds = Atomic<Int64>(5_000_000)
}
