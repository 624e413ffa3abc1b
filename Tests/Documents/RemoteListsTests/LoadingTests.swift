import DocumentFormat
import Foundation
import StoreTestSupport
import Testing

@testable import RemoteLists

@Suite struct LoadingTests {
  @Test func `a page is fetched once and then answered from the store, with its age`() async throws {
    let bench = Bench(Server(count: 7))
    let list = bench.list()
    let first = try await list.load()
    #expect(first.source == .network && first.age == .zero && first.notStored == nil && first.fetchError == nil)
    #expect(first.items.map(\.id) == [7, 6, 5] && !first.isLast)
    bench.clock.advance(20)
    let second = try await list.load(page: 1)
    #expect(second.source == .local && second.age == .seconds(20) && second.items == first.items)
    #expect(bench.server.calls == [1])
    // Also for a later start.
    let later = try await bench.list(in: bench.again()).load(page: 1)
    #expect(later.source == .local && later.items == first.items)
    let last = try await list.load(page: 3)
    #expect(last.items.map(\.id) == [1] && last.isLast)
    #expect(bench.server.calls == [1, 3])
    let statistics = try bench.store.statistics()
    #expect(statistics.lists == 1 && statistics.pages == 2 && statistics.hits == 1 && statistics.misses == 2)
  }

  @Test func `an expired page is fetched again, and answered as stale where that fails`() async throws {
    let bench = Bench(Server(count: 3))
    let list = bench.list()
    _ = try await list.load()
    bench.clock.advance(59)
    #expect(try await list.load().source == .local)
    bench.server.posts[0].text = "changed"
    bench.clock.advance(1)
    bench.server.isOffline = true
    let stale = try await list.load()
    #expect(stale.source == .stale && stale.age == .seconds(60) && stale.fetchError is Offline)
    #expect(stale.items[0].text == "first")
    bench.server.isOffline = false
    let fresh = try await list.load()
    #expect(fresh.source == .network && fresh.items[0].text == "changed")
    #expect(try await list.load().source == .local)
    // A lifetime is the list's: without one a page is good for ever.
    bench.clock.advance(1e9)
    #expect(try await bench.list(lifetime: nil).load().source == .local)
    #expect(try await bench.list(lifetime: .seconds(2_000_000_000)).load().source == .local)
  }

  @Test func `a page from the future has expired`() async throws {
    let bench = Bench(Server(count: 3))
    _ = try await bench.list().load()
    bench.clock.advance(-10)
    bench.server.isOffline = true
    let answer = try await bench.list(lifetime: nil).load()
    #expect(answer.source == .stale && answer.age == .zero)
  }

  @Test func `a failed network is an error only if there is nothing local, and says so`() async throws {
    let bench = Bench(Server(count: 3))
    bench.server.isOffline = true
    let error = await #expect(throws: PageCacheError.self) { try await bench.list().load(page: 2) }
    guard case .unavailable("inbox", 2, let fetch, nil) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(fetch is Offline)
    #expect("\(try #require(error))".contains("there is no local copy: Offline"))
    #expect(bench.device.names.isEmpty)
  }

  @Test func `lists are known by key and page size`() async throws {
    let bench = Bench(Server(count: 7))
    for list in [bench.list("a"), bench.list("b"), bench.list("a", size: 5)] {
      #expect(try await list.load().source == .network)
      #expect(try await list.load().source == .local)
    }
    struct Search: Codable, Hashable, Sendable {
      var text: String
      var filters: [String: Int]
    }
    let filters = Dictionary(uniqueKeysWithValues: (0..<20).map { ("f\($0)", $0) })
    func search(_ text: String) -> PageCache<Search, Post> {
      var other: [String: Int] = [:]
      for key in filters.keys.shuffled() { other[key] = filters[key] }
      return PageCache(Search(text: text, filters: other), in: bench.store, pageSize: 3) { [server = bench.server] in
        try await server.fetch($0, $1)
      }
    }
    #expect(try await search("x").load().source == .network)
    for _ in 0..<5 { #expect(try await search("x").load().source == .local) }
    #expect(try await search("y").load().source == .network)
    #expect(try bench.store.statistics().lists == 5)
  }

  @Test func `what another version of the application stored counts as not there`() async throws {
    struct Newer: Codable, Identifiable, Sendable {
      let id: Int
      let title: String
    }
    let bench = Bench(Server(count: 4))
    let list = bench.list()
    _ = try await list.load(page: 1)
    _ = try await list.load(page: 2)
    let newer = PageCache<String, Newer>("inbox", in: bench.store, pageSize: 3) { page, _ in
      [Newer(id: page, title: "title")]
    }
    #expect(try newer.contents().items.isEmpty)
    #expect(try await newer.load(page: 1).source == .network)
    #expect(try await newer.load(page: 1).items.first?.title == "title")
    // And back again: fetched anew, no error.
    let old = try await list.load(page: 1)
    #expect(old.source == .network && old.items.count == 3)
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
    let failing = PageCache<String, Newer>("inbox", in: bench.store, pageSize: 3) { _, _ in throw Offline() }
    await #expect(throws: PageCacheError.self) { try await failing.load(page: 1) }
  }

  @Test func `what another version of the package stored counts as not there`() async throws {
    let bench = Bench(Server(count: 4))
    let list = bench.list()
    _ = try await list.load(page: 1)
    let file = try bench.store.file()
    var head = try #require(try file.head(file.store.snapshot()))
    head.format = 2
    try file.heads.upsert(head)
    #expect(try bench.store.statistics().pages == 0)
    #expect(try await list.load(page: 2).notStored == nil)
    #expect(try list.contents().pages == [2])
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
  }
}

extension Bench {
  /// Bytes of the pages that are there, counted.
  func storedByteCount() throws -> Int {
    let file = try CacheFile(Self.location(device))
    let pages = try file.store.collection("pages", of: PageDocument<DocumentValue>.self)
    let counted = try pages.query().fetch().reduce(0) { try $0 + DocumentEncoder().encode($1).count }
    let snapshot = try file.store.snapshot()
    #expect(try file.head(snapshot)?.byteCount ?? 0 == counted)
    return counted
  }
}
