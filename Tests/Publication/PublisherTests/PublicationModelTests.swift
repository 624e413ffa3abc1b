import Catalog
import CatalogTestSupport
import Cryptography
import Essentials
import PublicationFormat
import PublicationSync
import RandomTestSupport
import Testing

@testable import Publisher

/// Short random series of everything that can happen to publishers, devices, keys, clocks and the places between them.
struct PublicationModelTests {
  @Test func `a device has the rows of a published head, never older than before, and says why it stays behind`()
    async throws
  {
    var first = RowGenerator("publication model")
    var counts = (syncs: 0, failures: 0, crashes: 0)
    for series in 0..<25 * depth {
      var rows = first
      rows.random = SeededGenerator(seed: first.random.next())
      let model = try PublicationModel(rows)
      do { try await model.run(steps: 8) } catch {
        Issue.record("\(error), series \(series), after \(model.log.joined(separator: "; "))")
      }
      if series % 200 == 199 { print("publication model: \(series + 1) series, \(counts)") }
      counts.syncs += model.counts.syncs
      counts.failures += model.counts.failures
      counts.crashes += model.counts.crashes
    }
    print("publication model: \(counts)")
    #expect(counts.syncs > 0 && counts.failures > 0 && counts.crashes > 0)
  }

  /// All files that the device knew are gone, the head has expired many times, and the key that it knows signs nothing.
  @Test(arguments: [0, -86_400, 86_400])
  func `a device that was off for a year follows keys that were replaced twice`(clockError: Double) async throws {
    let scene = try Scene()
    let root = scene.key
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    func advance(to days: Double) {
      let now = start.addingTimeInterval(days * 86_400)
      scene.options.now = { now }
    }
    advance(to: 0)
    try scene.source.full(
      (0..<30).map { Product("p\($0)", "690\($0)", name: "name \($0)") }, cursor: scene.nextCursor())
    try await scene.publish()
    let device = ModelDevice(
      "device", number: 50, rootKey: root.publicKey, mirrorCount: 0, forger: try SignifySecretKey.new("forger"))
    device.origin.set(scene.store.files, [], seed: 0)
    _ = try await device.sync(at: start, keepsObjects: false)
    let old = scene.store.files
    let keys = PublicationKeys(scene.store)
    for (index, day) in [100.0, 200].enumerated() {
      advance(to: day)
      let former = "\(scene.options.key.number)"
      scene.options.key = try SignifySecretKey.new("key \(index)")
      _ = try await keys.rotate(
        root: root, adding: scene.options.key.publicKey, retiring: [former], now: scene.options.now())
      for change in 0..<3 {
        try scene.source.increment([Product("p\(change)", name: "of day \(day)")], cursor: scene.nextCursor())
        try await scene.publish()
      }
    }
    advance(to: 366)
    // Only the head is renewed, and what it does not name goes.
    try await scene.publish()
    _ = try await scene.publisher.prune(after: 30 * 86_400, isDryRun: false)
    device.clockError = clockError
    device.origin.set(scene.store.files, [], seed: 0)
    let now = scene.options.now()
    let report = try await device.sync(at: now, keepsObjects: false)
    #expect(report.notes == [] && report.sequence == 7)
    let dump = try device.snapshot?.canonicalDump
    #expect(dump == scene.states[7]?.dump)
    // From now on the head of a year ago is an old copy.
    device.origin.set(old, [], seed: 0)
    await #expect(throws: PublicationFailure.self) { try await device.sync(at: now, keepsObjects: false) }
    let sequence = try device.sequence
    #expect(sequence == 7)
  }
}
