import Testing

@testable import RemoteLists

@Suite struct EvictionTests {
  private static let text = String(repeating: "x", count: 1000)

  /// A cache with room for `pages` pages of three posts of a thousand bytes.
  private func bench(pages: Int) -> Bench {
    Bench(Server((0..<60).map { Post($0, Self.text) })) { $0.byteLimit = pages * 3_100 }
  }

  private func pages(_ bench: Bench) throws -> [String: [Int]] {
    let file = try bench.store.file()
    let lists = try file.lists(file.store.snapshot())
    return Dictionary(uniqueKeysWithValues: lists.map { ($0.id.name, $0.pages.map(\.number)) })
  }

  @Test func `the pages used the longest ago go, over all lists`() async throws {
    let bench = bench(pages: 4)
    for (key, page) in [("a", 1), ("b", 1), ("a", 2), ("b", 2)] { _ = try await bench.list(key).load(page: page) }
    #expect(try pages(bench) == ["a": [1, 2], "b": [1, 2]])
    // Reading is a use, although it makes no commit.
    let sequence = try bench.store.file().store.snapshot().sequence
    #expect(try await bench.list("a").load(page: 1).source == .local)
    #expect(try bench.store.file().store.snapshot().sequence == sequence)
    _ = try await bench.list("c").load(page: 1)
    #expect(try pages(bench) == ["a": [1, 2], "b": [2], "c": [1]])
    _ = try await bench.list("c").load(page: 2)
    #expect(try pages(bench) == ["a": [1], "b": [2], "c": [1, 2]])
    // A list whose last page went is gone; uses outlast a start once a commit has written them.
    _ = try await bench.list("a").load(page: 1)
    _ = try await bench.list("c").load(page: 3)
    #expect(try pages(bench) == ["a": [1], "c": [1, 2, 3]])
    let later = bench.again { $0.byteLimit = 4 * 3_100 }
    _ = try await bench.list("d", in: later).load(page: 1)
    #expect(try pages(bench) == ["a": [1], "c": [2, 3], "d": [1]])
    #expect(try bench.store.statistics().evictions == 3)
    #expect(try later.statistics().evictions == 1)
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
    #expect(try bench.store.statistics().bytes <= 4 * 3_100)
  }

  @Test func `a page that is larger than all the room is handed out, and nothing goes for it`() async throws {
    let bench = bench(pages: 2)
    _ = try await bench.list("a").load()
    for load in [{ try await bench.list("b", size: 10).load() }, { try await bench.list("b", size: 10).refresh() }] {
      let answer = try await load()
      #expect(answer.source == .network && answer.items.count == 10)
      guard case PageCacheError.tooLarge("b", 1, _, 2 * 3_100)? = answer.notStored else {
        Issue.record("\(answer.notStored as Any)")
        return
      }
    }
    #expect(try pages(bench) == ["a": [1]])
  }

  @Test func `what is being read never fails because its page goes`() async throws {
    let bench = bench(pages: 1)
    let list = bench.list("a")
    _ = try await list.load()
    let file = try bench.store.file()
    let snapshot = try file.store.snapshot()
    _ = try await bench.list("b").load()
    #expect(try pages(bench) == ["b": [1]])
    let id = PageID(list: list.id, number: 1)
    #expect(try file.page(id, of: Post.self, snapshot)?.items.count == 3)
    // And a page whose fetch is under way finds its room again.
    #expect(try await list.load().source == .network)
    #expect(try pages(bench) == ["a": [1]])
  }

  @Test func `a page that was evicted while another of its list was fetched keeps nobody from storing that`()
    async throws
  {
    let bench = bench(pages: 1)
    let list = bench.list("a")
    _ = try await list.load(page: 1)
    bench.server.hold()
    let load = Task { try await list.load(page: 2) }
    try await until { bench.server.heldCount == 1 }
    let other = PageCache<String, Post>("b", in: bench.store, pageSize: 3) { _, _ in
      (0..<3).map { Post($0, Self.text) }
    }
    _ = try await other.load()
    bench.server.release()
    #expect(try await load.value.notStored == nil)
    #expect(try pages(bench) == ["a": [2]])
  }

  @Test func `the file stays within the limit and what the compaction allows`() async throws {
    let bench = Bench(Server((0..<60).map { Post($0, Self.text) })) {
      $0.byteLimit = 100_000
      $0.compaction.floor = 50_000
    }
    for round in 0..<6 { for page in 1...20 { _ = try await bench.list("\(round)").load(page: page) } }
    #expect(try bench.store.statistics().bytes <= 100_000)
    #expect(try bench.store.statistics().bytes > 95_000)
    #expect(bench.device.byteCount < 250_000, "\(bench.device.byteCount)")
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
  }
}
