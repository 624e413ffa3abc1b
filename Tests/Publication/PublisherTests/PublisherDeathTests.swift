import Catalog
import CatalogTestSupport
import Essentials
import ObjectStores
import PublicationFormat
import PublicationSync
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import Publisher

/// A publisher that is killed at each of its steps.
struct PublisherDeathTests {
  /// What is published when the publisher is killed.
  enum Work: CaseIterable {
    case first, delta, base, renewal, rings

    /// Does everything before, and prepares the source for the publication that is killed.
    func prepare(_ scene: Scene) async throws {
      let products = (0..<30).map { Product("p\($0)", "690\($0)", name: "name \($0)") }
      try scene.source.full(products, [Relation("p1", "p2")], cursor: scene.nextCursor())
      if self == .first { return }
      try await scene.publish()
      try scene.source.increment([Product("p3", "690", name: "new")], cursor: scene.nextCursor())
      try await scene.publish()
      let now = Date(timeIntervalSinceNow: 20 * 86_400)
      switch self {
      case .delta: try scene.source.increment([Product("p4", "691", name: "new")], cursor: scene.nextCursor())
      case .base:
        let products = (0..<400).map { Product("q\($0)", "69\($0 * 7919)", name: "other \($0 * 104_729)") }
        try scene.source.full(products, cursor: scene.nextCursor())
      case .renewal: scene.options.now = { now }
      case .rings: scene.options.rings = [PublicationHead.Ring(percent: 100, sequence: 2)]
      case .first: break
      }
    }
  }

  @Test(arguments: Work.allCases)
  func `a publisher that dies at an object is completed by the next one`(work: Work) async throws {
    var wasCompleted = false
    var number = 0
    while !wasCompleted {
      number += 1
      for death in [MemoryStore.Death.before(number), .after(number)] {
        let scene = try Scene()
        try await work.prepare(scene)
        let follower = Follower(scene)
        let former = scene.store.bytes(PublicationHead.name)
        if former != nil { _ = try await follower.sync() }
        let next = try former.map { try PublicationHead(json: $0).sequence } ?? 0
        try scene.note(work == .delta || work == .base || work == .first ? next + 1 : next)
        scene.store.die(death)
        do {
          try await scene.publish()
          wasCompleted = true
        } catch let error as ObjectStoreError {
          #expect(error == MemoryStore.death)
        }
        try await check(scene, follower, "\(work), \(death)")
      }
    }
    #expect(number > 5)
  }

  @Test(arguments: Work.allCases)
  func `a publisher that dies at a local step is completed by the next one`(work: Work) async throws {
    var random = SeededGenerator(for: "local death \(work)")
    let whole = try Scene()
    try await work.prepare(whole)
    let before = whole.device.operations
    try await whole.publish()
    let count = whole.device.operations - before
    #expect(count > 4)
    for number in 0..<count where number.isMultiple(of: 1 + count / (25 * depth)) {
      let scene = try Scene()
      try await work.prepare(scene)
      let follower = Follower(scene)
      let former = scene.store.bytes(PublicationHead.name)
      if former != nil { _ = try await follower.sync() }
      let next = try former.map { try PublicationHead(json: $0).sequence } ?? 0
      try scene.note(work == .delta || work == .base || work == .first ? next + 1 : next)
      scene.device.stop(after: scene.device.operations + number)
      do {
        try await scene.publish()
        Issue.record("the publisher lives, \(work), step \(number)")
      } catch {}
      scene.device = scene.device.crashed(.random(&random), &random)
      try await check(scene, follower, "\(work), step \(number) of \(count)")
    }
  }

  /// A device sees one state or the other; the next run of the publisher completes; then all have the newest one.
  private func check(_ scene: Scene, _ follower: Follower, _ comment: Comment) async throws {
    scene.store.live()
    if scene.store.bytes(PublicationHead.name) != nil {
      let report = try await follower.sync()
      #expect(report.notes == [], comment)
      try follower.check(scene, comment)
    }
    _ = try await scene.publisher.publish(scene.source.snapshot)
    let again = try await scene.publisher.publish(scene.source.snapshot)
    #expect(!again.isPublished, comment)
    let head = try scene.head
    let digest = try CatalogDigest(scene.source.snapshot).description
    #expect(head.state.digest == digest, comment)
    for device in [follower, Follower(scene)] {
      let report = try await device.sync()
      #expect(report.notes == [] && report.sequence == head.sequence, comment)
      try device.check(scene, comment)
    }
  }
}
