import RandomTestSupport
import Storage
import StoreTestSupport
import Synchronization
import Testing

@testable import LogStore

/// The generation that a full update keeps: what it shows, how long it is kept, and what deletes it.
@Suite struct PreviousGenerationTests {
  private static let day: Int64 = 86_400_000_000

  /// A store on a device of `capacity` bytes, whose clock stands where a test sets it.
  private final class Kept: Sendable {
    let device = SimulatedDevice()
    let time = Atomic<Int64>(1_800_000_000_000_000)
    let notices = Mutex<[StoreNotice]>([])

    func location(_ name: String = "s") -> StoreLocation {
      var environment = FixedEnvironment().environment()
      environment.now = { self.time.load(ordering: .relaxed) }
      environment.notify = { notice in self.notices.withLock { $0.append(notice) } }
      return StoreLocation.test(device.directory, name: name, environment: environment)
    }

    func writer(keeping days: Int64? = nil) throws -> StoreWriter {
      try StoreWriter(
        location(), schema: TestSchema.schema, previousLifetime: days.map { .seconds($0 * 86_400) })
    }

    func pass(days: Int64) { _ = time.add(days * day, ordering: .relaxed) }

    /// A full update by rows of about `byteCount` bytes in all.
    @discardableResult
    func replace(_ writer: StoreWriter, _ name: String, byteCount: Int = 0) throws -> Snapshot {
      try writer.replace { transaction in
        try transaction.put(name)
        for row in 0..<byteCount / 1000 {
          try transaction.put(0, TestRow("\(name) \(row)", "", body: String(repeating: "x", count: 940)))
        }
      }
    }
  }

  @Test func `it shows every commit from before the full update, and no other file is one`() throws {
    let store = Kept()
    let writer = try store.writer()
    #expect(try writer.previousGeneration() == nil)
    var contents: [StoreContents] = []
    for name in ["a", "b", "c"] { contents.append(try StoreContents(writer.commit { try $0.put(name) })) }
    try store.replace(writer, "new")
    let previous = try #require(try writer.previousGeneration())
    #expect(previous.snapshot.sequence == 3 && previous.snapshot.generation == 1)
    #expect(previous.replaced == store.time.load(ordering: .relaxed))
    for (index, expected) in contents.enumerated() {
      let commit = try #require(try previous.snapshot.snapshot(at: UInt64(index + 1)))
      #expect(try StoreContents(commit) == expected)
    }
    // A second name of the log itself, as a crash in a full update leaves it, is not a previous generation.
    _ = try store.device.directory.remove("s.previous")
    try store.device.directory.link("s.log", to: "s.previous")
    #expect(try writer.previousGeneration() == nil)
    #expect(try StoreReader.open(store.location())?.previousGeneration() == nil)
    #expect(try Verification.runPrevious(store.location()) == nil)
  }

  @Test func `a restored commit is a new one in a new generation, and the replaced state is kept in its turn`() throws {
    let store = Kept()
    let writer = try store.writer()
    let first = try writer.commit { transaction in
      for id in 0..<300 { try transaction.put("\(id)", "code \(id % 7)", shared: ["brand \(id % 5)"], body: "body") }
      transaction.state = [1]
    }
    _ = try writer.commit { try $0.delete(TestSchema.id, "17") }
    let replaced = try store.replace(writer, "wrong")
    let earlier = try #require(try writer.previousGeneration()?.snapshot.snapshot(at: 1))
    let restored = try writer.restore(earlier) { $0.state = earlier.state }
    #expect(restored.sequence == 4 && restored.generation == 3)
    #expect(try StoreContents(restored).tables == StoreContents(first).tables && restored.state == [1])
    let undo = try #require(try writer.previousGeneration()?.snapshot)
    #expect(undo.sequence == 3)
    #expect(try StoreContents(undo) == StoreContents(replaced))
    writer.close()
    #expect(try Verification.run(store.location())?.findings.isEmpty == true)
    #expect(try Verification.runPrevious(store.location())?.findings.isEmpty == true)
  }

  @Test func `it is deleted when it was kept for long enough, and not before`() throws {
    let store = Kept()
    var writer = try store.writer(keeping: 7)
    _ = try writer.commit { try $0.put("old") }
    try store.replace(writer, "new")
    for days: Int64 in [3, 3] {
      writer.close()
      store.pass(days: days)
      writer = try store.writer(keeping: 7)
      #expect(try writer.previousGeneration() != nil)
      // Neither commits nor a compaction make it younger or older.
      _ = try writer.commit { try $0.put("\(days)") }
      _ = try writer.compact()
    }
    writer.close()
    // Without a lifetime it is left alone.
    store.pass(days: 1)
    writer = try store.writer()
    #expect(try writer.previousGeneration() != nil)
    writer.close()
    writer = try store.writer(keeping: 7)
    // Whoever opens the store may want to go back to it; a commit says that nobody does.
    #expect(try writer.previousGeneration() != nil)
    _ = try writer.commit { try $0.put("last") }
    #expect(try writer.previousGeneration() == nil)
    #expect(store.device.names == ["s.log"])
    writer.close()
  }

  @Test func `a clock that is far ahead for a while deletes nothing, and neither does its correction`() throws {
    let store = Kept()
    var writer = try store.writer(keeping: 7)
    _ = try writer.commit { try $0.put("old") }
    try store.replace(writer, "new")
    let years = 73 * 365
    func commit(_ name: String) throws {
      writer.close()
      writer = try store.writer(keeping: 7)
      _ = try writer.commit { try $0.put(name) }
    }
    store.pass(days: 1)
    try commit("a")
    store.pass(days: Int64(years))
    for name in ["ahead", "ahead again"] { try commit(name) }
    #expect(try writer.previousGeneration() != nil)
    store.pass(days: -Int64(years))
    for name in ["right", "right again"] { try commit(name) }
    #expect(try writer.previousGeneration() != nil)
    // A jump counts as half of the lifetime, so it is deleted in time.
    store.pass(days: 2)
    try commit("later")
    #expect(try writer.previousGeneration() != nil)
    store.pass(days: 1)
    try commit("at last")
    #expect(try writer.previousGeneration() == nil)
    writer.close()
  }

  @Test func `one that was kept by a clock that was ahead is deleted in time when the clock is right`() throws {
    let store = Kept()
    let writer = try store.writer(keeping: 7)
    _ = try writer.commit { try $0.put("old") }
    store.pass(days: 10_000)
    try store.replace(writer, "new")
    store.pass(days: -10_000)
    for day in 0..<7 {
      #expect(try writer.previousGeneration() != nil, "day \(day)")
      _ = try writer.commit { try $0.put("\(day)") }
      store.pass(days: 1)
    }
    _ = try writer.commit { try $0.put("last") }
    #expect(try writer.previousGeneration() == nil)
    writer.close()
  }

  @Test func `with a lifetime of nothing none is kept`() throws {
    let store = Kept()
    let writer = try store.writer(keeping: 0)
    _ = try writer.commit { try $0.put("old") }
    try store.replace(writer, "new")
    try store.replace(writer, "newer")
    #expect(store.device.names == ["s.log"])
    writer.close()
  }

  @Test func `dropping it says how much that was`() throws {
    let store = Kept()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("old") }
    #expect(try writer.dropPrevious() == 0)
    let count = try #require(store.device.contents("s.log")?.count)
    try store.replace(writer, "new")
    #expect(try writer.dropPrevious() == count)
    #expect(store.device.names == ["s.log"])
    writer.close()
  }

  /// A store of 100 kB with a previous generation of 100 kB, on a device with `room` more bytes.
  private func full(room: Int) throws -> (Kept, StoreWriter) {
    let store = Kept()
    let writer = try store.writer()
    try store.replace(writer, "a", byteCount: 100_000)
    try store.replace(writer, "b", byteCount: 100_000)
    #expect(try writer.previousGeneration() != nil)
    store.device.limit(to: store.device.byteCount + room)
    return (store, writer)
  }

  @Test func `on a full device it makes room for a full update, which says so`() throws {
    let (store, writer) = try full(room: 20_000)
    let count = try #require(store.device.contents("s.previous")?.count)
    for name in ["c", "d", "e"] { try store.replace(writer, name, byteCount: 100_000) }
    let expected = StoreNotice.droppedPrevious(path: "/simulated/s.previous", byteCount: count)
    #expect(store.notices.withLock { $0.first } == expected)
    #expect(store.notices.withLock { $0.count } == 3)
    // What was replaced last is kept: its bytes were there already.
    #expect(try writer.previousGeneration()?.snapshot.sequence == 4)
    writer.close()
    #expect(try Verification.run(store.location())?.findings.isEmpty == true)
  }

  @Test func `on a full device it makes room for an increment, a compaction and another store`() throws {
    var (store, writer) = try full(room: 2000)
    _ = try writer.commit { try $0.put("one more") }
    #expect(store.notices.withLock { $0.count } == 1 && store.device.contents("s.previous") == nil)
    writer.close()

    (store, writer) = try full(room: 20_000)
    _ = try writer.compact()
    #expect(store.notices.withLock { $0.count } == 1)
    writer.close()

    (store, writer) = try full(room: 2000)
    let other = try StoreWriter(store.location("other"), schema: TestSchema.schema)
    _ = try other.commit { try $0.put("queued") }
    #expect(store.notices.withLock { $0.count } == 1)
    other.close()
    writer.close()
  }

  @Test func `where deleting it makes no room the error is that of the full device`() throws {
    let (store, writer) = try full(room: 20_000)
    let last = try StoreContents(#require(writer.snapshot))
    // Another store has this file as its base.
    try store.device.directory.link("s.previous", to: "o.base")
    #expect(throws: StoreError.self) { try store.replace(writer, "c", byteCount: 100_000) }
    #expect(store.notices.withLock { $0.isEmpty })
    #expect(store.device.contents("s.previous") != nil)
    writer.close()
    #expect(try StoreContents(#require(try StoreReader.open(store.location())).snapshot) == last)
  }

  @Test func `a rollback that finds no room deletes nothing`() throws {
    let (_, writer) = try full(room: 20_000)
    let earlier = try #require(try writer.previousGeneration()?.snapshot)
    #expect {
      try writer.restore(earlier) { _ in }
    } throws: {
      if case StoreError.noRoom = $0 { true } else { false }
    }
    #expect(try writer.previousGeneration() != nil)
    writer.close()
  }

  // MARK: Repair

  /// A store with three commits, and a full update after them.
  private func replacedStore() throws -> Kept {
    let store = Kept()
    let writer = try store.writer()
    for name in ["a", "b", "c"] {
      _ = try writer.commit { transaction in
        try transaction.put(name)
        transaction.state = Array(name.utf8)
      }
    }
    try store.replace(writer, "new")
    writer.close()
    return store
  }

  private func otherKind() throws -> [UInt8] {
    let store = TestStore()
    let schema = Schema([Schema.Table("else", keySpaces: [Schema.KeySpace("id", isUnique: true)])])
    let writer = try store.writer(schema)
    _ = try writer.commit { transaction in
      var draft = RecordDraft()
      draft.addKey(Array("row".utf8).rawSpan)
      try transaction.put(0, draft)
    }
    writer.close()
    return store.log
  }

  @Test(arguments: ["empty", "garbage", "another kind"])
  func `where the log holds nothing of the store, a repair goes back to it`(content: String) throws {
    let store = try replacedStore()
    let bytes: [UInt8] =
      switch content {
      case "empty": []
      case "garbage": [UInt8](repeating: 7, count: 20_000)
      default: try otherKind()
      }
    store.device.place(bytes, as: "s.log")
    let repair = try #require(try Repair.run(store.location(), schema: TestSchema.schema))
    let source = try #require(repair.source)
    #expect(source.kind == .previous && source.snapshot.sequence == 3)
    let snapshot = try #require(repair.snapshot)
    #expect(try StoreContents(snapshot).tables == StoreContents(source.snapshot).tables)
    #expect(snapshot.state == Array("c".utf8))
    // The lost full update was commit 4 of generation 2.
    #expect(snapshot.sequence > 4 && snapshot.generation > 2)
    #expect(store.device.contents("s.damaged-1") == bytes)
    #expect(try Verification.run(store.location())?.findings.isEmpty == true)
    #expect(try Repair.run(store.location(), schema: TestSchema.schema)?.findings.isEmpty == true)
  }

  @Test func `a missing log with a previous generation is damage, and a repair goes back to it`() throws {
    let store = try replacedStore()
    _ = try store.device.directory.remove("s.log")
    let repair = try #require(try Repair.run(store.location(), schema: TestSchema.schema))
    #expect(repair.findings.count == 1 && repair.damagedPath == nil && repair.source?.kind == .previous)
    #expect(try StoreReader.open(store.location())?.snapshot.sequence == 5)
  }

  @Test func `a damaged one is found, and a repair sets it aside`() throws {
    let store = try replacedStore()
    var bytes = try #require(store.device.contents("s.previous"))
    bytes[12_288 + 100] ^= 1
    store.device.place(bytes, as: "s.previous")
    let findings = try #require(try Verification.runPrevious(store.location())).findings
    #expect(findings.first?.path == "/simulated/s.previous")
    let repair = try #require(try Repair.run(store.location(), schema: TestSchema.schema))
    #expect(repair.damagedPath == "/simulated/s.damaged-1" && !repair.findings.isEmpty)
    #expect(store.device.contents("s.damaged-1") == bytes && store.device.contents("s.previous") == nil)
    #expect(try StoreReader.open(store.location())?.snapshot.sequence == 4)
    #expect(try Repair.run(store.location(), schema: TestSchema.schema)?.findings.isEmpty == true)
  }

  @Test func `a slot that tore when it was replaced is no damage of it`() throws {
    let store = try replacedStore()
    var bytes = try #require(store.device.contents("s.previous"))
    bytes.replaceSubrange(4096 + 512..<4096 + 1024, with: repeatElement(7, count: 512))
    store.device.place(bytes, as: "s.previous")
    #expect(try Verification.runPrevious(store.location())?.findings.isEmpty == true)
    #expect(try StoreReader.open(store.location())?.previousGeneration()?.snapshot.sequence == 3)
  }

  @Test func `without an older state a log that holds nothing is refused`() throws {
    let store = Kept()
    store.device.place([], as: "s.log")
    #expect(throws: StoreError.self) { try Repair.run(store.location(), schema: TestSchema.schema) }
    #expect(store.device.contents("s.log") == [])
  }

  // MARK: Beginning anew

  @Test func `a damaged store is replaced by the first commit, which sets it aside and counts on`() throws {
    let store = try replacedStore()
    var bytes = try #require(store.device.contents("s.log"))
    bytes[20] ^= 1
    store.device.place(bytes, as: "s.log")
    #expect(throws: StoreError.self) { try StoreWriter(store.location(), schema: TestSchema.schema) }
    var writer = try StoreWriter(store.location(), schema: TestSchema.schema, replacesDamaged: true)
    #expect(writer.snapshot == nil && writer.damagedPath == nil)
    // Given up, it leaves the store as it was.
    writer.discard(try writer.begin())
    writer.close()
    #expect(store.device.contents("s.log") == bytes)
    writer = try StoreWriter(store.location(), schema: TestSchema.schema, replacesDamaged: true)
    let new = try store.replace(writer, "anew")
    #expect(writer.damagedPath == "/simulated/s.damaged-1" && store.device.contents("s.damaged-1") == bytes)
    #expect(new.sequence == 5 && new.generation == 3)
    _ = try writer.commit { try $0.put("more") }
    writer.close()
    #expect(try StoreReader.open(store.location())?.snapshot.sequence == 6)
  }

  @Test func `a sound store is not replaced`() throws {
    let store = try replacedStore()
    let writer = try StoreWriter(store.location(), schema: TestSchema.schema, replacesDamaged: true)
    #expect(writer.snapshot?.sequence == 4)
    _ = try writer.commit { try $0.put("more") }
    #expect(writer.damagedPath == nil && writer.snapshot?.sequence == 5)
    writer.close()
  }
}
