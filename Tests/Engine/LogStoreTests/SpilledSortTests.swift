import Bytes
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Indexes whose keys do not fit memory while they are sorted.
@Suite struct SpilledSortTests {
  private static let words = Schema.OrderedIndex("words", hasFragments: true) { (record, receive) throws(StoreError) in
    for word in String(decoding: record.body.copied(), as: UTF8.self).split(separator: " ") {
      receive(Array(("w" + word).utf8).rawSpan)
    }
  }
  private static let text = Schema.OrderedIndex("text") { (record, receive) throws(StoreError) in receive(record.body) }
  private static let schema = Schema([
    Schema.Table(
      "rows", keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("group")],
      orderedIndexes: [words, text])
  ])

  /// Rows with an id and a text: few words, many, long ones, and the same twice.
  private static func rows(_ count: Int, _ random: inout SeededGenerator) -> [(id: Int, text: String)] {
    (0..<count).map { _ in
      let words = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "common"
        case 1: return "\(Int.random(in: 100_000..<100_300, using: &random))"
        case 2: return "\(UInt64.random(in: 0...(.max), using: &random))"
        default: return String(repeating: "long", count: Int.random(in: 1...70, using: &random))
        }
      }
      return (Int.random(in: 0..<count, using: &random), words.joined(separator: " "))
    }
  }

  private static func put(_ rows: [(id: Int, text: String)], _ transaction: Transaction) throws {
    var draft = RecordDraft()
    for row in rows {
      draft.reset()
      draft.addKey(Array("\(row.id)".utf8).rawSpan)
      draft.addKey(Array("\(row.id % 7)".utf8).rawSpan)
      let text = Array(row.text.utf8)
      draft.body = text
      for word in row.text.split(separator: " ") { draft.orderedKeys.add(0, Array(("w" + word).utf8).rawSpan) }
      draft.orderedKeys.add(1, text.rawSpan)
      try transaction.put(0, draft)
    }
  }

  /// The log after a generation and increments, whose ordered blocks are merged, with so much memory for a sort.
  private static func log(_ sortMemory: Int?, _ commits: [[(id: Int, text: String)]]) throws -> [UInt8] {
    var store = TestStore()
    if let sortMemory { store.environment.sortMemory = sortMemory }
    let writer = try store.writer(schema)
    for rows in commits { _ = try writer.commit { try put(rows, $0) } }
    #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
    #expect(try writer.snapshot?.orderedFindings(schema).map(\.description) == [])
    #expect(store.device.names == ["s.log"])
    return store.log
  }

  @Test(.disabled(if: testsAreSealed, "nonces are random"))
  func `a file has the same bytes however little memory a sort has`() throws {
    var random = SeededGenerator(for: "SpilledSortTests, bytes")
    let commits = [3000, 200, 100, 200, 1, 150].map { Self.rows($0, &random) }
    let expected = try Self.log(nil, commits)
    for sortMemory in [1, 200, 3000, 40_000] {
      let log = try Self.log(sortMemory, commits)
      if log != expected {
        let offset = zip(log, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(log.count, expected.count)
        Issue.record("with \(sortMemory) bytes the file differs at offset \(offset)")
      }
    }
  }

  @Test(.disabled(if: testsAreSealed, "nonces are random"))
  func `an index that is added to rows has the same bytes however little memory a sort has`() throws {
    var random = SeededGenerator(for: "SpilledSortTests, an added index")
    let rows = Self.rows(1000, &random)
    let logs = try [nil, 1, 1000].map { sortMemory in
      var store = TestStore()
      if let sortMemory { store.environment.sortMemory = sortMemory }
      let plain = Schema([Schema.Table("rows", keySpaces: [Schema.KeySpace("id", isUnique: true)])])
      let writer = try store.writer(plain)
      _ = try writer.commit { transaction in
        var draft = RecordDraft()
        for row in rows {
          draft.reset()
          draft.addKey(Array("\(row.id)".utf8).rawSpan)
          draft.body = Array(row.text.utf8)
          try transaction.put(0, draft)
        }
      }
      _ = try writer.commit { try $0.addOrderedIndex(0, Self.words) }
      #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
      return store.log
    }
    #expect(logs[0] == logs[1] && logs[0] == logs[2])
  }

  @Test func `a device that is full for the temporary file refuses a full update, and keeps what was there`() throws {
    var random = SeededGenerator(for: "SpilledSortTests, full devices")
    let rows = Self.rows(400, &random)
    var store = TestStore()
    store.environment.sortMemory = 500
    let writer = try store.writer(Self.schema)
    _ = try writer.commit { try Self.put([(1, "before")], $0) }
    let before = store.log
    let used = store.device.byteCount
    var refusals = 0
    for room in Swift.stride(from: 0, to: 1 << 20, by: 8192) {
      store.device.limit(to: used + room)
      do {
        let snapshot = try writer.replace(keepsPrevious: false) { try Self.put(rows, $0) }
        #expect(snapshot.rowCount(0) == Set(rows.map(\.id)).count)
        break
      } catch let error as StoreError {
        guard case .io(let cause) = error else { throw error }
        #expect("\(cause)".contains("No space left"))
        #expect(store.log == before && store.device.names == ["s.log"])
        refusals += 1
      }
    }
    #expect(refusals > 5)
  }
}
