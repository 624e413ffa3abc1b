import RandomTestSupport
import StoreTestSupport
import Testing

@testable import LogStore

@Suite struct RollbackTests {
  /// What a store holds, without the number of the commit.
  private func rows(_ snapshot: Snapshot) throws -> [[TestRow]] { try StoreContents(snapshot).tables }

  @discardableResult
  private func rollback(_ writer: StoreWriter, to sequence: UInt64) throws -> Snapshot {
    let last = try #require(writer.snapshot)
    let earlier = try #require(try last.snapshot(at: sequence))
    return try writer.rollback(to: earlier) { transaction, _ in transaction.state = earlier.state }
  }

  @Test(arguments: 0..<4)
  func `a rollback to any commit shows what that commit showed, and is itself one to go back from`(run: Int) throws {
    var random = SeededGenerator(for: "RollbackTests \(run)")
    for _ in 0..<run { _ = random.next() }
    let store = TestStore()
    var writer = try store.writer()
    var model = StoreModel()
    model.idLimit = 40
    var known: [UInt64: (tables: [[TestRow]], state: [UInt8])] = [:]
    for _ in 0..<60 * depth {
      let new: Snapshot
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4 where !known.isEmpty:
        let (sequence, expected) = try #require(known.sorted { $0.key < $1.key }.randomElement(using: &random))
        new = try rollback(writer, to: sequence)
        #expect(try rows(new) == expected.tables && new.state == expected.state)
      case 5:
        new = try writer.commit { _ in }
        if Bool.random(using: &random), let compacted = try writer.compact() {
          #expect(try rows(compacted) == rows(new))
          known = [:]
        }
      case 6:
        writer.close()
        writer = try store.writer()
        continue
      default:
        // The model starts from rows that it does not know after a rollback: what counts is what a commit showed.
        new = try writer.commit { try model.change($0, rows: 25, &random) }
      }
      let last = try #require(writer.snapshot)
      known[last.sequence] = (try rows(last), last.state)
      let (sequence, expected) = try #require(known.sorted { $0.key < $1.key }.randomElement(using: &random))
      #expect(try rows(#require(try last.snapshot(at: sequence))) == expected.tables)
    }
    writer.close()
    #expect(try Verification.run(store.location)?.findings.isEmpty == true)
  }

  @Test func `it costs what changed since, not what is there`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { transaction in
      for id in 0..<20_000 { try transaction.put("\(id)", "code \(id)", shared: ["brand"], body: "body") }
    }
    for id in 0..<50 {
      _ = try writer.commit { transaction in
        try transaction.put("\(id)", "other")
        try transaction.delete(TestSchema.id, "\(id + 1000)")
      }
    }
    let before = store.log.count
    let first = try #require(try writer.snapshot?.snapshot(at: 1))
    let new = try rollback(writer, to: 1)
    #expect(store.log.count - before < 20_000)
    #expect(try rows(new) == rows(first))
    let changes = try new.changes(since: first)
    #expect(changes.added[0].count == 100 && changes.removed[0].count == 100)
  }

  @Test func `going back to the last commit changes nothing but the number`() throws {
    let writer = try TestStore().writer()
    let last = try writer.commit { try $0.put("a", "b") }
    let new = try rollback(writer, to: 1)
    #expect(new.sequence == 2)
    #expect(try rows(new) == rows(last))
  }

  @Test func `what the preparation throws leaves everything as it was`() throws {
    struct Refusal: Error {}
    let writer = try TestStore().writer()
    let first = try writer.commit { try $0.put("a") }
    let last = try writer.commit { try $0.delete(TestSchema.id, "a") }
    #expect(throws: Refusal.self) { try writer.rollback(to: first) { _, _ in throw Refusal() } }
    #expect(writer.snapshot === last)
    #expect(try rows(rollback(writer, to: 1)) == rows(first))
  }
}
