import Bytes
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Synchronization
import Testing
@testable import LogStore

/// Damage to a slot and to a commit at once: what was acknowledged is shown, or the store is refused. It is never cut
/// off.
@Suite struct SlotDamageTests {
  private typealias SlotState = SlotDamageSample.SlotState

  private static let counts = depth == 1 ? [4, 5] : [4, 5, 9]

  /// Opens a damaged store for reading and writing, verifies and repairs it.
  ///
  /// - Returns: the commit that it showed; `nil` if it was refused.
  private func tryOut(
    _ sample: SlotDamageSample, _ log: [UInt8], allowsOlder: Bool, isSound: Bool
  ) throws -> Int? {
    let store = TestStore().with(log: log)
    let findings = try Verification.run(store.location)?.findings ?? []
    var reader: StoreReader?
    if try isRefused({ reader = try store.reader() }) {
      guard !findings.isEmpty else { throw Oddity(what: "refused, but verification finds nothing") }
      if try !isRefused({ _ = try store.writer() }) { throw Oddity(what: "a writer takes what a reader refuses") }
      guard store.log == log else { throw Oddity(what: "the writer changed what it refused") }
      try repair(sample, store)
      return nil
    }
    guard let snapshot = reader?.snapshot else { throw Oddity(what: "a damaged store is not an empty one") }
    let number = Int(snapshot.sequence)
    guard number == sample.count || allowsOlder && number == sample.count - 1 else {
      throw Oddity(what: "it shows commit \(number) of \(sample.count)")
    }
    if number == sample.count, !isSound, findings.isEmpty { throw Oddity(what: "verification finds nothing") }
    let isRead = try isRight(sample, snapshot)
    let writer = try store.writer()
    let committed = SegmentHeader.firstOffset..<sample.commits[number - 1].end
    guard store.log[committed] == log[committed] else {
      throw Oddity(what: "the writer changed a commit")
    }
    let isWritten = try !isRefused {
      let next = try writer.commit { try $0.put("next", "one") }
      guard Int(next.sequence) == number + 1 else { throw Oddity(what: "the next commit is \(next.sequence)") }
      if isRead { _ = try StoreContents(next) }
    }
    // It may meet what is damaged.
    if isSound, !isWritten { throw Oddity(what: "the next commit is refused") }
    writer.close()
    return number
  }

  /// Whether everything in `snapshot` can be read; what can be is what was committed.
  private func isRight(_ sample: SlotDamageSample, _ snapshot: Snapshot) throws -> Bool {
    let expected = sample.commits[Int(snapshot.sequence) - 1].contents
    return try !isRefused {
      if try StoreContents(snapshot) != expected { throw Oddity(what: "other rows than were committed") }
    }
  }

  /// Whether `body` ends with the error for damage.
  private func isRefused(_ body: () throws -> Void) throws -> Bool {
    do { try body() } catch let error as StoreError {
      if case .damaged = error { return true }
      throw error
    }
    return false
  }

  /// Repairs a refused store: each row of the last commit is saved, or something is reported as lost.
  private func repair(_ sample: SlotDamageSample, _ store: TestStore) throws {
    let repair = try #require(try Repair.run(store.location, schema: TestSchema.schema))
    let rows = try StoreContents(#require(repair.snapshot)).tables[0]
    let committed = sample.commits[sample.count - 1].contents.tables[0]
    if repair.losses.isEmpty, rows != committed { throw Oddity(what: "the repair lost rows and does not say so") }
    if try Verification.run(store.location)?.findings.isEmpty != true { throw Oddity(what: "damaged after a repair") }
  }

  @Test(arguments: counts, [nil, 200])
  func `a damaged slot and a damaged commit together cost no commit that was acknowledged`(
    _ count: Int, _ flushLimit: Int?
  ) throws {
    // With a limit, segments are written in pieces, and their footers vouch for bodies that were synced first.
    let sample = try SlotDamageSample(commits: count, flushLimit: flushLimit)
    #expect(sample.forged.segments.allSatisfy { $0.footer.bodyWasSynced == (flushLimit != nil) })
    var random = SeededGenerator(for: "SlotDamageTests, pairs, \(count) commits, flush limit \(flushLimit ?? 0)")
    var refused = 0
    var older = 0
    for a in SlotState.allCases {
      for b in SlotState.allCases {
        for commit in 1...count {
          for part in SlotDamageSample.Part.allCases {
            for _ in 0..<(depth == 1 ? 1 : 4) {
              var log = sample.forged.bytes
              sample.change(0, to: a, in: &log, &random)
              sample.change(1, to: b, in: &log, &random)
              sample.damage(part, of: commit, in: &log, &random)
              // Nothing in the file tells the last commit that was damaged from one that was torn.
              let allowsOlder = commit == count && sample.isOfAPowerCut([a, b])
              let shown = try noting("slots \(a), \(b); \(part) of commit \(commit)") {
                try tryOut(sample, log, allowsOlder: allowsOlder, isSound: false)
              }
              if shown == nil { refused += 1 }
              if shown == count - 1 { older += 1 }
            }
          }
        }
      }
    }
    print("SlotDamageTests: \(count) commits, \(refused) refused, \(older) show the commit before")
    #expect(refused > 0 && older > 0)
  }

  @Test(arguments: counts)
  func `slots alone cost nothing, whatever they look like, and the next writer heals them`(_ count: Int) throws {
    let sample = try SlotDamageSample(commits: count)
    var random = SeededGenerator(for: "SlotDamageTests, slots, \(count) commits")
    for a in SlotState.allCases {
      for b in SlotState.allCases {
        var log = sample.forged.bytes
        sample.change(0, to: a, in: &log, &random)
        sample.change(1, to: b, in: &log, &random)
        let shown = try noting("slots \(a), \(b)") {
          try tryOut(sample, log, allowsOlder: false, isSound: true)
        }
        #expect(shown == count, "slots \(a), \(b)")
        let store = TestStore().with(log: log)
        try store.writer().close()
        #expect(try Verification.run(store.location)?.findings.map(\.description) == [], "slots \(a), \(b)")
      }
    }
  }

  @Test func `without a slot, a bit in the header of commit 2 of 9 does not cost the commits after it`() throws {
    let sample = try SlotDamageSample(commits: 9)
    var random = SeededGenerator(for: "SlotDamageTests, the second of nine")
    for state in [SlotState.zeroed, .flipped] {
      var log = sample.forged.bytes
      for slot in 0..<2 { sample.change(slot, to: state, in: &log, &random) }
      sample.damage(.header, of: 2, in: &log, &random)
      let store = TestStore().with(log: log)
      for open in [{ _ = try store.reader() }, { _ = try store.writer() }] {
        #expect {
          try open()
        } throws: { error in
          guard case StoreError.damaged(_, let offset, let what) = error else { return false }
          return offset == sample.commits[0].end && what.contains("commit 2") && what.contains("commit 9")
        }
      }
      #expect(store.log == log)
      let repair = try #require(try Repair.run(store.location, schema: TestSchema.schema))
      let repaired = try StoreContents(#require(repair.snapshot))
      #expect(repair.losses.isEmpty && repaired.tables == sample.commits[8].contents.tables)
    }
  }

  @Test func `readers find no damage while a writer works on a store with a rotten slot`() throws {
    let sample = try SlotDamageSample(commits: 4)
    var random = SeededGenerator(for: "SlotDamageTests, readers")
    let states: [(SlotState, SlotState)] = [
      (.flipped, .valid), (.valid, .flipped), (.zeroed, .valid), (.zeroed, .zeroed), (.torn, .torn), (.older, .zeroed),
    ]
    for (a, b) in states {
      for limit in [nil, 200] {
        var log = sample.forged.bytes
        sample.change(0, to: a, in: &log, &random)
        sample.change(1, to: b, in: &log, &random)
        let device = SimulatedDevice()
        device.place(log, as: "s.log")
        let store = TestStore(device, flushLimit: limit)
        let failures = Mutex<[String]>([])
        device.observe {
          do {
            let shown = try store.reader()?.snapshot.sequence ?? 0
            if shown < 4 { failures.withLock { $0.append("commit \(shown)") } }
          } catch { failures.withLock { $0.append("\(error)") } }
        }
        let writer = try store.writer()
        for number in 0..<3 { _ = try writer.commit { try $0.put("\(number)", "code", body: "a body of some bytes") } }
        writer.close()
        device.observe(nil)
        #expect(failures.withLock { $0 } == [], "slots \(a), \(b)")
      }
    }
  }

  @Test func `a slot that only memory holds after a failed sync is durable before the other one is written`() throws {
    var random = SeededGenerator(for: "SlotDamageTests, failed sync")
    let store = TestStore()
    let writer = try store.writer()
    for number in 1...3 { _ = try writer.commit { try $0.put("\(number)", "code") } }
    // Half of the slot of commit 3 gets to the disk, and nothing of commit 4, which is cut in memory, too.
    store.device.fail(.sync, 1, DeviceFault(5, written: 0.25))
    #expect(throws: StoreError.self) { _ = try writer.commit { try $0.put("4", "code") } }
    writer.close()
    let file = try #require(try store.device.directory.open("s.log", .write))
    try file.truncate(to: try #require(writer.snapshot).end)
    store.device.record()
    let next = try store.writer()
    _ = try next.commit { try $0.put("5", "code") }
    for disk in store.device.recorded {
      for _ in 0..<40 {
        let after = TestStore(SimulatedDevice(disk.crashed(.some(0.5), &random)))
        #expect(try Verification.run(after.location)?.findings.map(\.description) == [])
      }
    }
    next.close()
  }
}
