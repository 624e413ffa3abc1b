import RandomTestSupport
import StoreTestSupport
import Testing

@testable import LogStore

/// How much room a compaction says that it needs, and what it does where there is less.
@Suite struct CompactedSizeTests {
  /// Fills a store in some way.
  enum Kind: CaseIterable, Sendable {
    case empty, oneRow, plain, sharedTexts, textsInEveryCommit, popularKeys, longPopularKeys, mostlyDead, manyTexts

    func fill(_ writer: StoreWriter, _ random: inout SeededGenerator) throws {
      switch self {
      case .empty: _ = try writer.commit { $0.state = [1] }
      case .oneRow: _ = try writer.commit { try $0.put("1") }
      case .plain:
        try commit(writer, 3000, in: 3) { ("\($0)", "code \($0)", [], "body of row \($0)") }
      case .sharedTexts:
        try commit(writer, 3000, in: 2) { ("\($0)", "", ["brand \($0 % 50)", "unit \($0 % 3)", ""], "x") }
      case .textsInEveryCommit:
        try commit(writer, 400, in: 200) { ("\($0)", "\($0)", ["a text that each commit writes again"], "") }
      case .popularKeys:
        try commit(writer, 4000, in: 5) { ("\($0)", "code \($0 % 700)", [], "") }
      case .longPopularKeys:
        let long = String(repeating: "k", count: 2000)
        try commit(writer, 1000, in: 1) { ("\($0)", long + "\($0 % 190)", [], "") }
      case .mostlyDead:
        try commit(writer, 5000, in: 2) { ("\($0 % 500)", "code \($0)", ["brand \($0)"], "body") }
      case .manyTexts:
        // More than the interner remembers, the same ones again and again.
        let texts = (0..<18).map { String(repeating: "\($0 + 10)", count: 500_000) }
        try commit(writer, 36, in: 2) { ("\($0)", "", [texts[$0 % 18]], "") }
      }
    }

    private func commit(
      _ writer: StoreWriter, _ count: Int, in commits: Int, _ row: (Int) -> (String, String, [String], String)
    ) throws {
      for first in stride(from: 0, to: count, by: count / commits) {
        _ = try writer.commit { transaction in
          for index in first..<min(count, first + count / commits) {
            let (id, code, shared, body) = row(index)
            try transaction.put(id, code, shared: shared, body: body)
          }
        }
      }
    }
  }

  /// The one with more texts than fit is 18 MB large and takes its time.
  @Test(arguments: Kind.allCases.filter { $0 != .manyTexts || depth > 1 })
  func `the bound is at least the real size, and not far above it`(kind: Kind) throws {
    var random = SeededGenerator(for: "CompactedSizeTests, \(kind)")
    let store = TestStore()
    let writer = try store.writer()
    try kind.fill(writer, &random)
    try expectLimit(#require(writer.snapshot), "\(kind)")
    var announced: DiskSpace?
    _ = try #require(try writer.compact { announced = $0 })
    let bound = try #require(announced).needed
    let real = store.log.count
    #expect(bound >= real && Double(bound) <= 1.6 * Double(real), "\(kind): bound \(bound), real \(real)")
  }

  /// What counters say is no less than what is counted.
  private func expectLimit(_ snapshot: Snapshot, _ note: Comment) throws {
    let limit = try snapshot.compactedByteLimit()
    let counted = try snapshot.compactedByteCount()
    #expect(limit.byteCount >= counted, note)
    if limit.isClose { #expect(Double(limit.byteCount) <= 1.3 * Double(counted), note) }
  }

  @Test(arguments: [false, true])
  func `random stores keep the bound`(_ isOrdered: Bool) throws {
    var random = SeededGenerator(for: "CompactedSizeTests, random")
    // The bound of an ordered index has the keys of dead rows too.
    let ratio = isOrdered ? 2.1 : 1.6
    for _ in 0..<(20 * depth) {
      let store = TestStore()
      let writer = try store.writer(isOrdered ? TestSchema.schema : TestSchema.plain)
      let keys = Int.random(in: 1...400, using: &random)
      let texts = Int.random(in: 1...40, using: &random)
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        _ = try writer.commit { transaction in
          for _ in 0..<Int.random(in: 0...400, using: &random) {
            let shared = (0..<Int.random(in: 0...3, using: &random)).map { _ in
              "text \(Int.random(in: 0..<texts, using: &random))"
            }
            try transaction.put(
              "\(Int.random(in: 0..<keys, using: &random))", "code \(Int.random(in: 0..<keys, using: &random) / 7)",
              shared: shared, body: String(repeating: "b", count: Int.random(in: 0...60, using: &random)))
            try transaction.put(1, TestRow("\(Int.random(in: 0..<9, using: &random))", "to"))
          }
        }
      }
      try expectLimit(#require(writer.snapshot), "\(keys) keys, \(texts) texts")
      var bound = 0
      _ = try writer.compact { bound = $0.needed }
      #expect(
        bound >= store.log.count && Double(bound) <= ratio * Double(store.log.count), "\(bound), \(store.log.count)")
    }
  }

  @Test func `without the room nothing is written, with it everything is`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { transaction in for id in 0..<500 { try transaction.put("\(id)", body: "first") } }
    _ = try writer.commit { transaction in for id in 0..<400 { try transaction.put("\(id)", body: "second") } }
    let rows = try #require(writer.snapshot).rows(0)
    let needed = try #require(writer.snapshot).compactedByteCount()
    let (log, operations) = (store.log, store.device.operations)
    let used = store.device.names.reduce(0) { $0 + (store.device.contents($1)?.count ?? 0) }
    store.device.limit(to: used + needed - 1)
    do {
      _ = try writer.compact()
      Issue.record("there is no room")
    } catch StoreError.noRoom(let path, let wanted, let available) {
      #expect(path == "/simulated/s.log" && wanted == needed && available == needed - 1)
    }
    #expect(store.log == log && store.device.operations == operations)
    // The writer goes on, and with one byte more it compacts.
    store.device.limit(to: used + needed)
    #expect(try #require(try writer.compact()).rows(0) == rows)
    #expect(store.log.count <= needed)
    // Where nobody knows, it is tried.
    store.device.limit(to: 1 << 50)
    #expect(try writer.compact() != nil)
  }

  @Test func `a caller that gets the needed room may refuse it`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("1") }
    let log = store.log
    #expect(throws: CancellationError.self) { try writer.compact { _ in throw CancellationError() } }
    #expect(store.log == log && store.device.names == ["s.log"])
  }
}
