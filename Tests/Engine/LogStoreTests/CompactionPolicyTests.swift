import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing
@testable import LogStore

/// When a store is compacted, and what bound that keeps on its file.
@Suite struct CompactionPolicyTests {
  /// What the commits of a year are like.
  enum Year: CaseIterable, Sendable {
    case replacing, growing, shrinking, newTexts, oldTexts, popularKeys

    /// The row with number `number`, as a commit writes it on day `day`.
    func row(_ number: Int, _ day: Int, _ random: inout SeededGenerator) -> TestRow {
      let body = String(repeating: "b", count: Int.random(in: 20...120, using: &random))
      return switch self {
      case .replacing, .growing, .shrinking:
        TestRow("\(number)", "69\(number)", shared: ["brand \(number % 40)", "unit"], body: body)
      case .newTexts:
        TestRow("\(number)", "69\(number)", shared: ["a text of nobody else but \(number) on day \(day)"], body: body)
      case .oldTexts:
        TestRow("\(number)", "", shared: (0..<4).map { "a text as long as this, number \(number % 50 + $0)" })
      case .popularKeys: TestRow("\(number)", "code \(number % 90)", body: body)
      }
    }

    /// Which row a change is about, of `count` to begin with.
    func number(of count: Int, _ day: Int, _ random: inout SeededGenerator) -> Int {
      switch self {
      case .growing: Int.random(in: 0..<(count + day * count / 30), using: &random)
      default: Int.random(in: 0..<count, using: &random)
      }
    }

    /// Of a hundred changes, so many are deletions.
    var deletions: Int { self == .shrinking ? 70 : 5 }
  }

  /// 365 increments of 1000 of 20,000 rows, each followed by what the policy says; unless asked for more, 146
  /// increments of 20 of 400 rows.
  @Test(arguments: Year.allCases)
  func `a year of increments keeps the file within its bound and loses nothing`(year: Year) throws {
    var random = SeededGenerator(for: "CompactionPolicyTests, \(year)")
    let part = depth == 1 ? 50 : 1
    let (count, changes) = (20_000 / part, 1000 / part)
    let days = depth == 1 ? 146 : 365
    let policy = CompactionPolicy(floor: CompactionPolicy.standard.floor / part)
    let store = TestStore()
    let writer = try store.writer()
    var model: [Int: TestRow] = [:]
    _ = try writer.replace { transaction in
      for number in 0..<count {
        model[number] = year.row(number, 0, &random)
        try transaction.put(0, model[number]!)
      }
    }
    #expect(try !CompactionPolicy(floor: 0).isDue(in: #require(writer.snapshot)), "a new file has nothing to give")
    var compactions = 0
    for day in 1...days {
      let numbers = Set((0..<changes).map { _ in year.number(of: count, day, &random) })
      var snapshot = try writer.commit { transaction in
        for number in numbers.sorted() {
          if Int.random(in: 0..<100, using: &random) < year.deletions {
            try transaction.delete(TestSchema.id, "\(number)")
            model[number] = nil
          } else {
            model[number] = year.row(number, day, &random)
            try transaction.put(0, model[number]!)
          }
        }
      }
      if try policy.isDue(in: snapshot) {
        let before = store.log.count
        var room = DiskSpace(needed: 0, available: nil)
        snapshot = try #require(try writer.compact { room = $0 })
        compactions += 1
        #expect(store.log.count <= room.needed && store.log.count < before, "day \(day)")
        #expect(try snapshot.reclaimableByteCount() == 0, "day \(day)")
        #expect(try snapshot.rows(0) == model.values.sorted(), "day \(day)")
      }
      // What the device would hold of it alone, within what the estimate may be wrong by.
      let compacted = try snapshot.compactedByteCount()
      let limit = compacted + policy.allowance(for: compacted) + compacted / 4
      #expect(store.log.count <= limit, "day \(day): \(store.log.count) bytes, compacted \(compacted)")
      #expect(snapshot.rowCount(0) == model.count)
      if day % 73 == 0 { try expectTwice(store, floor: policy.floor, "day \(day)") }
    }
    let last = try #require(writer.snapshot)
    #expect(last.sequence == UInt64(days + 1))
    #expect(try StoreContents(last).tables[0] == model.values.sorted())
    #expect(try Verification.run(store.location)?.findings.isEmpty == true)
    print("CompactionPolicyTests: \(year): \(compactions) compactions, \(store.log.count) bytes at the end")
    #expect((2...120).contains(compactions), "\(compactions)")
  }

  /// The promise in its plain form, against a compaction of a copy.
  private func expectTwice(_ store: TestStore, floor: Int, _ note: Comment) throws {
    let copy = TestStore().with(log: store.log)
    let writer = try copy.writer()
    defer { writer.close() }
    _ = try writer.compact()
    #expect(store.log.count <= 2 * copy.log.count + floor, note)
  }

  @Test func `a policy says when, by share and floor`() throws {
    let writer = try TestStore().writer()
    for round in 0..<40 {
      _ = try writer.commit { transaction in
        for id in 0..<50 { try transaction.put("\(id)", body: "\(round)") }
      }
    }
    let last = try #require(writer.snapshot)
    let freed = try last.reclaimableByteCount()
    let left = last.end - freed
    #expect(freed > left && left > 4096)
    for (policy, isDue) in [
      (CompactionPolicy(share: 0, floor: freed), false), (CompactionPolicy(share: 0, floor: freed - 1), true),
      (CompactionPolicy(share: Double(freed) / Double(left) + 0.01, floor: 0), false),
      (CompactionPolicy(share: Double(freed) / Double(left) - 0.01, floor: 0), true),
      (CompactionPolicy(share: .infinity, floor: 0), false), (.standard, false), (.never, false),
    ] {
      #expect(try policy.isDue(in: last) == isDue, "\(policy)")
    }
    let compacted = try #require(try writer.compact())
    #expect(try compacted.reclaimableByteCount() == 0)
    // The estimate was close: rows and indexes are counted.
    #expect(abs(left - compacted.end) <= 2 * 4096 + compacted.end / 8, "\(left), \(compacted.end)")
  }

  /// Commits, each followed by the compaction that a policy asks for.
  @Test(arguments: [nil, 700])
  func `after a crash around a compaction that a policy asked for nothing is lost`(flushLimit: Int?) throws {
    var random = SeededGenerator(for: "CompactionPolicyTests, crashes, flush limit \(flushLimit ?? 0)")
    let policy = CompactionPolicy(share: 0.5, floor: 24 << 10)
    var explorer = CrashExplorer<StoreContents>(
      samples: depth == 1 ? [1, 1] : [10, 2, 1],
      show: { device in try TestStore(device).reader().map { try StoreContents($0.snapshot) } ?? StoreContents() },
      goOn: { try CrashTests.goOn($0, flushLimit: flushLimit) })
    var compactions = 0
    for _ in 0..<depth {
      let store = TestStore(SimulatedDevice(), flushLimit: flushLimit, seed: random.next())
      let recording = CrashRecording(store.device, showing: StoreContents())
      var model = StoreModel()
      model.idLimit = 60
      let writer = try store.writer()
      for day in 0..<24 {
        try recording.step {
          _ = try writer.commit { try model.change($0, rows: day == 0 ? 60 : 12, &random) }
          return model.contents
        }
        try recording.step {
          if try policy.isDue(in: #require(writer.snapshot)) {
            _ = try writer.compact()
            compactions += 1
          }
          return model.contents
        }
      }
      writer.close()
      try explorer.explore(recording, &random)
    }
    print("CompactionPolicyTests: \(compactions) compactions, \(explorer.crashes) crashes")
    #expect(compactions >= 2 * depth && explorer.distinctStates > 50)
  }

  @Test func `a compaction that finds no room leaves the commit before it, and the writer goes on`() throws {
    let store = TestStore()
    let writer = try store.writer()
    for round in 0..<30 {
      _ = try writer.commit { transaction in for id in 0..<60 { try transaction.put("\(id)", body: "\(round)") } }
    }
    let last = try #require(writer.snapshot)
    #expect(try CompactionPolicy(floor: 0).isDue(in: last))
    let contents = try StoreContents(last)
    store.device.limit(to: store.device.byteCount + 4096)
    #expect {
      _ = try writer.compact()
    } throws: { error in
      guard case StoreError.noRoom = error else { return false }
      return true
    }
    #expect(try StoreContents(#require(try store.reader()).snapshot) == contents)
    store.device.limit(to: 1 << 50)
    _ = try writer.commit { try $0.put("next") }
    #expect(try #require(try writer.compact()).rowCount(0) == 61)
  }
}
