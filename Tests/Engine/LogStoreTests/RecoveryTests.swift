import Bytes
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

@Suite struct RecoveryTests {
  /// A store with commits 1 to 5, and what each shows.
  private struct Sample {
    let store: TestStore
    let log: [UInt8]
    /// Contents and first byte after each commit.
    var commits: [(contents: StoreContents, end: Int)] = []
    /// Both slot pages after each commit.
    private var slots: [ArraySlice<UInt8>] = []
    private static let slotRange = AcknowledgementSlot.offsets[0]..<SegmentHeader.firstOffset

    init(flushLimit: Int? = nil) throws {
      store = TestStore(flushLimit: flushLimit)
      let writer = try store.writer()
      for number in 1...5 {
        let snapshot = try writer.commit { transaction in
          for row in 0..<(number * 4) {
            try transaction.put("\(row)", "c\(row % 3)", shared: ["brand"], body: "\(number)")
          }
          try transaction.delete(TestSchema.id, "\(number - 2)")
          try transaction.put(1, TestRow("from\(number)", "to"))
        }
        commits.append((try StoreContents(snapshot), snapshot.end))
        slots.append(store.log[Self.slotRange])
      }
      log = store.log
      writer.close()
    }

    /// A store in which commit `number` is the last that a slot knows; with 0 no slot says anything.
    func unacknowledged(after number: Int) -> [UInt8] {
      var log = log
      let none = [UInt8](repeating: 0, count: Self.slotRange.count)
      log.replaceSubrange(Self.slotRange, with: number == 0 ? none[...] : slots[number - 1])
      return log
    }

    /// Opens `log` for reading and for writing, and expects commit `number` both times and again afterwards.
    func expect(_ number: Int, in log: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws {
      let expected = commits[number - 1]
      let damaged = store.with(log: log)
      #expect(
        try StoreContents(#require(try damaged.reader()).snapshot) == expected.contents,
        sourceLocation: sourceLocation)
      let writer = try damaged.writer()
      #expect(damaged.log.count == expected.end, sourceLocation: sourceLocation)
      #expect(
        try StoreContents(#require(writer.snapshot)) == expected.contents, sourceLocation: sourceLocation)
      let next = try writer.commit { try $0.put("next", "one") }
      #expect(next.sequence == UInt64(number + 1), sourceLocation: sourceLocation)
      writer.close()
      #expect(
        try StoreContents(#require(try damaged.reader()).snapshot) == StoreContents(next),
        sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [nil, 1024])
  func `a tail that is cut anywhere behind the acknowledged end gives the last whole commit`(_ limit: Int?)
    throws
  {
    let sample = try Sample(flushLimit: limit)
    // Slots know commit 4 at most; commit 5 is whole only where nothing is missing.
    let log = sample.unacknowledged(after: 4)
    let start = sample.commits[3].end
    var lengths = Array(start..<(start + 80)) + Array((log.count - 140)..<log.count)
    lengths += stride(from: start, to: log.count, by: 200 / depth + 1)
    for length in lengths {
      try sample.expect(4, in: Array(log.prefix(length)))
    }
    try sample.expect(5, in: log)
  }

  @Test func `a file cut before the acknowledged end is damaged`() throws {
    let sample = try Sample()
    for length in stride(from: 4096, to: sample.log.count, by: 1000) {
      let cut = sample.store.with(log: Array(sample.log.prefix(length)))
      for open in [{ _ = try cut.reader() }, { _ = try cut.writer() }] {
        #expect {
          try open()
        } throws: { error in
          guard case StoreError.damaged = error else { return false }
          return true
        }
      }
      #expect(cut.log.count == length)
    }
  }

  @Test func `garbage behind the last commit is cut off by the next writer`() throws {
    let sample = try Sample()
    var random = SeededGenerator(for: "RecoveryTests, garbage")
    for count in [1, 63, 64, 128, 4095, 4096, 10_000] {
      try sample.expect(5, in: sample.log + random.bytes(count))
      try sample.expect(5, in: sample.log + [UInt8](repeating: 0, count: count))
      // An older segment, as a disk may hold it from before.
      try sample.expect(5, in: sample.log + sample.log[sample.commits[0].end..<sample.commits[1].end])
      try sample.expect(5, in: sample.log + sample.log[12_288...])
    }
  }

  @Test func `a tail with a flipped bit in the commit that no slot knows is cut off`() throws {
    let sample = try Sample()
    let log = sample.unacknowledged(after: 4)
    let start = sample.commits[3].end
    for offset in stride(from: start, to: log.count, by: 11) {
      var torn = log
      torn[offset] ^= 0x10
      let store = sample.store.with(log: torn)
      #expect(try StoreContents(#require(try store.reader()).snapshot) == sample.commits[3].contents)
    }
  }

  @Test func `without the last slot, or any, all commits are found`() throws {
    let sample = try Sample()
    try sample.expect(5, in: sample.unacknowledged(after: 4))
    let log = sample.unacknowledged(after: 0)
    for offset in AcknowledgementSlot.offsets { #expect(log[offset] == 0) }
    try sample.expect(5, in: log)
    var random = SeededGenerator(for: "RecoveryTests, slots")
    var garbage = log
    garbage.replaceSubrange(4096..<12_288, with: random.bytes(8192))
    try sample.expect(5, in: garbage)
    for number in 1...4 {
      try sample.expect(number, in: Array(log.prefix(sample.commits[number - 1].end)))
    }
  }

  @Test func `an unfinished generation is removed`() throws {
    let sample = try Sample()
    sample.store.device.place([1, 2, 3], as: "s.new")
    #expect(try StoreContents(#require(try sample.store.reader()).snapshot) == sample.commits[4].contents)
    #expect(sample.store.device.names.contains("s.new"))
    let writer = try sample.store.writer()
    #expect(!sample.store.device.names.contains("s.new"))
    writer.close()
  }

  @Test func `opening a sound store changes nothing`() throws {
    let sample = try Sample()
    let operations = sample.store.device.operations
    let writer = try sample.store.writer()
    _ = try sample.store.reader()
    #expect(sample.store.device.operations == operations)
    #expect(sample.store.log == sample.log)
    writer.close()
  }

  @Test func `a commit that this writer cannot see afterwards ends it and is not written over`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    #expect(throws: StoreError.self) {
      _ = try writer.commit { transaction in
        try transaction.put("c", "1")
        // What comes after the first write cannot be read.
        store.device.observe { store.device.refuse(.read, 5) }
      }
    }
    store.device.observe(nil)
    let log = store.log
    #expect {
      _ = try writer.commit { try $0.put("b", "1") }
    } throws: { error in
      guard case StoreError.poisoned = error else { return false }
      return true
    }
    writer.close()
    #expect(store.log == log)
    let next = try store.with(log: log).writer()
    #expect(try #require(next.snapshot).sequence == #require(writer.snapshot).sequence + 1)
  }

  @Test(arguments: [nil, 1024], 1...3)
  func `a failed sync ends the writer, and what it left is made durable by the next`(
    _ flushLimit: Int?, _ number: Int
  ) throws {
    let store = TestStore(flushLimit: flushLimit)
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    let before = try StoreContents(#require(writer.snapshot))
    store.device.fail(.sync, number, DeviceFault(5))
    var reported = before
    #expect {
      for round in 0..<4 {
        reported = try StoreContents(
          try writer.commit { transaction in
            for id in 0..<30 { try transaction.put("\(round).\(id)", "2") }
          })
      }
    } throws: { error in
      guard case StoreError.io = error else { return false }
      return true
    }
    #expect {
      _ = try writer.commit { try $0.put("b", "1") }
    } throws: { error in
      guard case StoreError.poisoned = error else { return false }
      return true
    }
    #expect(try StoreContents(#require(writer.snapshot)) == reported)
    writer.close()
    // The pages are still in memory, and the next writer may find the commit there. Then it has to be durable.
    let next = try store.writer()
    let found = try StoreContents(#require(next.snapshot))
    #expect(found.sequence == reported.sequence || found.sequence == reported.sequence + 1)
    var random = SeededGenerator(for: "RecoveryTests, failed sync")
    let after = TestStore(store.device.crashed(.nothing, &random))
    #expect(try StoreContents(#require(try after.reader()).snapshot) == found)
  }

  @Test func `a generation that got its name but not durably gets it so from whoever opens it`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    store.device.fail(.syncDirectory, 1, DeviceFault(5))
    #expect(throws: StoreError.self) { _ = try writer.replace { try $0.put("b", "1") } }
    writer.close()
    let next = try store.writer()
    let commit = try StoreContents(try next.commit { try $0.put("c", "1") })
    var random = SeededGenerator(for: "RecoveryTests, names")
    let after = TestStore(store.device.crashed(.nothing, &random))
    #expect(try StoreContents(#require(try after.reader()).snapshot) == commit)
  }

  @Test func `a torn tail is gone for good before anything is written in its place`() throws {
    var random = SeededGenerator(for: "RecoveryTests, torn tail")
    let store = TestStore(flushLimit: 300)
    let writer = try store.writer()
    let first = try StoreContents(try writer.commit { try $0.put("a", "1") })
    let end = store.log.count
    // A segment whose body was synced first, so that its footer vouches for it; and then its header is lost.
    _ = try writer.commit { transaction in
      for id in 0..<8 { try transaction.put("\(id)", "2", body: "body") }
    }
    writer.close()
    var log = store.log
    #expect(log.count == end + 4096 && log.rawSpan.u32(at: log.count - 44) & 1 == 1)
    for offset in AcknowledgementSlot.offsets where log.rawSpan.u64(at: offset + 24) == 2 {
      log.replaceSubrange(offset..<offset + 4096, with: [UInt8](repeating: 0, count: 4096))
    }
    log.replaceSubrange(end..<end + 64, with: [UInt8](repeating: 0, count: 64))
    let torn = store.with(log: log)
    torn.device.record()
    let next = try torn.writer()
    #expect(try StoreContents(#require(next.snapshot)) == first)
    let second = try StoreContents(try next.commit { try $0.put("b", "1") })
    #expect(torn.log.count == log.count)
    for disk in torn.device.recorded {
      for _ in 0..<60 {
        let after = TestStore(SimulatedDevice(disk.crashed(.some(0.2), &random)))
        try #require([first, second].contains(try StoreContents(#require(try after.reader()).snapshot)))
      }
    }
  }

  @Test func `a generation that cannot even begin leaves no file`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "1") }
    store.device.limit(to: store.device.byteCount + 5000)
    #expect(throws: StoreError.self) { _ = try writer.compact() }
    #expect(store.device.names == ["s.log"])
  }

  @Test(arguments: [nil, 1024], 1...8)
  func `a failed write ends the commit, and the next writer finds the one before`(
    _ flushLimit: Int?, _ number: Int
  ) throws {
    let store = TestStore(flushLimit: flushLimit)
    let writer = try store.writer()
    var contents = try StoreContents(try writer.commit { try $0.put("a", "1") })
    store.device.fail(.write, number, DeviceFault(28, written: 0.5))
    do {
      for round in 0..<9 {
        contents = try StoreContents(
          try writer.commit { transaction in
            for id in 0..<30 { try transaction.put("\(round).\(id)", "2") }
          })
      }
      Issue.record("no write failed")
    } catch StoreError.io(let error) {
      #expect(error.kind == .noSpace)
    } catch StoreError.poisoned {
      // The slot's write failed; the commit before counts.
    }
    writer.close()
    #expect(try StoreContents(#require(try store.reader()).snapshot) == contents)
    let next = try store.writer()
    #expect(try StoreContents(#require(next.snapshot)) == contents)
    _ = try StoreContents(try next.commit { try $0.put("b", "1") })
  }
}
