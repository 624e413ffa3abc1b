import Testing

@testable import RemoteLists

/// Pages fetched at different times, as one list.
@Suite struct MergingTests {
  private func ids(_ list: PageCache<String, Post>) throws -> [Int] { try list.contents().items.map(\.id) }

  @Test func `a new item at the top shifts the pages, and each id is there once, with its newest content`() async throws
  {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    _ = try await list.load(page: 1)
    bench.server.posts.insert(Post(10, "new"), at: 0)
    bench.server.posts[3].text = "changed"
    // Page 2 begins with 7 now, which page 1 has, too.
    #expect(try await list.load(page: 2).items.map(\.id) == [7, 6, 5])
    #expect(try ids(list) == [9, 8, 7, 6, 5])
    #expect(try list.contents().items[2].text == "changed")
    // The newer one comes to the front, and nothing is lost behind it: 7 was pushed off page 1, and page 2 has it.
    #expect(try await list.loadNewer().items.map(\.id) == [10, 9, 8])
    #expect(try ids(list) == [10, 9, 8, 7, 6, 5])
    // The older ones come to the end.
    #expect(try await list.loadOlder()?.items.map(\.id) == [4, 3, 2])
    #expect(try await list.loadOlder()?.items.map(\.id) == [1])
    #expect(try await list.loadOlder() == nil)
    let contents = try list.contents()
    #expect(contents.items.map(\.id) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] && contents.isComplete)
  }

  @Test func `what is pushed off a page stays behind it until the next page is fetched again`() async throws {
    let bench = Bench(Server(count: 6))
    let list = bench.list()
    for page in 1...2 { _ = try await list.load(page: page) }
    for number in 7...8 {
      bench.server.posts.insert(Post(number), at: 0)
      _ = try await list.loadNewer()
      #expect(try ids(list) == Array((1...number).reversed()))
    }
    #expect(try await list.load(page: 1).items.map(\.id) == [8, 7, 6])
    // 5 is gone from the server: it stands behind page 1 until page 2 shows so.
    bench.server.posts.removeAll { $0.id == 5 }
    bench.clock.advance(60)
    #expect(try await list.load(page: 2).items.map(\.id) == [4, 3, 2])
    #expect(try ids(list) == [8, 7, 6, 4, 3, 2, 1])
  }

  @Test func `pages that no longer follow go`() async throws {
    let bench = Bench(Server(count: 12))
    let list = bench.list()
    for page in 1...4 { _ = try await list.load(page: page) }
    // More than a page of new items: between page 1 and what was there would be a hole.
    bench.server.posts.insert(contentsOf: (0..<3).map { Post(100 - $0) }, at: 0)
    _ = try await list.loadNewer()
    #expect(try list.contents().pages == [1])
    for page in 2...5 { _ = try await list.load(page: page) }
    #expect(try list.contents().items.count == 15)
    // The list became shorter: what is behind its last page is gone.
    bench.server.posts.removeLast(9)
    bench.clock.advance(60)
    #expect(try await list.load(page: 3).items.isEmpty)
    #expect(try list.contents().pages == [1, 2, 3])
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
  }

  @Test func `no more than four pages' worth is kept behind a page`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    for page in 1...3 { _ = try await list.load(page: page) }
    var longest = 0
    for number in 10...40 {
      bench.server.posts.insert(Post(number), at: 0)
      _ = try await list.loadNewer()
      let ids = try ids(list)
      #expect(ids == Array((number - ids.count + 1...number).reversed()))
      longest = max(longest, ids.count)
    }
    // Page 1, four pages behind it, and pages 2 and 3 for as long as they followed.
    #expect(longest == 3 + 12 + 6)
    #expect(try ids(list).count == 3 + 12)
  }

  @Test func `with the oldest first newer items come to the end`() async throws {
    let bench = Bench(Server((1...5).map { Post($0) }))
    let list = bench.list(order: .oldestFirst)
    #expect(try await list.loadNewer().page == 1)
    #expect(try await list.loadNewer().page == 2)
    #expect(try ids(list) == [1, 2, 3, 4, 5])
    #expect(try list.contents().isComplete)
    bench.server.posts += [Post(6), Post(7)]
    // The last page was not full: it is fetched again.
    #expect(try await list.loadNewer().items.map(\.id) == [4, 5, 6])
    #expect(try !list.contents().isComplete)
    #expect(try await list.loadNewer().items.map(\.id) == [7])
    #expect(try ids(list) == [1, 2, 3, 4, 5, 6, 7])
    #expect(try await list.loadOlder() == nil)
    // From the middle, older ones come to the front.
    let middle = bench.list("middle", order: .oldestFirst)
    _ = try await middle.load(page: 2)
    #expect(try await middle.loadOlder()?.page == 1)
    #expect(try ids(middle) == [1, 2, 3, 4, 5, 6])
  }

  @Test func `an id that comes twice on a page is there once`() {
    typealias Page = MergedList.Page<Post>
    let merged = MergedList.items(
      [
        Page(number: 1, serial: 2, items: [Post(1, "a"), Post(2, "a"), Post(1, "b")], pushed: [Post(3, "old")]),
        Page(number: 2, serial: 1, items: [Post(4, "a"), Post(3, "a")], pushed: []),
        Page(number: 4, serial: 3, items: [Post(2, "c")], pushed: [Post(9, "p")]),
      ], id: \.id)
    #expect(merged == [Post(1, "a"), Post(4, "a"), Post(3, "a"), Post(2, "c"), Post(9, "p")])
    #expect(MergedList.items([Page](), id: \.id).isEmpty)
  }
}
