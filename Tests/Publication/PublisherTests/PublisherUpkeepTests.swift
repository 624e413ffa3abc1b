import Catalog
import CatalogTestSupport
import Cryptography
import Essentials
import ObjectStores
import PublicationFormat
import PublicationSync
import RandomTestSupport
import StoreTestSupport
import Testing
import Zstd

@testable import Publisher

/// Rolling back, removing what is old, and places that do not keep conditions.
struct PublisherUpkeepTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  /// A publication of some states, one a day.
  private func scene(_ states: Int, texts: Bool = false) async throws -> Scene {
    let scene = try Scene()
    scene.options.writesNDJSON = texts
    let products = (0..<50).map { Product("p\($0)", "690\($0)", name: "name \($0)") }
    try scene.source.full(products, [Relation("p1", "p2")], cursor: scene.nextCursor())
    for day in 0..<states {
      let now = start.addingTimeInterval(Double(day) * 86_400)
      scene.options.now = { now }
      if day > 0 {
        try scene.source.increment([Product("p\(day)", "1\(day)", name: "new \(day)")], cursor: scene.nextCursor())
      }
      try await scene.publish()
    }
    return scene
  }

  @Test func `the rows of each state that is kept can be published again as a new one`() async throws {
    let scene = try await scene(5)
    let follower = Follower(scene)
    _ = try await follower.sync()
    for (number, state) in [2, 5, 1, 6].enumerated() as EnumeratedSequence<[UInt64]> {
      let snapshot = try scene.publisher.snapshot(ofState: state)
      let report = try await scene.publisher.publish(snapshot)
      let sequence = UInt64(6 + number)
      #expect(report.isPublished && report.sequence == sequence)
      let synced = try await follower.sync()
      #expect(synced.sequence == sequence)
      let dump = try follower.snapshot?.canonicalDump
      // State 6 has the rows of state 2.
      #expect(dump == scene.states[state == 6 ? 2 : state]?.dump)
    }
    // The source has the newest rows still.
    _ = try await scene.publisher.publish(scene.source.snapshot)
    _ = try await follower.sync()
    let dump = try follower.snapshot?.canonicalDump
    #expect(dump == scene.states[5]?.dump)
  }

  @Test func `a state that is not kept is refused with those that are`() async throws {
    let scene = try await scene(3)
    #expect(
      throws: PublisherError.invalid("the rows of the state 9 are not kept; these states are: 1, 2, 3")
    ) { try scene.publisher.snapshot(ofState: 9) }
    let empty = try Scene()
    #expect(throws: PublisherError.invalid("nothing was published to memory yet")) {
      try empty.publisher.snapshot(ofState: 1)
    }
  }

  @Test func `a publisher without its directory goes on from what was published`() async throws {
    let scene = try await scene(5)
    let follower = Follower(scene)
    _ = try await follower.sync()
    let first = scene.device
    scene.device = SimulatedDevice()
    try scene.source.increment([Product("p9", "19", name: "after the loss")], cursor: scene.nextCursor())
    await #expect(throws: PublisherError.self) { try await scene.publisher.publish(scene.source.snapshot) }
    let head = try #require(try await scene.publisher.takeOver())
    #expect(try head == scene.head)
    let report = try await scene.publish()
    #expect(report.sequence == 6 && report.baseByteCount == nil && report.deltas.map(\.to) == [6, 6])
    let synced = try await follower.sync()
    #expect(synced.sequence == 6 && synced.mode == .delta)
    let dump = try follower.snapshot?.canonicalDump
    #expect(dump == scene.states[6]?.dump)
    // It is its own now.
    #expect(try await scene.publisher.takeOver() == nil)
    // The first one comes back: it is stopped, and can take over in its turn.
    scene.device = first
    try scene.source.increment([Product("p8", "18", name: "once more")], cursor: scene.nextCursor())
    await #expect(throws: PublisherError.self) { try await scene.publisher.publish(scene.source.snapshot) }
    #expect(try await scene.publisher.takeOver()?.sequence == 6)
    try await scene.publish()
    #expect(try await follower.sync().sequence == 7)
    #expect(try follower.snapshot?.canonicalDump == scene.states[7]?.dump)
  }

  @Test func `a publisher takes over an older copy of what it published, and devices are told apart from it`()
    async throws
  {
    let scene = try await scene(2)
    let copy = scene.store.names.reduce(into: [:]) { $0[$1] = scene.store.bytes($1) }
    try scene.source.increment([Product("p7", "17", name: "lost")], cursor: scene.nextCursor())
    try await scene.publish()
    let follower = Follower(scene)
    #expect(try await follower.sync().sequence == 3)
    // The files are put back from a backup.
    for name in scene.store.names where copy[name] == nil { try await scene.store.delete(name) }
    for (name, bytes) in copy {
      _ = try await scene.store.put(name, bytes, .none, ObjectType(mediaType: "", cacheControl: ""))
    }
    try scene.source.increment([Product("p7", "17", name: "other")], cursor: scene.nextCursor())
    await #expect(throws: PublisherError.self) { try await scene.publisher.publish(scene.source.snapshot) }
    #expect(try await scene.publisher.takeOver()?.sequence == 2)
    try await scene.publish()
    #expect(try scene.head.sequence == 3)
    // The number of the state is the one that the device has, and its rows are others.
    let synced = try await follower.sync()
    #expect(synced.sequence == 3 && synced.mode == .base)
    #expect(try follower.snapshot?.canonicalDump == scene.states[3]?.dump)
    #expect(try await follower.sync().mode == .unchanged)
  }

  @Test func `rings do not matter to who takes over`() async throws {
    let scene = try await scene(3)
    scene.options.rings = [.init(percent: 1, sequence: 3), .init(percent: 100, sequence: 2)]
    _ = try await scene.publisher.setRings()
    scene.options.rings = nil
    scene.device = SimulatedDevice()
    #expect(try await scene.publisher.takeOver()?.sequence == 3)
    try scene.source.increment([Product("p9", "19", name: "new")], cursor: scene.nextCursor())
    try await scene.publish()
    #expect(try scene.head.rings.map(\.sequence) == [3, 2])
    let follower = Follower(scene, number: 0.5)
    #expect(try await follower.sync().sequence == 3)
  }

  @Test func `only who has a key of the publication takes it over`() async throws {
    let scene = try await scene(1)
    scene.device = SimulatedDevice()
    scene.options.key = try SignifySecretKey.new("other")
    await #expect(throws: PublisherError.self) { try await scene.publisher.takeOver() }
    let empty = try Scene()
    await #expect(
      throws: PublisherError.invalid("nothing was published to memory yet, so there is nothing to take over")
    ) { try await empty.publisher.takeOver() }
  }

  @Test func `pruning removes what no head has named for so many days`() async throws {
    let scene = try await scene(12, texts: true)
    let before = Set(scene.store.names)
    let dry = try await scene.publisher.prune(after: 5 * 86_400, isDryRun: true)
    #expect(dry.isDryRun && !dry.names.isEmpty)
    #expect(Set(scene.store.names) == before)
    let needed = Set(Publisher.objects(of: try scene.head))
    #expect(needed.isDisjoint(with: dry.names))
    #expect(dry.names.filter { $0.hasPrefix("ndjson/") }.count == 6)
    let bytes = dry.names.compactMap { scene.store.bytes($0)?.count }.reduce(0, +)
    #expect(dry.byteCount == bytes)
    let wet = try await scene.publisher.prune(after: 5 * 86_400, isDryRun: false)
    #expect(wet.names == dry.names)
    #expect(Set(scene.store.names) == before.subtracting(dry.names))
    let again = try await scene.publisher.prune(after: 5 * 86_400, isDryRun: false)
    #expect(again.names == [])
    // However old: what the head names stays, and devices old and new follow.
    let end = start.addingTimeInterval(400 * 86_400)
    scene.options.now = { end }
    _ = try await scene.publisher.prune(after: 0, isDryRun: false)
    #expect(needed.isSubset(of: scene.store.names))
    let follower = Follower(scene)
    _ = try await follower.sync()
    try follower.check(scene)
    // Publishing goes on.
    try scene.source.increment([Product("z")], cursor: scene.nextCursor())
    try await scene.publish()
    _ = try await follower.sync()
    try follower.check(scene)
  }

  @Test func `an object that a head named until a moment ago is not old`() async throws {
    let scene = try await scene(1)
    let base = try scene.head.state.base.name
    // The head of the first day counts for a month; the next one has another base.
    let later = start.addingTimeInterval(30 * 86_400)
    scene.options.now = { later }
    try scene.source.full((0..<600).map { Product("q\($0 * 7919)", "5\($0 * 104_729)") }, cursor: scene.nextCursor())
    try await scene.publish()
    #expect(try scene.head.state.base.name != base)
    let report = try await scene.publisher.prune(after: 86_400, isDryRun: true)
    #expect(!report.names.contains(base))
  }

  @Test func `a deletion that takes no effect is an error, and nothing is forgotten`() async throws {
    let scene = try await scene(12)
    let names = try await scene.publisher.prune(after: 86_400, isDryRun: true).names
    let stuck = try #require(names.dropFirst().first)
    scene.store.refuseToDelete([stuck])
    await #expect(throws: PublisherError.self) { try await scene.publisher.prune(after: 86_400, isDryRun: false) }
    scene.store.refuseToDelete([])
    let rest = try await scene.publisher.prune(after: 86_400, isDryRun: false)
    #expect(rest.names == Array(names.dropFirst()))
    #expect(Set(scene.store.names).isDisjoint(with: names))
  }

  @Test func `the rows as NDJSON are one frame with a line for each row`() async throws {
    let scene = try await scene(2, texts: true)
    let packed = try #require(scene.store.bytes("ndjson/2.ndjson.zst"))
    var inflater = try ZstdInflater()
    var text: [UInt8] = []
    var more = try inflater.unpack(packed, into: &text)
    while more { more = try inflater.unpack([], into: &text) }
    let isWhole = inflater.isAtEndOfFrame
    #expect(isWhole)
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let snapshot = try scene.source.snapshot
    #expect(lines.count == snapshot.productCount + snapshot.relationCount)
    #expect(lines.allSatisfy { $0.hasPrefix("{\"type\":\"") && $0.hasSuffix("}") })
    // A state that was published without it gets it later.
    scene.store.set("ndjson/2.ndjson.zst", nil)
    let other = try await self.scene(2)
    other.options.writesNDJSON = true
    let report = try await other.publish()
    #expect(!report.isPublished && report.objects == 1)
    #expect(other.store.bytes("ndjson/2.ndjson.zst")?.count == report.bytesOut)
  }

  // MARK: Conditions

  /// A store that does not keep conditions, and counts how often it was tried.
  private struct Careless: ObjectStore {
    let store: MemoryStore
    let conditions: ConditionalWrites
    let probes = Counter()

    var description: String { "careless" }
    func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject? {
      try await store.get(name, limit: limit)
    }
    func put(
      _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
    ) async throws(ObjectStoreError) -> PutResult {
      if condition != .none, conditions == .refused {
        throw .conditionRefused(store: description, name: name, answer: S3Refusal(status: 501))
      }
      return try await store.put(name, bytes, .none, type)
    }
    func delete(_ name: String) async throws(ObjectStoreError) { try await store.delete(name) }
    func exists(_ name: String) async throws(ObjectStoreError) -> Bool { try await store.exists(name) }
    func probeConditions() async throws(ObjectStoreError) -> ConditionalWrites {
      _ = probes.next()
      return conditions
    }
  }

  @Test(arguments: [ConditionalWrites.refused, .ignored])
  func `a place without conditions needs the word that there is one publisher`(
    conditions: ConditionalWrites
  ) async throws {
    let scene = try Scene()
    try scene.source.full([Product("a", "1")], cursor: scene.nextCursor())
    let careless = Careless(store: scene.store, conditions: conditions)
    let location = Scene.location(scene.device)
    do {
      _ = try await Publisher.checkedStore(careless, from: location, isSinglePublisher: false)
      Issue.record("not refused")
    } catch PublisherError.unconditional(let text) { #expect(text.contains("--single-publisher")) }
    for name in ["b", "c", "d"] {
      let store = try await Publisher.checkedStore(careless, from: location, isSinglePublisher: true)
      _ = try await Publisher(location, to: store, scene.options).publish(scene.source.snapshot)
      try scene.source.increment([Product(name)], cursor: scene.nextCursor())
    }
    // It was tried once, and the answer is kept.
    #expect(careless.probes.value == 1)
    let follower = Follower(scene)
    let report = try await follower.sync()
    #expect(report.sequence == 3)
    // Another publisher, who was there before, is seen all the same.
    let second = Publisher(
      Scene.location(SimulatedDevice()), to: UnconditionalStore(careless), scene.options)
    await #expect(throws: PublisherError.self) { try await second.publish(scene.source.snapshot) }
  }
}
