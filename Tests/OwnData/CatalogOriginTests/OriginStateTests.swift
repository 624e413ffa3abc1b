import CatalogRows
import CatalogSources
import Documents
import Foundation
import LogStore
import RandomTestSupport
import Testing

@testable import CatalogOrigin

/// Stamps and deletions across restarts.
@Suite struct OriginStateTests {
  let folder: TestFolder
  let log = LogRecorder()

  init() throws { folder = try TestFolder() }

  private func store(_ table: String, at seconds: Int64) async throws -> OriginStore {
    let path = try folder.write(table, to: "erp.csv", atomically: true)
    return try await OriginStore(
      source: CatalogueSource(path: path, decoding: SourceDecoding(format: .csv)), state: folder.path("state"),
      clock: OriginClock { seconds }, logger: log.logger)
  }

  @Test func `a client that continues after a restart gets what changed, and what is gone`() async throws {
    var store = try await store("id,name\n1,A\n2,B\n3,C\n", at: 1_767_323_045)
    let cursor = try store.answer(cursor: "").updateTime
    #expect(cursor == "2026-01-02 03:04:05")
    store = try await self.store("id,name\n1,A\n2,B\n3,C\n", at: 1_767_323_050)
    #expect(try store.answer(cursor: cursor).collected().products.isEmpty)
    #expect(try store.answer(cursor: cursor).updateTime == cursor)
    // The clock was set back meanwhile.
    store = try await self.store("id,name\n1,A\n2,Bee\n4,D\n", at: 1_767_000_000)
    let answer = try store.answer(cursor: cursor)
    let rows = try answer.collected()
    #expect(rows.products.map(\.id).sorted() == ["2", "3", "4"] && answer.updateTime == "2026-01-02 03:04:06")
    #expect(rows.products.filter { $0.delFlag != 0 }.map(\.id) == ["3"])
    #expect(try store.answer(cursor: "").collected().products.map(\.id).sorted() == ["1", "2", "4"])
    // A tombstone stays, and goes when its product is back.
    store = try await self.store("id,name\n1,A\n2,Bee\n4,D\n", at: 1_767_400_000)
    #expect(try store.answer(cursor: cursor).collected().products.count == 3 && store.counts.tombstones == 1)
    store = try await self.store("id,name\n1,A\n2,Bee\n3,C\n4,D\n", at: 1_767_400_000)
    #expect(store.counts.tombstones == 0)
    #expect(try store.answer(cursor: "2026-01-02 03:04:06").collected().products.map(\.id) == ["3"])
  }

  @Test func `a file without rows does not empty what was served`() async throws {
    _ = try await store("id\n1\n", at: 1_767_323_045)
    await #expect {
      try await self.store("id\n", at: 1_767_323_050)
    } throws: {
      "\($0)".contains("no product is left") && "\($0)".contains("delete \(folder.path("state"))")
    }
    #expect(try await store("id\n1\n", at: 1_767_323_055).answer(cursor: "").updateTime == "2026-01-02 03:04:05")
  }

  @Test func `two processes cannot share what they remember`() async throws {
    let first = try await store("id\n1\n", at: 1_767_323_045)
    let other = try await store("id\n1\n2\n", at: 1_767_323_050)
    try folder.write("id\n1\n2\n3\n", to: "erp.csv", atomically: true)
    for _ in 0..<4 { #expect(try await first.reloadIfChanged { _ in } == nil) }
    #expect(first.counts.products == 1)
    let waits = log.events.filter { $0.text.contains("another process has written to it") }
    #expect(waits.count == 1)
    #expect(try await other.reloadIfChanged { _ in } == .init(inserted: 1))
  }

  @Test func `what is damaged is an error, and nothing is lost`() async throws {
    _ = try await store("id\n1\n", at: 1_767_323_045)
    let path = folder.path("state/origin.log")
    var bytes = try Data(contentsOf: URL(filePath: path))
    for index in 0..<min(bytes.count, 200) { bytes[index] ^= 0x5A }
    try bytes.write(to: URL(filePath: path))
    await #expect { try await self.store("id\n1\n", at: 1) } throws: { "\($0)".contains(folder.path("state")) }
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }

  /// What a former version wrote: a digest of each product, and no rows.
  private struct FormerMark: Codable, Identifiable {
    var id: String
    var stamp: String
    var digest: [UInt8]?
  }

  private struct FormerHead: Codable, Identifiable {
    var id = 0
    var newestStamp: String
    var latestCursorSeen = ""
    var revision = 1
  }

  @Test func `the state of a former version is taken over: everything once more, and deletions stay`() async throws {
    let former = try DocumentStore.open(StoreLocation.creating(folder.path("state"), name: "origin"))
    let marks = try former.collection("products", of: FormerMark.self)
    let heads = try former.collection("origin", of: FormerHead.self)
    let cursor = "2026-01-02 03:04:05"
    try former.transaction { transaction in
      for id in ["1", "2"] { try transaction.upsert(FormerMark(id: id, stamp: cursor, digest: [1]), into: marks) }
      try transaction.upsert(FormerMark(id: "3", stamp: "2026-01-02 03:04:04"), into: marks)
      try transaction.upsert(FormerHead(newestStamp: cursor), into: heads)
    }
    former.close()
    let store = try await store("id,name\n1,A\n4,D\n", at: 1_767_000_000)
    let rows = try store.answer(cursor: cursor).collected()
    #expect(rows.products.map(\.id).sorted() == ["1", "2", "4"])
    #expect(rows.products.filter { $0.delFlag != 0 }.map(\.id) == ["2"])
    #expect(try store.answer(cursor: "2026-01-01 00:00:00").collected().products.count == 4)
    let next = try store.answer(cursor: cursor).updateTime
    #expect(next > cursor)
    let again = try await self.store("id,name\n1,A\n4,D\n", at: 1_767_000_000)
    #expect(try again.answer(cursor: next).collected().products.isEmpty)
  }

  /// What the state has after a crash between the commit of the rows and that of their stamps.
  @Test func `rows that were committed without their stamps get them at the next start`() async throws {
    var store = try await store("id,name\n1,A\n2,B\n", at: 1_767_323_045)
    let cursor = try store.answer(cursor: "").updateTime
    let before = try Data(contentsOf: URL(filePath: folder.path("state/origin.log")))
    store = try await self.store("id,name\n1,Aa\n", at: 1_767_323_050)
    try before.write(to: URL(filePath: folder.path("state/origin.log")))
    store = try await self.store("id,name\n1,Aa\n", at: 1_767_323_060)
    let rows = try store.answer(cursor: cursor).collected().products
    #expect(rows.map(\.id).sorted() == ["1", "2"] && rows.filter { $0.delFlag != 0 }.map(\.name) == ["B"])
    #expect(try store.answer(cursor: cursor).updateTime == "2026-01-02 03:04:20")
  }

  @Test func `stamps of another catalogue are an error that says what to do`() async throws {
    _ = try await store("id,name\n1,A\n", at: 1_767_323_045)
    let before = try Data(contentsOf: URL(filePath: folder.path("state/catalogue.log")))
    _ = try await store("id,name\n1,A\n2,B\n", at: 1_767_323_050)
    _ = try await store("id,name\n1,A\n2,B\n3,C\n", at: 1_767_323_055)
    try before.write(to: URL(filePath: folder.path("state/catalogue.log")))
    await #expect {
      try await self.store("id,name\n1,A\n", at: 1_767_323_060)
    } throws: {
      "\($0)".contains("has no commit 3") && "\($0)".contains("delete")
    }
  }

  @Test func `whatever changes and whenever it starts again, increments give what the file has`() async throws {
    for run in 0..<6 {
      var random = SeededGenerator(for: "whatever changes and whenever it starts again, run \(run)")
      try? FileManager.default.removeItem(atPath: folder.path("state"))
      var clock: Int64 = 1_767_323_045
      var rows: [String: String] = ["0": "first"]
      var table: String { "id,name\n" + rows.sorted { $0.key < $1.key }.map { "\($0.key),\($0.value)\n" }.joined() }
      var store = try await store(table, at: clock)
      var client: [String: String] = [:]
      var cursor = ""
      for step in 0..<60 {
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
          let id = "\(Int.random(in: 0..<12, using: &random))"
          if Bool.random(using: &random) {
            rows[id] = "name \(step)"
          } else if rows.count > 1 {
            rows[id] = nil
          }
        }
        clock += Int64.random(in: -2...3, using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 {
          store = try await self.store(table, at: clock)
        } else {
          // The size and time of the file may be the same, so each has its own.
          try folder.write(table + String(repeating: "\n", count: step % 7), to: "erp.csv", atomically: true)
          _ = try await store.reloadIfChanged { _ in }
        }
        if Bool.random(using: &random) { continue }
        let answer = try store.answer(cursor: cursor)
        if answer.isFull { client = [:] }
        for product in try answer.collected().products {
          client[product.id] = product.delFlag == 0 ? product.name : nil
        }
        cursor = answer.updateTime
        try #require(client == rows, "run \(run), step \(step)")
      }
    }
  }
}
