import DocumentFormat
import Glibc
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import RemoteLists

/// What a cache has to show, kept in dictionaries: merging, expiry, eviction by use, and what a disk that fails leaves.
private struct Model {
  struct Page: Equatable {
    var items: [Post]
    var pushed: [Post]
    var fetched: Double
    var serial: Int
    var used: Int
    var byteCount: Int
  }

  struct Key: Hashable {
    let list: String
    let page: Int
  }

  let size: Int
  let lifetime: Double
  let emptyPageLifetime: Double
  let limit: Int
  var pages: [Key: Page] = [:]
  /// Pages in the order of their last uses, which no commit has recorded.
  var uses: [Key] = []
  var number = 0
  var now = 0.0
  /// Lists that could not be refreshed, with the number up to which their pages are stale.
  var stale: [String: Int] = [:]
  var hits = 0
  var misses = 0
  var evictions = 0

  func numbers(_ list: String) -> [Int] { pages.keys.filter { $0.list == list }.map(\.page).sorted() }

  mutating func use(_ key: Key) {
    guard pages[key] != nil else { return }
    uses.removeAll { $0 == key }
    uses.append(key)
  }

  /// The source of a page that needs no fetch.
  func fresh(_ key: Key) -> PageAnswer<Post>.Source? {
    guard let page = pages[key], now >= page.fetched, now - page.fetched < lifetime else { return nil }
    if page.items.isEmpty, now - page.fetched >= emptyPageLifetime { return nil }
    return page.serial <= stale[key.list] ?? -1 ? .stale : .local
  }

  mutating func markStale(_ list: String) {
    stale[list] = numbers(list).compactMap { pages[Key(list: list, page: $0)]?.serial }.max() ?? 0
    if numbers(list).isEmpty { stale[list] = -1 }
  }

  mutating func clear(_ list: String) {
    for page in numbers(list) { pages[Key(list: list, page: page)] = nil }
    stale[list] = nil
  }

  private mutating func noteUses() {
    for key in uses where pages[key] != nil {
      number += 1
      pages[key]?.used = number
    }
    uses = []
  }

  mutating func put(_ key: Key, _ items: [Post]) throws {
    noteUses()
    var pushed: [Post] = []
    var isFollowed = items.count == size
    if let old = pages[key], isFollowed {
      let shown = old.items + old.pushed.filter { post in !old.items.contains { $0.id == post.id } }
      if let last = shown.lastIndex(where: { post in items.contains { $0.id == post.id } }) {
        pushed = Array(shown[(last + 1)...])
        isFollowed = pushed.count <= 4 * size
        pushed = Array(pushed.prefix(4 * size))
      } else {
        isFollowed = shown.isEmpty
      }
    }
    if !isFollowed {
      for page in numbers(key.list) where page > key.page { pages[Key(list: key.list, page: page)] = nil }
    }
    try write(key, items, pushed)
  }

  mutating func replace(_ list: String, _ items: [Post]) throws {
    noteUses()
    for page in numbers(list) { pages[Key(list: list, page: page)] = nil }
    stale[list] = nil
    try write(Key(list: list, page: 1), items, [])
  }

  private mutating func write(_ key: Key, _ items: [Post], _ pushed: [Post]) throws {
    number += 1
    let document = PageDocument(
      id: PageID(list: try ListID(key.list, pageSize: size), number: key.page), items: items,
      pushed: pushed.isEmpty ? nil : pushed)
    let byteCount = try DocumentEncoder().encode(document).count
    pages[key] = Page(
      items: items, pushed: pushed, fetched: now, serial: number, used: number, byteCount: byteCount)
    for old in pages.keys.sorted(by: { pages[$0]!.used < pages[$1]!.used }) where old != key {
      if pages.values.reduce(0, { $0 + $1.byteCount }) <= limit { break }
      pages[old] = nil
      evictions += 1
    }
  }

  /// The merged list, the slow way.
  func merged(_ list: String) -> [Post] {
    var all: [(post: Post, rank: Int)] = []
    let numbers = numbers(list)
    for page in numbers {
      let stored = pages[Key(list: list, page: page)]!
      all += stored.items.map { ($0, stored.serial) }
      if let next = pages[Key(list: list, page: page + 1)], next.serial > stored.serial { continue }
      all += stored.pushed.map { ($0, -1) }
    }
    return all.indices.filter { index in
      !all.indices.contains { other in
        all[other].post.id == all[index].post.id
          && (all[other].rank > all[index].rank || all[other].rank == all[index].rank && other < index)
      }
    }.map { all[$0].post }
  }
}

/// Random operations on a cache beside its model.
@Suite struct ModelTests {
  private static let size = 4
  private static let lifetime = 50.0
  private static let emptyPageLifetime = 25.0
  private static let lists = ["a", "b", "c"]

  @Test func `a cache shows what its model shows, whatever is done to it`() async throws {
    var random = SeededGenerator(for: "PageCache model")
    var evictions = 0
    for round in 0..<(6 * depth) { evictions += try await run(round, &random) }
    #expect(evictions > 20 * depth)
  }

  private static let filler = String(repeating: "x", count: 150)

  /// Returns how many pages were evicted.
  private func run(_ round: Int, _ random: inout SeededGenerator) async throws -> Int {
    let limit = Int.random(in: 3_500...6_000, using: &random)
    let change: (inout PageStore.Options) -> Void = { options in
      options.byteLimit = limit
      options.emptyPageLifetime = .seconds(Self.emptyPageLifetime)
    }
    let bench = Bench { change(&$0) }
    var store = bench.store
    var model = Model(
      size: Self.size, lifetime: Self.lifetime, emptyPageLifetime: Self.emptyPageLifetime, limit: limit)
    var servers: [String: Server] = [:]
    var nextID = 0
    for list in Self.lists {
      servers[list] = Server((0..<14).map { Post(nextID + 14 - $0, Self.filler) })
      nextID += 20
    }
    func cache(_ list: String) -> PageCache<String, Post> {
      let server = servers[list]!
      return PageCache(list, in: store, pageSize: Self.size, lifetime: .seconds(Self.lifetime)) {
        try await server.fetch($0, $1)
      }
    }
    var evictions = 0
    for step in 0..<150 {
      let what = "round \(round), step \(step)"
      let list = Self.lists.randomElement(using: &random)!
      let server = servers[list]!
      server.isOffline = Int.random(in: 0..<5, using: &random) == 0
      let isFull = Int.random(in: 0..<8, using: &random) == 0
      if isFull { bench.device.refuse(.write, ENOSPC) }
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<8:
        let key = Model.Key(list: list, page: Int.random(in: 1...5, using: &random))
        model.use(key)
        if let source = model.fresh(key) {
          model.hits += 1
          let answer = try await cache(list).load(page: key.page)
          #expect(answer.source == source && answer.items == model.pages[key]?.items, "\(what)")
          #expect(answer.age == .seconds(model.now - model.pages[key]!.fetched), "\(what)")
        } else {
          model.misses += 1
          try await fetch(key, isFull, server, &model, what) { try await cache(list).load(page: key.page) }
        }
      case 8..<10:
        try await fetch(Model.Key(list: list, page: 1), isFull, server, &model, what) {
          try await cache(list).loadNewer()
        }
      case 10..<12: try await refresh(list, isFull, server, &model, what) { try await cache(list).refresh() }
      case 12..<15:
        nextID += 1
        server.posts.insert(
          contentsOf: (0..<Int.random(in: 1...3, using: &random)).map { Post(1000 + nextID * 4 - $0, Self.filler) },
          at: 0
        )
      case 15:
        var posts = server.posts
        posts.remove(at: Int.random(in: 0..<posts.count, using: &random))
        if posts.count > 4 { server.posts = posts }
      case 16: server.posts[Int.random(in: 0..<3, using: &random)].text = "edited \(step)" + Self.filler
      case 17:
        let seconds = Double(Int.random(in: 0...40, using: &random))
        bench.clock.advance(seconds)
        model.now += seconds
      case 18 where !isFull:
        if Bool.random(using: &random) {
          _ = try cache(list).clear()
          model.clear(list)
        } else if Bool.random(using: &random) {
          let lists = Self.lists.filter { _ in Bool.random(using: &random) }
          let removed = try store.clear(lists)
          #expect(removed.map(\.name) == lists.filter { !model.numbers($0).isEmpty }, "\(what)")
          #expect(removed.map(\.pages) == removed.map { model.numbers($0.name) }, "\(what)")
          for list in lists { model.clear(list) }
        } else if Int.random(in: 0..<4, using: &random) == 0 {
          _ = try store.clear()
          (model.pages, model.uses, model.stale) = ([:], [], [:])
        }
      default:
        evictions += model.evictions
        store = bench.again(change)
        (model.uses, model.stale, model.hits, model.misses, model.evictions) = ([], [:], 0, 0, 0)
      }
      bench.device.failNoMore()
      try check(store, model, list, cache(list), what)
      for page in model.numbers(list) { model.use(Model.Key(list: list, page: page)) }
    }
    #expect(try model.pages.values.reduce(0) { $0 + $1.byteCount } == bench.storedByteCount())
    return evictions + model.evictions
  }

  private func fetch(
    _ key: Model.Key, _ isFull: Bool, _ server: Server, _ model: inout Model, _ what: String,
    _ load: () async throws -> PageAnswer<Post>
  ) async throws {
    if server.isOffline {
      try await fail(key, &model, what, load)
      return
    }
    let answer = try await load()
    let expected = Array(server.posts.dropFirst((key.page - 1) * Self.size).prefix(Self.size))
    #expect(answer.source == .network && answer.items == expected, "\(what)")
    #expect((answer.notStored != nil) == isFull, "\(what): \(answer.notStored as Any)")
    if !isFull { try model.put(key, expected) }
  }

  private func refresh(
    _ list: String, _ isFull: Bool, _ server: Server, _ model: inout Model, _ what: String,
    _ load: () async throws -> PageAnswer<Post>
  ) async throws {
    if server.isOffline {
      model.markStale(list)
      try await fail(Model.Key(list: list, page: 1), &model, what, load)
      return
    }
    let answer = try await load()
    #expect(answer.source == .network && (answer.notStored != nil) == isFull, "\(what)")
    if isFull { model.markStale(list) } else { try model.replace(list, Array(server.posts.prefix(Self.size))) }
  }

  private func fail(
    _ key: Model.Key, _ model: inout Model, _ what: String, _ load: () async throws -> PageAnswer<Post>
  ) async throws {
    model.use(key)
    if let page = model.pages[key] {
      let answer = try await load()
      #expect(answer.source == .stale && answer.items == page.items && answer.fetchError is Offline, "\(what)")
    } else {
      await #expect(throws: PageCacheError.self, "\(what)") { _ = try await load() }
    }
  }

  private func check(
    _ store: PageStore, _ model: Model, _ list: String, _ cache: PageCache<String, Post>, _ what: String
  ) throws {
    let statistics = try store.statistics()
    #expect(statistics.pages == model.pages.count && statistics.bytes <= model.limit, "\(what)")
    #expect(statistics.lists == Set(model.pages.keys.map(\.list)).count, "\(what)")
    #expect(
      [statistics.hits, statistics.misses, statistics.evictions] == [model.hits, model.misses, model.evictions],
      "\(what)")
    let contents = try cache.contents()
    #expect(contents.pages == model.numbers(list) && contents.items == model.merged(list), "\(what)")
    #expect(contents.isStale == model.numbers(list).contains { model.fresh(Model.Key(list: list, page: $0)) != .local })
  }
}
