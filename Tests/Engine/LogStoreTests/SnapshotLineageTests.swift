import StoreTestSupport
import Testing

@testable import LogStore

/// Which commits a file has, and which of them another snapshot comes from.
@Suite struct SnapshotLineageTests {
  /// A store with commits 1 to `count`, each with a row of its own.
  private func commits(_ count: Int, in writer: StoreWriter) throws -> [Snapshot] {
    try (1...count).map { number in try writer.commit { try $0.put("\(number)", "c") } }
  }

  @Test func `the history after a commit has the commits after it, and no others`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let last = try #require(try commits(5, in: writer).last)
    #expect(try last.history(after: 0).map(\.sequence) == [5, 4, 3, 2, 1])
    #expect(try last.history(after: 0).map(\.byteCount) == last.history().map(\.byteCount))
    #expect(try last.history(after: 3).map(\.sequence) == [5, 4])
    for sequence in [5, 6, .max] as [UInt64] { #expect(try last.history(after: sequence).isEmpty) }
    let compacted = try #require(try writer.compact())
    _ = try writer.commit { try $0.put("6", "c") }
    #expect(try #require(writer.snapshot).history(after: 3).map(\.sequence) == [6, 5])
    #expect(try compacted.history(after: 3).map(\.sequence) == [5])
  }

  @Test func `a file that was replaced still has its last commit`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let first = try commits(4, in: writer)[0]
    #expect(try first.lastOfFile().sequence == 4)
    _ = try writer.replace { try $0.put("x", "c") }
    _ = try writer.commit { try $0.put("y", "c") }
    let last = try first.lastOfFile()
    #expect(last.sequence == 4 && last.generation == 1 && last.rowCount(0) == 4)
    #expect(try last.lastOfFile() === last)
    #expect(try #require(writer.snapshot).lastOfFile().sequence == 6)
  }

  @Test func `a snapshot descends from the commits of its file, and from no others`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let all = try commits(3, in: writer)
    for (number, snapshot) in all.enumerated() {
      for (other, earlier) in all.enumerated() { #expect(try snapshot.descends(from: earlier) == (other <= number)) }
    }
    let compacted = try #require(try writer.compact())
    #expect(try !compacted.descends(from: all[2]))
    #expect(try !all[2].descends(from: compacted))
  }

  @Test func `copies of a file have their common commits in common, and none after they grow apart`() throws {
    let store = TestStore()
    let writer = try store.writer()
    let common = try #require(try commits(2, in: writer).last)
    writer.close()
    let copy = store.with(log: store.log)
    let mine = try store.writer().commit { try $0.put("3", "mine") }
    let theirs = try copy.writer()
    let third = try theirs.commit { try $0.put("3", "theirs") }
    let fourth = try theirs.commit { try $0.put("4", "theirs") }
    #expect(mine.isSameGeneration(as: third) && mine.sequence == third.sequence)
    #expect(try mine.descends(from: common) && third.descends(from: common) && fourth.descends(from: common))
    #expect(try !third.descends(from: mine) && !mine.descends(from: third) && !fourth.descends(from: mine))
  }
}
