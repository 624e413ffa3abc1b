import Documents
import LogStore
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing

@testable import RemoteLists

/// A cache file that is damaged is set aside, reported once, and begun anew.
@Suite struct DamageTests {
  private final class Reports: Sendable {
    private let reports = Mutex<[PageStore.SetAside]>([])
    var all: [PageStore.SetAside] { reports.withLock { $0 } }
    func add(_ report: PageStore.SetAside) { reports.withLock { $0.append(report) } }
  }

  /// A cache of two lists.
  private static func image() async throws -> DiskImage {
    let bench = Bench(Server(count: 9))
    for key in ["a", "b"] { for page in 1...3 { _ = try await bench.list(key).load(page: page) } }
    return bench.device.image
  }

  private func check(_ bytes: [UInt8], _ what: String) async throws {
    let device = SimulatedDevice(DiskImage(["cache.log": bytes]))
    let reports = Reports()
    let bench = Bench(Server((0..<9).map { Post(100 - $0) }), device: device) { options in
      options.onSetAside = { reports.add($0) }
    }
    bench.server.isOffline = true
    let lists = ["a", "b"].map { bench.list($0) }
    for list in lists {
      for page in 1...3 {
        // The page that was stored, or none.
        do {
          let answer = try await list.load(page: page)
          #expect(answer.items == (0..<3).map { Post(9 - (page - 1) * 3 - $0, "first") }, "\(what)")
        } catch PageCacheError.unavailable {}
      }
      _ = try list.contents()
    }
    bench.server.isOffline = false
    for list in lists {
      let answer = try await list.refresh()
      #expect(answer.source == .network && answer.notStored == nil, "\(what): \(answer.notStored as Any)")
      #expect(try await list.load(page: 2).notStored == nil)
      #expect(try list.contents().items.map(\.id) == [100, 99, 98, 97, 96, 95], "\(what)")
    }
    #expect(reports.all.count <= 1, "\(what): \(reports.all)")
    let names = device.names.filter { $0 != "cache.lock" }
    if let report = reports.all.first {
      #expect(report.path.hasSuffix("/cache.damaged-1"))
      #expect(device.contents("cache.damaged-1")?.count ?? 0 >= bytes.count)
      #expect(names == ["cache.damaged-1", "cache.log"], "\(what): \(names)")
    } else {
      #expect(names == ["cache.log"], "\(what): \(names)")
    }
    _ = try bench.store.clear()
    #expect(try bench.store.statistics().pages == 0)
  }

  @Test func `a file that is none, cut or of a newer version is set aside`() async throws {
    let log = try await Self.image()["cache.log"] ?? []
    var newer = log
    newer[8] ^= 0x40
    for (what, bytes) in [
      ("empty", []), ("text", Array("not a store".utf8)), ("zeros", [UInt8](repeating: 0, count: 20_000)),
      ("half", Array(log.prefix(log.count / 2))), ("header", Array(log.prefix(5000))), ("another version", newer),
    ] { try await check(bytes, what) }
  }

  @Test func `wherever a byte is damaged, every list can be loaded and refreshed`() async throws {
    let log = try await Self.image()["cache.log"] ?? []
    var random = SeededGenerator(for: "PageCache damage")
    for _ in 0..<(60 * depth) {
      var bytes = log
      let offset = Int.random(in: 0..<bytes.count, using: &random)
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      try await check(bytes, "byte \(offset)")
    }
  }

  @Test func `damage under the eyes of two processes is set aside once, and both go on in one file`() async throws {
    let image = try await Self.image()
    let device = SimulatedDevice(image)
    let reports = Reports()
    let bench = Bench(Server((0..<9).map { Post(100 - $0) }), device: device) { options in
      options.onSetAside = { reports.add($0) }
    }
    let other = bench.again { options in options.onSetAside = { reports.add($0) } }
    let lists = [bench.list("a"), bench.list("a", in: other)]
    for list in lists { #expect(try await list.load(page: 2).source == .local) }
    var bytes = image["cache.log"] ?? []
    for index in bytes.indices.dropFirst(12_288) { bytes[index] = 0 }
    device.place(bytes, as: "cache.log")
    for list in lists { #expect(try await list.refresh().notStored == nil) }
    for list in lists { #expect(try list.contents().items.map(\.id) == [100, 99, 98]) }
    #expect(reports.all.count == 1)
    #expect(device.names.filter { $0.contains("damaged") } == ["cache.damaged-1"])
  }

  @Test func `where the damaged file cannot be set aside the network still answers`() async throws {
    let device = SimulatedDevice(DiskImage(["cache.log": [1, 2, 3]]))
    device.refuse(.rename, 30)
    let bench = Bench(Server(count: 9), device: device)
    let list = bench.list()
    for _ in 0..<2 {
      let answer = try await list.load()
      #expect(answer.source == .network && answer.notStored is StoreError)
    }
    #expect(throws: StoreError.self) { try list.contents() }
    device.failNoMore()
    #expect(try await list.load().notStored == nil)
    #expect(device.contents("cache.damaged-1") == [1, 2, 3])
    #expect(try await list.load().source == .local)
  }

  @Test func `documents of another kind give way`() async throws {
    struct Note: Codable, Identifiable, Sendable { var id: String }
    let device = SimulatedDevice()
    let notes = try DocumentStore.open(Bench.location(device)).collection("lists", of: Note.self)
    try notes.insert(Note(id: "mine"))
    let bench = Bench(Server(count: 9), device: device)
    #expect(try await bench.list().load().notStored == nil)
    #expect(try await bench.list().load().source == .local)
    #expect(try bench.list().contents().pages == [1])
    #expect(try notes.count() == 1)
  }

  @Test func `tables of another kind of store are set aside`() async throws {
    let device = SimulatedDevice()
    let schema = Schema([Schema.Table("documents/pages", keySpaces: [Schema.KeySpace("other", isUnique: true)])])
    let writer = try StoreWriter(Bench.location(device), schema: schema)
    _ = try writer.commit { _ in }
    writer.close()
    let reports = Reports()
    let bench = Bench(Server(count: 9), device: device) { options in options.onSetAside = { reports.add($0) } }
    #expect(try await bench.list().load().notStored == nil)
    #expect(try await bench.list().load().source == .local)
    #expect(reports.all.count == 1)
  }
}
