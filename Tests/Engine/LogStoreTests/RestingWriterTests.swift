import Bytes
import Foundation
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// A writer that lets go of the lock between commits, and what happens to its store meanwhile.
@Suite struct RestingWriterTests {
  /// Where a store is.
  enum Place: CaseIterable {
    case simulated, real
  }

  /// A store in an empty directory.
  private struct Store {
    let device = SimulatedDevice()
    private let temporary: TemporaryDirectory?
    let location: StoreLocation

    init(_ place: Place) throws {
      temporary = place == .real ? try TemporaryDirectory() : nil
      location = temporary.map { StoreLocation.test($0.directory, name: "s") } ?? TestStore(device).location
    }

    var directory: any StorageDirectory { location.directory }

    func writer() throws -> StoreWriter { try StoreWriter(location, schema: TestSchema.schema) }

    func log() throws -> [UInt8] {
      let file = try #require(try directory.open("s.log", .read))
      return try file.read(file.size(), at: 0)
    }

    /// Writes over bytes of a file, which is made if it is not there.
    func write(_ bytes: [UInt8], at offset: Int, of name: String = "s.log") throws {
      let file = try directory.open(name, .write) ?? directory.open(name, .create)
      try #require(file).write(bytes.rawSpan, at: offset)
    }

    /// Damages one byte.
    func damage(_ offset: Int) throws {
      let bytes = try log()
      try write([bytes[offset] ^ 0x40], at: offset)
    }

    /// Expects that a reader that is opened now sees commit `number`.
    func expect(_ number: UInt64, sourceLocation: SourceLocation = #_sourceLocation) throws {
      let snapshot = try #require(try StoreReader.open(location)?.snapshot, sourceLocation: sourceLocation)
      try NumberedStore.check(snapshot)
      #expect(snapshot.sequence == number, sourceLocation: sourceLocation)
    }
  }

  /// Whether `body` throws an error of this kind.
  private func fails(_ body: () throws -> Void, _ isRight: (StoreError) -> Bool) -> Bool {
    do { try body() } catch let error as StoreError { return isRight(error) } catch { Issue.record(error) }
    return false
  }

  private func isLocked(_ store: Store) -> Bool {
    fails({ try store.writer().close() }) { if case .locked = $0 { true } else { false } }
  }

  // MARK: Nothing happens

  @Test(arguments: Place.allCases)
  func `a writer to which nothing happened goes on, and what it commits can be read`(place: Place) throws {
    let store = try Store(place)
    let writer = try store.writer()
    for number in 1...12 as ClosedRange<UInt64> {
      // Generations too: the log is another file then.
      _ = try NumberedStore.commit(writer, isGeneration: number % 5 == 0)
      if number % 4 == 0 { _ = try writer.compact() }
      writer.rest()
      try store.expect(number)
      #expect(try writer.resume(lockTimeout: .zero))
      #expect(writer.snapshot?.sequence == number)
    }
    writer.close()
    try store.expect(12)
    let findings = try #require(try Verification.run(store.location)).findings
    #expect(findings.isEmpty)
  }

  @Test func `each commit after a rest survives a loss of power`() throws {
    var random = SeededGenerator(for: "RestingWriterTests")
    let store = try Store(.simulated)
    let writer = try store.writer()
    let recording: CrashRecording<UInt64> = CrashRecording(store.device, showing: 0)
    for number in 1...8 as ClosedRange<UInt64> {
      try recording.step {
        if number > 1 { #expect(try writer.resume(lockTimeout: .zero)) }
        _ = try NumberedStore.commit(writer, isGeneration: number == 5)
        writer.rest()
        return number
      }
      for survival in [.nothing, .everything, .random(&random)] as [SimulatedDisk.Survival] {
        let crashed = TestStore(store.device.crashed(survival, &random))
        let snapshot = try #require(try crashed.reader()?.snapshot)
        #expect(snapshot.sequence == number)
        try NumberedStore.check(snapshot)
      }
    }
    // And at each change between two of them, one of the two is there.
    for (changes, disk) in store.device.recorded.enumerated() {
      let crashed = TestStore(SimulatedDevice(disk.crashed(.random(&random), &random)))
      let shown = try crashed.reader()?.snapshot.sequence ?? 0
      #expect(recording.allowed(after: changes).contains(shown), "after \(changes) changes")
      let next = try crashed.writer()
      _ = try NumberedStore.commit(next)
      next.close()
      try NumberedStore.check(try #require(try crashed.reader()?.snapshot))
    }
  }

  @Test(arguments: Place.allCases)
  func `the lock is free while a writer rests, and held again afterwards`(place: Place) throws {
    let store = try Store(place)
    let writer = try store.writer()
    _ = try NumberedStore.commit(writer)
    #expect(isLocked(store))
    writer.rest()
    // Another one that changes nothing is none of its business.
    let other = try store.writer()
    #expect(fails({ _ = try writer.resume(lockTimeout: .zero) }) { if case .locked = $0 { true } else { false } })
    other.close()
    #expect(try writer.resume(lockTimeout: .zero))
    #expect(isLocked(store))
    _ = try NumberedStore.commit(writer)
    writer.rest()
    #expect(!isLocked(store))
    try store.expect(2)
  }

  @Test(arguments: Place.allCases)
  func `a transaction that is open is discarded, and what a generation left unfinished is removed`(place: Place) throws
  {
    let store = try Store(place)
    let writer = try store.writer()
    _ = try NumberedStore.commit(writer)
    let transaction = try writer.begin()
    try transaction.put("lost", "x")
    writer.rest()
    try store.write([1, 2, 3], at: 0, of: "s.new")
    #expect(try writer.resume(lockTimeout: .zero))
    #expect(try !store.directory.names().contains("s.new"))
    _ = try NumberedStore.commit(writer)
    writer.close()
    try store.expect(2)
  }

  // MARK: Something happens

  /// What happens while a writer rests.
  enum Accident: CaseIterable {
    case commit, generation, compaction
    case removal, otherName, copy, otherStore, olderCopy
    case tornTail, shorterLog
    case olderSlot, newerSlot, bothSlots, footer
  }

  private func happen(_ accident: Accident, to store: Store, older: [UInt8]) throws {
    /// What another process does.
    func write(_ body: (StoreWriter) throws -> Void) throws {
      let other = try store.writer()
      try body(other)
      other.close()
    }
    func replace(_ bytes: [UInt8]) throws {
      try store.write(bytes, at: 0, of: "copy")
      try store.directory.rename("copy", to: "s.log")
    }
    let bytes = try store.log()
    // Four commits: the fourth is in the second slot.
    let slots = AcknowledgementSlot.offsets
    func sequence(_ slot: Int) throws -> UInt64 {
      try AcknowledgementSlot(Array(bytes[slot..<slot + AcknowledgementSlot.byteCount]).rawSpan).sequence
    }
    let newest = try sequence(slots[0]) > sequence(slots[1]) ? 0 : 1
    switch accident {
    case .commit: try write { _ = try NumberedStore.commit($0) }
    case .generation: try write { _ = try NumberedStore.commit($0, isGeneration: true) }
    case .compaction: try write { _ = try $0.compact() }
    case .removal: try store.directory.remove("s.log")
    case .otherName: try store.directory.rename("s.log", to: "elsewhere")
    case .copy: try replace(bytes)
    case .otherStore:
      let other = StoreLocation.test(store.directory, name: "other")
      let writer = try StoreWriter(other, schema: TestSchema.schema)
      for _ in 0..<4 { _ = try NumberedStore.commit(writer) }
      writer.close()
      try store.directory.rename("other.log", to: "s.log")
    case .olderCopy: try replace(older)
    case .tornTail: try store.write([UInt8](repeating: 0x5A, count: 100), at: bytes.count)
    case .shorterLog: try #require(try store.directory.open("s.log", .write)).truncate(to: bytes.count - 1)
    case .olderSlot: try store.damage(slots[1 - newest] + 24)
    case .newerSlot: try store.damage(slots[newest] + 24)
    case .bothSlots: for slot in slots { try store.damage(slot + 24) }
    case .footer: try store.damage(bytes.count - 60)
    }
  }

  @Test(arguments: Place.allCases, Accident.allCases)
  func `a writer whose store was changed refuses to go on, and another one can`(place: Place, accident: Accident)
    throws
  {
    let store = try Store(place)
    let writer = try store.writer()
    for _ in 0..<2 { _ = try NumberedStore.commit(writer) }
    let older = try store.log()
    for _ in 0..<2 { _ = try NumberedStore.commit(writer) }
    writer.rest()
    try happen(accident, to: store, older: older)
    let before = try store.directory.names().contains("s.log") ? store.log() : nil
    #expect(try !writer.resume(lockTimeout: .zero))
    #expect(try store.directory.names().contains("s.log") ? store.log() == before : before == nil)
    #expect(!isLocked(store), "it keeps the lock of a store that it cannot write")
    #expect(fails({ _ = try NumberedStore.commit(writer) }) { if case .poisoned = $0 { true } else { false } })
    #expect(try !writer.resume(lockTimeout: .zero))
    // A new one finds what a new one always finds.
    switch accident {
    case .footer, .shorterLog:
      #expect(fails({ try store.writer().close() }) { if case .damaged = $0 { true } else { false } })
    default:
      let next = try store.writer()
      let found = next.snapshot?.sequence ?? 0
      let expected: UInt64 =
        switch accident {
        case .commit, .generation: 5
        case .removal, .otherName: 0
        case .olderCopy: 2
        default: 4
        }
      #expect(found == expected)
      _ = try NumberedStore.commit(next)
      next.rest()
      try store.expect(expected + 1)
      #expect(try next.resume(lockTimeout: .zero))
    }
  }

  @Test func `a writer without a commit does not go on, and leaves the lock alone`() throws {
    let store = try Store(.simulated)
    let writer = try store.writer()
    writer.rest()
    #expect(try !writer.resume(lockTimeout: .zero))
    #expect(!isLocked(store))
  }

  /// The first write after a rest is that of a slot which is there already; the second one is that of the commit.
  @Test(arguments: [(DeviceCall.write, 2), (.sync, 1)])
  func `a writer whose commit failed does not go on`(call: DeviceCall, number: Int) throws {
    let store = try Store(.simulated)
    let writer = try store.writer()
    for _ in 0..<3 { _ = try NumberedStore.commit(writer) }
    writer.rest()
    #expect(try writer.resume(lockTimeout: .zero))
    store.device.fail(call, number, DeviceFault(EIO))
    #expect(fails({ _ = try NumberedStore.commit(writer) }) { if case .io = $0 { true } else { false } })
    store.device.failNoMore()
    writer.rest()
    #expect(try !writer.resume(lockTimeout: .zero))
    #expect(!isLocked(store))
    let next = try store.writer()
    let sequence = try #require(next.snapshot).sequence
    // The fourth one was not reported, but may have become whole all the same.
    #expect(sequence == 3 || sequence == 4)
    _ = try NumberedStore.commit(next)
    next.close()
    try store.expect(sequence + 1)
  }

  @Test func `a call that fails while it looks is a reason not to go on`() throws {
    let calls: [DeviceCall]
    do {
      let store = try Store(.simulated)
      let writer = try store.writer()
      _ = try NumberedStore.commit(writer)
      writer.rest()
      store.device.record()
      #expect(try writer.resume(lockTimeout: .zero))
      calls = store.device.calls
    }
    #expect(calls.contains(.lock) && calls.contains(.read) && !calls.contains(.map))
    for (number, call) in calls.enumerated() {
      let store = try Store(.simulated)
      let writer = try store.writer()
      _ = try NumberedStore.commit(writer)
      writer.rest()
      store.device.fail(nil, number + 1, call.faults[0])
      if call == .lock {
        #expect(fails({ _ = try writer.resume(lockTimeout: .zero) }) { if case .io = $0 { true } else { false } })
      } else {
        #expect(try !writer.resume(lockTimeout: .zero), "call \(number + 1), \(call)")
      }
      store.device.failNoMore()
      let next = try store.writer()
      _ = try NumberedStore.commit(next)
      next.close()
      try store.expect(2)
    }
  }
}
