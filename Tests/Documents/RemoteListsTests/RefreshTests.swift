import StoreTestSupport
import Testing

@testable import RemoteLists

@Suite struct RefreshTests {
  @Test func `a refresh replaces the list in one commit, and only when the fetch succeeded`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    for page in 1...3 { _ = try await list.load(page: page) }
    bench.server.posts = (0..<9).map { Post(100 - $0, "second") }
    bench.server.hold()
    let refresh = Task { try await list.refresh() }
    try await until { bench.server.heldCount == 1 }
    // The old pages stay readable until then.
    for page in 1...3 { #expect(try await list.load(page: page).source == .local) }
    #expect(try list.contents().items.map(\.id) == [9, 8, 7, 6, 5, 4, 3, 2, 1])
    let file = try bench.store.file()
    let before = try file.store.snapshot().sequence
    bench.server.release()
    let answer = try await refresh.value
    #expect(answer.source == .network && answer.items.map(\.id) == [100, 99, 98])
    #expect(try file.store.snapshot().sequence == before + 1)
    let contents = try list.contents()
    #expect(contents.pages == [1] && contents.items == answer.items && !contents.isStale && !contents.isComplete)
    #expect(try await list.load(page: 2).source == .network)
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
  }

  @Test func `a refresh that fails leaves the old pages, marked stale`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    for page in 1...2 { _ = try await list.load(page: page) }
    bench.clock.advance(10)
    bench.server.isOffline = true
    let failed = try await list.refresh()
    #expect(failed.source == .stale && failed.age == .seconds(10) && failed.fetchError is Offline)
    #expect(failed.items.map(\.id) == [9, 8, 7])
    let calls = bench.server.calls
    for page in 1...2 {
      let answer = try await list.load(page: page)
      #expect(answer.source == .stale && answer.fetchError is Offline)
    }
    // Nobody waits for a network that was just found missing.
    #expect(bench.server.calls == calls)
    #expect(try list.contents().isStale && list.contents().pages == [1, 2])
    // A page that is fetched later is not of that time; nor is anything behind a refresh that succeeds.
    bench.server.isOffline = false
    _ = try await list.load(page: 3)
    #expect(try await list.load(page: 3).source == .local)
    #expect(try await list.refresh().source == .network)
    #expect(try await list.load().source == .local)
    #expect(try !list.contents().isStale)
    bench.server.isOffline = true
    await #expect(throws: PageCacheError.self) { try await bench.list("other").refresh() }
  }

  @Test func `a page fetched before a refresh is handed out and not put into the new list`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    _ = try await list.load(page: 1)
    bench.server.hold()
    let load = Task { try await list.load(page: 2) }
    try await until { bench.server.heldCount == 1 }
    bench.server.posts = (0..<9).map { Post(100 - $0, "second") }
    // Another start refreshes meanwhile.
    let other = PageCache<String, Post>("inbox", in: bench.again(), pageSize: 3) { [server = bench.server] page, size in
      Array(server.posts.dropFirst((page - 1) * size).prefix(size))
    }
    #expect(try await other.refresh().notStored == nil)
    bench.server.release()
    let answer = try await load.value
    #expect(answer.source == .network && answer.items.map(\.id) == [6, 5, 4])
    guard case PageCacheError.superseded("inbox", 2)? = answer.notStored else {
      Issue.record("\(answer.notStored as Any)")
      return
    }
    #expect(try list.contents().items.map(\.text) == ["second", "second", "second"])
    #expect(try await list.load(page: 2).items.map(\.id) == [97, 96, 95])
  }

  @Test func `a load that fails while a refresh succeeded answers the new page`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    bench.server.hold()
    let load = Task { try await list.load(page: 1) }
    try await until { bench.server.heldCount == 1 }
    let other = PageCache<String, Post>("inbox", in: bench.again(), pageSize: 3) { _, _ in [Post(100)] }
    _ = try await other.refresh()
    bench.server.release(Offline())
    let answer = try await load.value
    #expect(answer.source == .local && answer.items == [Post(100)] && answer.fetchError == nil)
  }

  @Test(arguments: [true, false])
  func `nothing that was begun before a list was cleared is stored`(isEmpty: Bool) async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    if !isEmpty { _ = try await list.load(page: 3) }
    for clear in [{ _ = try bench.store.clear() }, { _ = try list.clear() }] {
      bench.server.hold()
      let tasks = [Task { try await list.load(page: 2) }, Task { try await list.refresh() }]
      try await until { bench.server.heldCount == 2 }
      try clear()
      bench.server.release()
      for task in tasks { #expect(try await task.value.notStored is PageCacheError) }
      #expect(try list.contents().pages.isEmpty)
      if isEmpty { #expect(bench.device.names.isEmpty) }
    }
    #expect(try await list.load(page: 2).notStored == nil)
    #expect(try list.contents().pages == [2])
  }

  @Test func `two pages of a new list that are fetched at one time are both stored`() async throws {
    let bench = Bench(Server(count: 9))
    bench.server.hold()
    let loads = ["a", "a", "b"].enumerated().map { number, key in
      Task { try await bench.list(key).load(page: number + 1) }
    }
    try await until { bench.server.heldCount == 3 }
    bench.server.release()
    for load in loads { #expect(try await load.value.notStored == nil) }
    #expect(try bench.list("a").contents().pages == [1, 2])
    #expect(try bench.list("b").contents().pages == [3])
  }

  @Test func `clearing says what it removed, and gives the room back`() async throws {
    let bench = Bench(Server((0..<300).map { Post($0, String(repeating: "text \($0) ", count: 400)) }))
    for key in ["a", "b"] { for page in 1...3 { _ = try await bench.list(key, size: 50).load(page: page) } }
    let all = try bench.store.statistics()
    let removed = try bench.list("a", size: 50).clear()
    #expect(removed.lists == 1 && removed.pages == 3 && removed.bytes * 2 == all.bytes)
    #expect(try bench.list("a", size: 50).clear() == CacheSize())
    #expect(try bench.store.clear().lists == 1)
    #expect(try bench.store.statistics().stored == CacheSize())
    #expect(try bench.store.clear() == CacheSize())
    #expect(bench.device.byteCount < 64 << 10, "\(bench.device.byteCount)")
    #expect(try bench.storedByteCount() == 0)
  }
}
