import DocumentFormat
import LogStore
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing

@testable import RemoteLists

/// Loss of power at every change that a cache makes on its device.
@Suite struct CrashTests {
  /// The lists that a start finds, by name: each page's number with the texts of its items.
  private struct Shown: Hashable, CustomStringConvertible {
    var lists: [String: [Int: [String]]] = [:]
    var isDamaged = false

    var description: String { isDamaged ? "damaged" : "\(lists)" }
  }

  private struct Mixture: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: where a list mixes two refreshes, or what the documents say of each other is not so.
  private static func show(_ device: SimulatedDevice) throws -> Shown {
    var shown = Shown()
    let file: CacheFile
    do { file = try CacheFile(Bench.location(device)) } catch is StoreError {
      shown.isDamaged = true
      return shown
    }
    let snapshot = try file.store.snapshot()
    var byteCount = 0
    for list in try file.lists(snapshot) {
      for entry in list.pages {
        let id = PageID(list: list.id, number: entry.number)
        guard let page = try file.page(id, of: Post.self, snapshot), page.items.count == entry.itemCount else {
          throw Mixture(description: "page \(entry.number) of \(list.id.name) is not there")
        }
        byteCount += try DocumentEncoder().encode(page).count
        shown.lists[list.id.name, default: [:]][entry.number] = page.items.map(\.text)
      }
      let texts = Set((shown.lists[list.id.name] ?? [:]).values.joined().map { $0.prefix { $0 != "/" } })
      guard texts.count == 1 else { throw Mixture(description: "\(list.id.name) mixes refreshes: \(texts)") }
    }
    guard try file.head(snapshot)?.byteCount ?? 0 == byteCount else {
      throw Mixture(description: "the head counts other bytes")
    }
    return shown
  }

  /// A list whose items say of which refresh they are.
  private final class Lists {
    private let store: PageStore
    private let limit: Int
    private var refreshes: [String: Int] = [:]

    init(_ device: SimulatedDevice, limit: Int) {
      self.limit = limit
      store = Bench.store(device, Clock()) {
        $0.byteLimit = limit
        $0.compaction = CompactionPolicy(share: 0.3, floor: 24_000)
      }
    }

    private func posts(_ name: String, _ page: Int) -> [Post] {
      let filler = String(repeating: "x", count: 300)
      return (0..<3).map { Post(page * 3 + $0, "\(refreshes[name] ?? 0)/\(name) \(page) \(filler)") }
    }

    func load(_ name: String, _ page: Int) throws {
      let id = PageID(list: try ListID(name, pageSize: 3), number: page)
      try store.put(
        posts(name, page), id, terms, token: store.token(id.list), fetched: store.options.now())
    }

    func refresh(_ name: String) throws {
      refreshes[name, default: 0] += 1
      let id = try ListID(name, pageSize: 3)
      try store.replace(id, with: posts(name, 1), terms, token: store.token(id), fetched: store.options.now())
    }

    func read(_ name: String, _ page: Int) throws {
      _ = try store.page(PageID(list: ListID(name, pageSize: 3), number: page), of: Post.self)
    }

    func clear(_ name: String) throws { _ = try store.clear(ListID(name, pageSize: 3)) }
    func clear(_ names: [String]) throws { _ = try store.clear(names) }
    func clear() throws { _ = try store.clear() }

    private var terms: ListTerms { ListTerms(order: .newestFirst, byteLimit: limit) }
  }

  private static func explorer() -> CrashExplorer<Shown> {
    CrashExplorer<Shown>(samples: depth == 1 ? [2, 1] : [8, 3, 1], show: show) { recording in
      let lists = Lists(recording.device, limit: 6_000)
      // Whatever is there, a refresh and a load bring it to where it has to be.
      for name in ["a", "b"] {
        try recording.step {
          try lists.refresh(name)
          return try show(recording.device)
        }
      }
      guard recording.reported.lists["b"]?.keys.sorted() == [1] else {
        throw Mixture(description: "the refresh behind a crash shows \(recording.reported)")
      }
    }
  }

  @Test func `after a crash a list is the old or the new one, never a mixture of two refreshes`() throws {
    var random = SeededGenerator(for: "PageCache crashes")
    let device = SimulatedDevice()
    let recording = CrashRecording(device, showing: Shown())
    // Room for five pages: the later loads evict.
    let lists = Lists(device, limit: 5_500)
    let steps: [(Lists) throws -> Void] = [
      { try $0.load("a", 1) }, { try $0.load("a", 2) }, { try $0.load("a", 3) }, { try $0.load("b", 1) },
      { try $0.refresh("a") }, { try $0.load("a", 2) }, { try $0.load("a", 2) }, { try $0.load("b", 2) },
      { try $0.read("b", 1) }, { try $0.load("a", 3) }, { try $0.load("b", 3) }, { try $0.refresh("b") },
      { try $0.refresh("a") }, { try $0.load("c", 1) }, { try $0.load("c", 2) }, { try $0.load("c", 3) },
      { try $0.load("b", 2) }, { try $0.clear("c") }, { try $0.refresh("b") }, { try $0.load("b", 2) },
      { try $0.load("b", 3) }, { try $0.load("d", 1) }, { try $0.load("d", 2) }, { try $0.clear() },
      { try $0.load("a", 2) }, { try $0.refresh("a") }, { try $0.load("b", 1) }, { try $0.load("c", 1) },
      { try $0.clear(["b", "c"]) },
    ]
    for step in steps {
      try recording.step {
        try step(lists)
        return try Self.show(device)
      }
    }
    #expect(recording.reported.lists.keys.sorted() == ["a"])
    var explorer = Self.explorer()
    try explorer.explore(recording, &random)
    print(
      "PageCache crashes: \(explorer.points) points, \(explorer.crashes) crashes, \(explorer.distinctStates) states")
    #expect(explorer.distinctStates > 50)
  }

  @Test func `a crash while a damaged file is set aside leaves it under one name or the other`() throws {
    var random = SeededGenerator(for: "PageCache crashes, damage")
    let damaged: [UInt8] = Array("this was a cache".utf8)
    let device = SimulatedDevice(DiskImage(["cache.log": damaged]))
    var before = Shown()
    before.isDamaged = true
    let recording = CrashRecording(device, showing: before)
    let lists = Lists(device, limit: 5_500)
    for step in [{ try lists.read("a", 1) }, { try lists.load("a", 1) }, { try lists.refresh("a") }] {
      try recording.step {
        try step()
        return try Self.show(device)
      }
    }
    var explorer = CrashExplorer<Shown>(samples: [6, 2]) { device in
      guard ["cache.log", "cache.damaged-1"].contains(where: { device.contents($0) == damaged }) else {
        throw Mixture(description: "the damaged file is gone: \(device.names)")
      }
      return try Self.show(device)
    } goOn: { recording in
      let lists = Lists(recording.device, limit: 5_500)
      try recording.step {
        try lists.read("a", 1)
        return try Self.show(recording.device)
      }
    }
    try explorer.explore(recording, &random)
    #expect(explorer.distinctStates > 4)
    #expect(device.contents("cache.damaged-1") == damaged)
  }
}
