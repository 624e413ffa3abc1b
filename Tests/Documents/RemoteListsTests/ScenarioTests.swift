import Testing

@testable import RemoteLists

@Suite struct ScenarioTests {
  /// A reader of a feed: opens it, scrolls, loses the network, comes back, pulls to refresh, starts again.
  @Test func `a read-through list with refresh and paging`() async throws {
    let bench = Bench(Server(count: 10))
    let feed = bench.list("feed", size: 4, lifetime: .seconds(300))
    // The first look costs a fetch a page, the second none.
    for page in 1...3 { #expect(try await feed.load(page: page).source == .network) }
    for page in 1...3 { #expect(try await feed.load(page: page).source == .local) }
    #expect(try await feed.load(page: 3).isLast)
    #expect(bench.server.calls == [1, 2, 3])
    #expect(try feed.contents().isComplete)

    // Without a network: what expired is shown all the same and says so; what is not here is an error.
    bench.server.isOffline = true
    bench.clock.advance(300)
    let stale = try await feed.load(page: 2)
    #expect(stale.source == .stale && stale.age == .seconds(300) && stale.fetchError is Offline)
    #expect(stale.items.map(\.id) == [6, 5, 4, 3])
    await #expect(throws: PageCacheError.self) { try await feed.load(page: 4) }
    #expect(try await feed.refresh().source == .stale)
    #expect(try feed.contents().items.count == 10)

    // The network is back, with two new posts and one that was edited.
    bench.server.isOffline = false
    bench.server.posts[0].text = "edited"
    bench.server.posts.insert(contentsOf: [Post(12), Post(11)], at: 0)
    let refreshed = try await feed.refresh()
    #expect(refreshed.source == .network && refreshed.items.map(\.id) == [12, 11, 10, 9])
    #expect(try feed.contents().pages == [1])
    for page in 2...4 { #expect(try await feed.load(page: page).source == .network) }
    let contents = try feed.contents()
    #expect(contents.items.map(\.id) == Array((1...12).reversed()) && contents.items[2].text == "edited")
    #expect(contents.isComplete && contents.pages == [1, 2, 3, 4])

    // The next start finds all of it without a fetch.
    let calls = bench.server.calls
    let later = bench.list("feed", size: 4, lifetime: .seconds(300), in: bench.again())
    for page in 1...4 { #expect(try await later.load(page: page).source == .local) }
    #expect(try later.contents().items == contents.items)
    #expect(bench.server.calls == calls)
  }
}
