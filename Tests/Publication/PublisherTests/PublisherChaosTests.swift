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

/// Random series of everything that a publisher can do, with devices in all rings that come and go.
struct PublisherChaosTests {
  @Test(arguments: 0..<5) func `devices have the rows of a state of their ring, whatever is done`(run: Int) async throws
  {
    var rows = RowGenerator("publisher chaos", run: run)
    let scene = try Scene()
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var followers: [Follower] = []
    try scene.change(&rows)
    try await scene.publish()
    for step in 0..<50 * depth {
      now.addTimeInterval(Double.random(in: 60...200_000, using: &rows.random))
      let time = now
      scene.options.now = { time }
      let head = try scene.head
      switch Int.random(in: 0..<12, using: &rows.random) {
      case 0:
        // The newest state, or one that rings have already, for each of one to four rings.
        let states = Array(Set([head.sequence] + head.rings.map(\.sequence)))
        let count = Int.random(in: 1...4, using: &rows.random)
        scene.options.rings = (1...count).map {
          PublicationHead.Ring(percent: Double(100 * $0) / Double(count), sequence: rows.pick(states))
        }
        _ = try await scene.publisher.setRings()
        scene.options.rings = nil
      case 1:
        let state = UInt64.random(in: 1...head.sequence, using: &rows.random)
        guard let snapshot = try? scene.publisher.snapshot(ofState: state) else { continue }
        let report = try await scene.publisher.publish(snapshot)
        if report.sequence > head.sequence { scene.note(report.sequence, as: state) }
      case 2:
        let days = Double.random(in: 0...20, using: &rows.random)
        _ = try await scene.publisher.prune(after: days * 86_400, isDryRun: false)
      case 3:
        // Killed somewhere.
        try scene.change(&rows)
        try scene.note(head.sequence + 1)
        scene.store.die(.before(Int.random(in: 1...12, using: &rows.random)))
        _ = try? await scene.publisher.publish(scene.source.snapshot)
        scene.store.live()
        if try scene.head.sequence == head.sequence { try await scene.publish() }
      default:
        for _ in 0..<Int.random(in: 1...3, using: &rows.random) { try scene.change(&rows) }
        try await scene.publish()
      }
      let bytes = scene.store.bytes(PublicationHead.name)?.count ?? 0
      #expect(bytes <= PublicationHead.byteLimit)
      if followers.count < 6 || rows.chance(10) {
        followers.append(Follower(scene, number: Double.random(in: 0..<100, using: &rows.random)))
        if followers.count > 6 { followers.removeFirst() }
      }
      let current = try scene.head
      for follower in followers where rows.chance(40) {
        let before = try follower.snapshot?.publication?.sequence ?? 0
        let report = try await follower.sync()
        #expect(report.notes == [], "step \(step)")
        // A ring may have an older state than the device; it stays with its own then.
        let wanted = max(before, current.state(ofDevice: follower.number).sequence)
        #expect(report.sequence == wanted, "step \(step)")
        try follower.check(scene, "step \(step)")
      }
    }
  }
}
