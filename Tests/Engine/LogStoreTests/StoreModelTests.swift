import Foundation
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import LogStore

/// Random operations against plain collections.
@Suite struct StoreModelTests {
  @Test(arguments: [nil, 600])
  func `whatever is done to it, in whatever order, crashes, faults and rot included`(_ flushLimit: Int?) throws {
    var random = SeededGenerator(for: "StoreModelTests, operations, flush limit \(flushLimit ?? 0)")
    // The operations of an earlier failure, as they were printed.
    if let replay = ProcessInfo.processInfo.environment["SHELFMARK_REPLAY"] {
      let operations = replay.split(separator: ",").compactMap(StoreOperation.init)
      let failure = StoreMachine.run(operations, flushLimit: flushLimit)
      #expect(failure == nil, "\(operations)")
      return
    }
    let count = 120
    for _ in 0..<8 * depth {
      let operations = (0..<count).map { _ in StoreOperation(&random) }
      guard let failure = StoreMachine.run(operations, flushLimit: flushLimit) else { continue }
      let (least, why) = Self.shrunk(operations, failure) { StoreMachine.run($0, flushLimit: flushLimit) }
      let list = least.map(\.description).joined(separator: ", ")
      Issue.record("\(why.prefix(1500))\nFlush limit \(flushLimit ?? 0), SHELFMARK_REPLAY=\"\(list)\"")
      return
    }
    print("StoreModelTests: \(8 * depth * count) operations")
  }

  /// Leaves out operations as long as what is left fails too.
  private static func shrunk(
    _ operations: [StoreOperation], _ failure: String, _ run: ([StoreOperation]) -> String?
  ) -> (operations: [StoreOperation], failure: String) {
    var least = operations
    var why = failure
    var piece = max(1, least.count / 2)
    while true {
      var start = 0
      var isSmaller = false
      while start < least.count {
        var fewer = least
        fewer.removeSubrange(start..<min(start + piece, fewer.count))
        if let failure = run(fewer) {
          least = fewer
          why = failure
          isSmaller = true
        } else {
          start += piece
        }
      }
      if piece == 1, !isSmaller { return (least, why) }
      piece = max(1, piece / 2)
    }
  }

  @Test(arguments: [nil, 2000])
  func `many small commits leave what a dictionary would hold`(_ flushLimit: Int?) throws {
    var random = SeededGenerator(for: "StoreModelTests, small commits, flush limit \(flushLimit ?? 0)")
    for _ in 0..<depth {
      try run(commits: 300, flushLimit: flushLimit, &random)
    }
  }

  private func run(commits: Int, flushLimit: Int?, _ random: inout SeededGenerator) throws {
    let store = TestStore(flushLimit: flushLimit)
    var model = StoreModel()
    model.idLimit = Int.random(in: 20...600, using: &random)
    var writer = try store.writer()
    let reader = try Follower(store)
    var kept: [(Snapshot, StoreContents)] = []
    for number in 0..<commits {
      let rows = Int.random(in: 1...50, using: &random)
      switch Int.random(in: 0..<60, using: &random) {
      case 0: _ = try writer.replace { try model.change($0, rows: 4 * rows, &random) }
      case 1: _ = try writer.compact()
      case 2:
        writer.close()
        writer = try store.writer()
      default: _ = try writer.commit { try model.change($0, rows: rows, &random) }
      }
      guard let snapshot = writer.snapshot else { continue }
      #expect(snapshot.sequence == model.sequence)
      // Reading everything takes a while; each tenth commit will do, and the reader then moves on by several.
      guard number % 10 == 9 || number < 10 else { continue }
      let contents = try StoreContents(snapshot)
      try #require(contents == model.contents, "commit \(number)")
      try #require(try reader.contents() == contents)
      try checkIndexes(snapshot)
      kept.append((snapshot, contents))
      if kept.count > 4 { kept.remove(at: Int.random(in: 0..<4, using: &random)) }
      for (old, contents) in kept { try #require(try StoreContents(old) == contents) }
    }
    let verification = try #require(try Verification.run(store.location))
    #expect(verification.findings.isEmpty, "\(verification.findings)")
  }

  /// The number of blocks that a lookup asks grows with the logarithm of the rows, and probes stay short.
  private func checkIndexes(_ snapshot: Snapshot) throws {
    let statistics = try snapshot.statistics()
    for index in statistics.indexes {
      // Each hash block of the tail is more than eight times as large as the next newer one; of ordered blocks, up to
      // three of similar size wait for a fourth. The base is one more.
      let (ratio, count) = index.kind == .hash ? (8, 1) : (2, 3)
      var limit = 2
      var rows = statistics.tailRowCount
      while rows > 0 {
        limit += count
        rows /= ratio
      }
      #expect(index.blockCount <= limit, "\(index.name) of \(statistics.tailRowCount) rows")
      #expect(index.longestProbe <= 8)
    }
    #expect(snapshot.deadBlocks.count <= 5)
    #expect(statistics.fileByteCount == snapshot.end)
  }

  /// A reader that is opened late and refreshed now and then.
  private final class Follower {
    let store: TestStore
    var reader: StoreReader?

    init(_ store: TestStore) throws { self.store = store }

    func contents() throws -> StoreContents? {
      if reader == nil { reader = try store.reader() }
      try reader?.refresh()
      return try reader.map { try StoreContents($0.snapshot) }
    }
  }
}
