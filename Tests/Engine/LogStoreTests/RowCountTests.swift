import Bytes
import StoreTestSupport
import Testing
@testable import LogStore

@Suite struct RowCountTests {
  private static let key = Array("shared".utf8)

  private func check(_ snapshot: Snapshot, _ count: Int) throws {
    let key = Self.key.rawSpan
    let visited = try snapshot.rows(TestSchema.code, "shared").count
    let counted = try snapshot.rowCount(TestSchema.code, key)
    #expect(visited == count)
    #expect(counted == count)
    let roughly = try snapshot.rowCount(TestSchema.code, key, withDead: true)
    #expect(roughly >= count)
    for limit in [0, 1, 3, 4, 5, 99, 4096, 5000] {
      let limited = try snapshot.rowCount(TestSchema.code, key, atMost: limit)
      #expect(limited == min(count, limit))
    }
  }

  @Test(arguments: [0, 1, 4, 5, 100, 4097, 9000])
  func `as many rows are counted for a key as are found, with and without dead ones`(_ count: Int) throws {
    let writer = try TestStore().writer()
    _ = try writer.commit { _ in }
    let first = try writer.commit { transaction in
      for id in 0..<count { try transaction.put("\(id)", "shared") }
      try transaction.put("x", "other")
    }
    try check(first, count)
    let second = try writer.commit { transaction in
      for id in stride(from: 0, to: count, by: 2) { try transaction.delete(TestSchema.id, "\(id)") }
      for id in 0..<3 { try transaction.put("new\(id)", "shared") }
    }
    try check(second, count / 2 + 3)
    try check(try #require(try writer.compact()), count / 2 + 3)
    try check(first, count)
  }

  @Test(arguments: [1, 100_000])
  func `rows are grouped by key also when they are on the disk already, however long`(_ flushLimit: Int) throws {
    let writer = try TestStore(flushLimit: flushLimit).writer()
    let snapshot = try writer.commit { transaction in
      for id in 0..<300 {
        // Short ones that one read brings together, some longer than what is read for one, and some far from the next.
        let length = id % 7 == 0 ? 700 : id % 50 == 0 ? 90_000 : 20
        try transaction.put(
          "\(id)", id % 3 == 0 ? "shared" : "other", body: String(repeating: "x", count: length))
      }
    }
    try check(snapshot, 100)
    #expect(try snapshot.rows(TestSchema.code, "other").count == 200)
  }
}
