import Catalog
import CatalogTestSupport
import Essentials
import ObjectStores
import PublicationFormat
import PublicationSync
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Publisher

struct PublisherTests {
  @Test(arguments: 0..<6) func `devices have the rows of the head after each synchronisation`(run: Int) async throws {
    var rows = RowGenerator("devices follow", run: run)
    let scene = try Scene()
    let followers = (0..<4).map { _ in Follower(scene) }
    let size = [4, 40, 400][run % 3]
    for _ in 0..<30 * depth {
      for _ in 0..<Int.random(in: 1...3, using: &rows.random) { try scene.change(&rows, size: size) }
      let report = try await scene.publish()
      let head = try scene.head
      #expect(report.isPublished && head.sequence == report.sequence)
      let digest = try CatalogDigest(scene.source.snapshot).description
      #expect(head.state.digest == digest)
      for (index, follower) in followers.enumerated()
      where Int.random(in: 0...(index * index * 4), using: &rows.random) == 0 {
        let before = try follower.snapshot?.publication?.sequence
        let synced = try await follower.sync()
        #expect(synced.notes == [])
        #expect(synced.sequence == head.sequence)
        if let before { #expect(before <= synced.sequence) }
        try follower.check(scene)
      }
    }
    // A device that was never there before.
    let last = Follower(scene)
    _ = try await last.sync()
    try last.check(scene)
    let again = try await last.sync()
    #expect(again.mode == .unchanged)
  }

  @Test func `without changes nothing is written until the expiry is half over`() async throws {
    let scene = try Scene()
    try scene.source.full([Product("a", "1")], cursor: scene.nextCursor())
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    scene.options.now = { start }
    try await scene.publish()
    let names = scene.store.names
    let head = scene.store.bytes(PublicationHead.name)
    let quiet = try await scene.publish()
    #expect(!quiet.isPublished && quiet.objects == 0 && quiet.bytesOut == 0)
    #expect(scene.store.bytes(PublicationHead.name) == head)
    scene.options.now = { start.addingTimeInterval(15 * 86_400) }
    let renewal = try await scene.publish()
    #expect(renewal.isPublished && renewal.objects == 2 && renewal.sequence == 1)
    #expect(scene.store.names == names)
    var (old, new) = (try PublicationHead(json: head ?? []), try scene.head)
    #expect(new.expires == start.addingTimeInterval(45 * 86_400))
    (old.published, old.expires) = (new.published, new.expires)
    #expect(old == new)
    new.state.sequence = 0
  }

  @Test func `a device that missed many publications fetches few deltas`() async throws {
    let scene = try Scene()
    var random = SeededGenerator(for: "few deltas")
    // Names that zstd cannot make much smaller, so that the base is large.
    var products = (0..<800).map { Product("p\($0)", "690\($0)", name: random.name(100)) }
    try scene.source.full(products, cursor: scene.nextCursor())
    try await scene.publish()
    var waiting: [UInt64: Follower] = [:]
    for _ in 0..<120 {
      let index = Int.random(in: 0..<products.count, using: &random)
      products[index].name += "x"
      try scene.source.increment([products[index]], cursor: scene.nextCursor())
      let report = try await scene.publish()
      if [2, 3, 20, 21, 60, 100].contains(report.sequence) {
        let follower = Follower(scene)
        _ = try await follower.sync()
        try follower.check(scene)
        waiting[report.sequence] = follower
      }
    }
    let newest = try scene.head.sequence
    #expect(newest == 121)
    for (sequence, follower) in waiting.sorted(by: { $0.key < $1.key }) {
      _ = follower.origin.takeNames()
      let report = try await follower.sync()
      try follower.check(scene)
      let deltas = follower.origin.takeNames().count { $0.hasSuffix(".delta") }
      let missed = Double(newest - sequence)
      #expect(Double(deltas) <= 2 * missed.logarithm + 2, "\(deltas) deltas for \(missed), \(report.mode)")
      #expect(report.mode == .delta)
    }
  }

  @Test func `a second publisher is stopped, and told who the first one is`() async throws {
    let scene = try Scene()
    try scene.source.full([Product("a", "1")], cursor: scene.nextCursor())
    scene.options.publisher = "alpha, process 1"
    try await scene.publish()
    // Another state directory, and the same place.
    var options = scene.options
    options.publisher = "beta, process 2"
    let stranger = Publisher(Scene.location(SimulatedDevice()), to: scene.store, options)
    let refusal = try await otherPublisher(stranger, scene.source.snapshot)
    #expect(refusal?.contains("alpha, process 1") == true)
    // A copy of the state directory, as a restored backup has it.
    let copy = Publisher(Scene.location(SimulatedDevice(scene.device.image)), to: scene.store, options)
    try scene.source.increment([Product("b", "2")], cursor: scene.nextCursor())
    try await scene.publish()
    let head = scene.store.bytes(PublicationHead.name)
    let second = try await otherPublisher(copy, scene.source.snapshot)
    #expect(second?.contains("alpha, process 1 has published the state 2") == true)
    #expect(scene.store.bytes(PublicationHead.name) == head)
  }

  /// The words of a publisher that is stopped by another one; `nil` if it is not.
  private func otherPublisher(_ publisher: Publisher, _ source: CatalogSnapshot) async throws -> String? {
    do {
      _ = try await publisher.publish(source)
      return nil
    } catch PublisherError.otherPublisher(let text) { return text }
  }

  /// The first publisher publishes between two writes of the second one.
  @Test func `two publishers at once never mix their states`() async throws {
    for write in 1...6 {
      let scene = try Scene()
      try scene.source.full([Product("a", "1")], cursor: scene.nextCursor())
      scene.options.publisher = "alpha"
      try await scene.publish()
      let follower = Follower(scene)
      _ = try await follower.sync()
      var options = scene.options
      options.publisher = "beta"
      let other = Publisher(Scene.location(SimulatedDevice(scene.device.image)), to: scene.store, options)
      // The first one starts, and the second one, with other rows, is faster.
      let rows = try TestCatalogue([Product("a", "1"), Product("beta", "9")])
      let second = try rows.snapshot
      let count = Counter()
      let store = scene.store
      store.afterWrites { _ in
        guard count.next() == write else { return }
        store.afterWrites(nil)
        // It may lose too.
        _ = try? await other.publish(second)
      }
      try scene.source.increment([Product("alpha", "2")], cursor: scene.nextCursor())
      do {
        try await scene.publish()
      } catch let error as PublisherError {
        guard case .otherPublisher(let text) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(text.contains("beta"), "\(text)")
      }
      store.afterWrites(nil)
      let wasSecond = count.value >= write
      _ = try await follower.sync()
      let dump = try follower.snapshot?.canonicalDump
      let candidates = [try scene.source.snapshot.canonicalDump, try second.canonicalDump]
      #expect(dump.map(candidates.contains) == true, "write \(write), \(wasSecond)")
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func name(_ count: Int) -> String {
    String(decoding: bytes(count).map { 0x41 + $0 % 26 }, as: UTF8.self)
  }
}

extension Double {
  /// The logarithm to base 2.
  fileprivate var logarithm: Double { self <= 1 ? 0 : Double(Int(exactly: self.rounded(.up))!.bitWidthUsed) }
}

extension Int {
  fileprivate var bitWidthUsed: Int { Int.bitWidth - (self - 1).leadingZeroBitCount }
}
