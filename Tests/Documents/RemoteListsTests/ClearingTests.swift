import Documents
import Glibc
import LogStore
import StoreTestSupport
import Synchronization
import Testing

@testable import RemoteLists

/// Several lists, cleared in one commit.
@Suite struct ClearingTests {
  private func sequence(_ bench: Bench) throws -> UInt64 { try bench.store.file().store.snapshot().sequence }

  private func stored(_ bench: Bench) throws -> [String] {
    try CacheInspector(Bench.location(bench.device)).lists().map { "\($0.name) \($0.pageSize)" }
  }

  @Test func `several lists are cleared in one commit, and the answer says which`() async throws {
    let bench = Bench(Server(count: 9))
    for page in 1...3 { _ = try await bench.list("top").load(page: page) }
    for list in [bench.list("top", size: 5), bench.list("list"), bench.list("other")] { _ = try await list.load() }
    let before = try sequence(bench)
    let all = try bench.store.statistics()
    let removed = try bench.store.clear(["top", "list", "nothing"])
    #expect(try sequence(bench) == before + 1)
    #expect(removed.map(\.name) == ["list", "top", "top"] && removed.map(\.pageSize) == [3, 3, 5])
    #expect(removed.map(\.pages) == [[1], [1, 2, 3], [1]])
    let size = CacheSize(removed)
    let left = try bench.store.statistics()
    #expect(size.lists == 3 && size.pages == 5 && size.bytes == all.bytes - left.bytes && size.bytes > 0)
    #expect(try stored(bench) == ["other 3"])
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
    #expect(try await bench.list("other").load().source == .local)
    #expect(try await bench.list("top").load().source == .network)
  }

  @Test func `clearing what is not stored removes nothing and makes no commit`() async throws {
    let bench = Bench(Server(count: 9))
    #expect(try bench.store.clear(["top", "list"]).isEmpty)
    #expect(bench.device.names.isEmpty)
    _ = try await bench.list("top").load()
    let before = try sequence(bench)
    // No keys are not all keys, and a text is not the number that it looks like.
    #expect(try bench.store.clear([String]()).isEmpty)
    #expect(try bench.store.clear(["Top", "top ", ""]).isEmpty)
    #expect(try bench.store.clear([7]).isEmpty)
    #expect(try sequence(bench) == before)
    #expect(try bench.store.clear(["top", "top"]).count == 1)
    #expect(try bench.store.clear(["top"]).isEmpty)
  }

  @Test func `a key of any type finds its list`() async throws {
    struct Search: Codable, Hashable, Sendable {
      var text: String
      var filters: [String: Int]
    }
    let bench = Bench(Server(count: 9))
    let filters = Dictionary(uniqueKeysWithValues: (0..<20).map { ("f\($0)", $0) })
    for text in ["x", "y"] {
      let search = PageCache(Search(text: text, filters: filters), in: bench.store, pageSize: 3) { _, _ in [Post(1)] }
      _ = try await search.load()
    }
    _ = try await PageCache(7, in: bench.store, pageSize: 3) { _, _ in [Post(1)] }.load()
    var other: [String: Int] = [:]
    for key in filters.keys.shuffled() { other[key] = filters[key] }
    #expect(try bench.store.clear([Search(text: "x", filters: other)]).count == 1)
    #expect(try bench.store.clear([7, 8]).map(\.name) == ["7"])
    #expect(try bench.store.statistics().lists == 1)
    struct NoKey: Encodable {
      func encode(to encoder: any Encoder) throws { throw Offline() }
    }
    #expect(throws: (any Error).self) { try bench.store.clear([NoKey()]) }
    #expect(try bench.store.statistics().lists == 1)
  }

  @Test(arguments: [true, false])
  func `a page whose fetch began before its list was cleared is handed out and not stored`(
    isEmpty: Bool
  ) async throws {
    let bench = Bench(Server(count: 9))
    if !isEmpty { _ = try await bench.list("a").load(page: 3) }
    bench.server.hold()
    let cleared = [bench.list("a"), bench.list("a", size: 5), bench.list("b")]
      .map { list in Task { try await list.load(page: 1) } }
    let kept = Task { try await bench.list("c").load(page: 1) }
    try await until { bench.server.heldCount == 4 }
    #expect(try bench.store.clear(["a", "b"]).count == (isEmpty ? 0 : 1))
    bench.server.release()
    for load in cleared {
      let answer = try await load.value
      #expect(answer.source == .network && answer.notStored is PageCacheError)
    }
    // A commit that clears begins an epoch, and a fetch for a list that was not stored is of the epoch before.
    #expect(try await (kept.value.notStored == nil) == isEmpty)
    #expect(try stored(bench) == (isEmpty ? ["c 3"] : []))
    for size in [3, 5] { #expect(try await bench.list("a", size: size).load().notStored == nil) }
    #expect(try stored(bench).contains("a 5"))
  }

  @Test func `a list that could not be refreshed is no longer stale once it was cleared`() async throws {
    let bench = Bench(Server(count: 3))
    _ = try await bench.list().load()
    bench.server.isOffline = true
    _ = try await bench.list().refresh()
    #expect(try bench.list().contents().isStale)
    bench.server.isOffline = false
    _ = try bench.store.clear(["inbox"])
    #expect(bench.store.state.withLock { $0.stale.isEmpty })
    _ = try await bench.list().load()
    #expect(try await bench.list().load().source == .local)
  }

  @Test func `lists that a tool found are cleared in one commit`() async throws {
    let bench = Bench(Server(count: 9))
    for list in [bench.list("a"), bench.list("a", size: 5), bench.list("b")] { _ = try await list.load() }
    let found = try CacheInspector(Bench.location(bench.device)).lists()
    let chosen = found.filter { $0.pageSize == 3 }
    let before = try sequence(bench)
    #expect(try bench.store.clear(chosen).map(\.name) == ["a", "b"])
    #expect(try sequence(bench) == before + 1)
    #expect(try bench.store.clear(found).map(\.pageSize) == [5])
    #expect(try bench.store.clear(found).isEmpty)
  }

  @Test func `where the commit fails no list is cleared`() async throws {
    let bench = Bench(Server(count: 9))
    for key in ["a", "b"] { _ = try await bench.list(key).load() }
    bench.device.refuse(.write, ENOSPC)
    #expect(throws: (any Error).self) { try bench.store.clear(["a", "b"]) }
    bench.device.failNoMore()
    #expect(try stored(bench) == ["a 3", "b 3"])
    bench.store.close()
    #expect(throws: DocumentStoreError.self) { try bench.store.clear(["a", "b"]) }
    #expect(try stored(bench) == ["a 3", "b 3"])
  }
}
