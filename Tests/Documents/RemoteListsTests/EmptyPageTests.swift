import Foundation
import Testing

@testable import RemoteLists

/// Pages without items, which are remembered for a short time only.
@Suite struct EmptyPageTests {
  @Test func `an empty page is not cached forever`() async throws {
    let bench = Bench()
    #expect(bench.store.options.emptyPageLifetime == .seconds(30))
    let list = bench.list(lifetime: nil)
    #expect(try await list.load().source == .network)
    bench.server.posts = [Post(1)]
    bench.clock.advance(29)
    let remembered = try await list.load()
    #expect(remembered.source == .local && remembered.items.isEmpty && remembered.age == .seconds(29))
    #expect(try !list.contents().isStale)
    bench.clock.advance(1)
    #expect(try list.contents().isStale)
    // Also for a later start, whose file has nothing but the time of the fetch.
    let found = try await bench.list(lifetime: nil, in: bench.again()).load()
    #expect(found.source == .network && found.items == [Post(1)])
    #expect(bench.server.calls == [1, 1])
    // Rows that exist are local for as long as the list says: here forever.
    bench.clock.advance(1e9)
    #expect(try await list.load().source == .local)
    #expect(try !list.contents().isStale)
    #expect(bench.server.calls == [1, 1])
  }

  @Test func `an empty list is asked for again as often as its answers expire, also after a refresh`() async throws {
    let bench = Bench()
    let list = bench.list(lifetime: nil)
    for round in 1...3 {
      #expect(try await list.load().source == .network)
      #expect(try await list.load().source == .local)
      #expect(bench.server.calls.count == round)
      bench.clock.advance(30)
    }
    #expect(try await list.refresh().source == .network)
    bench.clock.advance(29)
    #expect(try await list.load().source == .local)
    bench.clock.advance(1)
    #expect(try await list.load().source == .network)
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
  }

  @Test func `an expired empty page is no local answer without a network either`() async throws {
    let bench = Bench()
    let list = bench.list(lifetime: nil)
    _ = try await list.load()
    bench.server.isOffline = true
    #expect(try await list.load().source == .local)
    bench.clock.advance(30)
    for _ in 1...2 {
      let answer = try await list.load()
      #expect(answer.source == .stale && answer.items.isEmpty && answer.fetchError is Offline)
      #expect(answer.age == .seconds(30))
    }
    // Each of the two loads tried.
    #expect(bench.server.calls == [1, 1, 1])
  }

  @Test func `the empty page after a full last one expires, and the page before it does not`() async throws {
    let bench = Bench(Server((1...3).map { Post($0) }))
    let list = bench.list(lifetime: nil, order: .oldestFirst)
    for page in 1...2 { _ = try await list.load(page: page) }
    bench.server.posts.append(Post(4))
    bench.clock.advance(30)
    #expect(try await list.load(page: 1).source == .local)
    #expect(try await list.load(page: 2).items == [Post(4)])
    #expect(bench.server.calls == [1, 2, 2])
  }

  @Test func `of two lifetimes the shorter one counts, and without one for empty pages the list's`() async throws {
    let bench = Bench { $0.emptyPageLifetime = .seconds(300) }
    let short = bench.list("short", lifetime: .seconds(60))
    let long = bench.list("long", lifetime: .seconds(600))
    for list in [short, long] { _ = try await list.load() }
    bench.clock.advance(60)
    #expect(try await short.load().source == .network)
    #expect(try await long.load().source == .local)
    bench.clock.advance(240)
    #expect(try await long.load().source == .network)
    let unlimited = bench.again { $0.emptyPageLifetime = nil }
    bench.clock.advance(599)
    #expect(try await bench.list("long", lifetime: .seconds(600), in: unlimited).load().source == .local)
    bench.clock.advance(1e9)
    #expect(try await bench.list("long", lifetime: nil, in: unlimited).load().source == .local)
    let none = bench.again { $0.emptyPageLifetime = .zero }
    for _ in 1...2 { #expect(try await bench.list("none", lifetime: nil, in: none).load().source == .network) }
  }

  @Test(arguments: [PageOrder.newestFirst, .oldestFirst])
  func `older items are looked for again where an empty page was the end`(order: PageOrder) async throws {
    let bench = Bench()
    let list = bench.list(lifetime: nil, order: order)
    #expect(try await list.loadOlder()?.items == [])
    #expect(try await list.loadOlder() == nil)
    #expect(bench.server.calls == [1])
    bench.clock.advance(30)
    // Still none: the page is fetched once, and then remembered again.
    for _ in 1...2 { #expect(try await list.loadOlder() == nil) }
    #expect(bench.server.calls == [1, 1])
    bench.clock.advance(30)
    bench.server.isOffline = true
    let error = await #expect(throws: PageCacheError.self) { try await list.loadOlder() }
    guard case .unavailable("inbox", 1, let fetch, nil) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(fetch is Offline)
    bench.server.isOffline = false
    bench.server.posts = [Post(1)]
    #expect(try await list.loadOlder()?.items == [Post(1)])
    #expect(try await list.loadOlder() == nil)
  }

  @Test func `a program that never remembers empty pages still finds the end of a list`() async throws {
    let bench = Bench(Server(count: 6)) { $0.emptyPageLifetime = .zero }
    let list = bench.list(lifetime: nil)
    var pages: [Int] = []
    while let answer = try await list.loadOlder() { pages.append(answer.page) }
    #expect(pages == [1, 2, 3])
    #expect(try list.contents().items.count == 6)
  }

  @Test func `tools see that an empty page has expired`() async throws {
    let bench = Bench()
    _ = try await bench.list("empty", lifetime: nil).load()
    bench.server.posts = [Post(1)]
    _ = try await bench.list("full", lifetime: nil).load()
    let lists = try CacheInspector(Bench.location(bench.device)).lists()
    #expect(lists.map(\.name) == ["empty", "full"])
    #expect(lists.map { $0.isStale(at: bench.clock.now) } == [false, false])
    bench.clock.advance(30)
    #expect(lists.map { $0.isStale(at: bench.clock.now) } == [true, false])
    #expect(lists.map { $0.isStale(at: bench.clock.now, emptyPageLifetime: nil) } == [false, false])
    #expect(lists.map { $0.isStale(at: bench.clock.now - 31) } == [true, true])
  }
}
