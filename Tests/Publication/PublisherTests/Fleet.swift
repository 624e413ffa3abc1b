import Barcodes
import Catalog
import CatalogRows
import CatalogSync
import CatalogTestSupport
import Cryptography
import Essentials
import LogStore
import PublicationFormat
import PublicationSync
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import Publisher

/// A publisher in memory, with a source and a place for its files.
final class Scene {
  let source: TestCatalogue
  var device = SimulatedDevice()
  let store = MemoryStore()
  let key: SignifySecretKey
  var options: PublisherOptions
  private var cursor = 0
  /// The rows of each state, as they were published.
  private(set) var states: [UInt64: (dump: [UInt8], digest: String)] = [:]

  init() throws {
    source = try TestCatalogue()
    key = try SignifySecretKey.new("test")
    options = PublisherOptions(key: key, publisher: "the test")
    options.level = 1
    options.dictionaryByteCount = 1 << 10
  }

  static func location(_ device: SimulatedDevice) -> StoreLocation {
    StoreLocation.test(device.directory, name: "published", environment: FixedEnvironment().environment())
  }

  var publisher: Publisher { Publisher(Self.location(device), to: store, options) }

  /// The head, as devices see it.
  var head: PublicationHead { get throws { try PublicationHead(json: store.bytes(PublicationHead.name) ?? []) } }

  /// Publishes the source, and notes its rows.
  @discardableResult
  func publish() async throws -> PublishReport {
    let report = try await publisher.publish(source.snapshot)
    try note(report.sequence)
    return report
  }

  /// Notes that the source is, or is about to become, a state.
  func note(_ sequence: UInt64) throws { try note(sequence, source.snapshot) }

  /// Notes that a state has these rows.
  func note(_ sequence: UInt64, _ snapshot: CatalogSnapshot) throws {
    states[sequence] = (try snapshot.canonicalDump, try CatalogDigest(snapshot).description)
  }

  /// Notes that a state has the rows of an earlier one.
  func note(_ sequence: UInt64, as earlier: UInt64) { states[sequence] = states[earlier] }

  func nextCursor() -> String {
    cursor += 1
    return "cursor \(cursor)"
  }

  /// Changes the source in one of many ways.
  func change(_ rows: inout RowGenerator, size: Int = 40) throws {
    func id() -> String { "p\(Int.random(in: 0..<size, using: &rows.random))" }
    func product() -> Product {
      var product = Product(id(), rows.pick(["", "69012\(id())", "45 \(id())"]), name: rows.pick(["", "tea", "格力 😀"]))
      product.delFlag = rows.chance(15) ? 1 : 0
      if rows.chance(20) { product.extra = rows.extra() }
      return product
    }
    func relation() -> Relation {
      Relation(id(), id(), Int64.random(in: 1..<9, using: &rows.random), id: rows.pick(["", "r"]))
    }
    func code() -> ProductCode { ProductCode(id(), "c\(id())", kind: rows.pick(["", "box"])) }
    func several<Row>(_ row: () -> Row, upTo limit: Int) -> [Row] {
      (0..<Int.random(in: 0...limit, using: &rows.random)).map { _ in row() }
    }
    switch Int.random(in: 0..<10, using: &rows.random) {
    case 0:
      try source.increment([], cursor: nextCursor())
    case 1:
      try source.full(
        several(product, upTo: size), several(relation, upTo: size / 2), codes: several(code, upTo: size / 4),
        cursor: nextCursor())
    case 2, 3:
      try source.increment(
        several(product, upTo: 5), several(relation, upTo: 3), codes: several(code, upTo: 3), cursor: nextCursor())
    default:
      try source.increment(several(product, upTo: 4), several(relation, upTo: 2), cursor: nextCursor())
    }
  }
}

/// A device that follows a publication.
final class Follower {
  let device = SimulatedDevice()
  let origin: MemoryOrigin
  let location: StoreLocation
  private let rootKey: SignifyPublicKey
  var number: Double

  init(_ scene: Scene, number: Double = 50) {
    origin = MemoryOrigin(scene.store)
    location = StoreLocation.test(device.directory, name: "catalog", environment: FixedEnvironment().environment())
    rootKey = scene.key.publicKey
    self.number = number
  }

  func sync() async throws -> PublicationReport {
    let client = PublicationClient(
      origin: origin, cache: PublicationCache(of: location), rootKey: rootKey, deviceNumber: number)
    let location = location
    var sync = PublicationSync(client)
    sync.lossLimit = .open
    return try await sync.run(SyncDestination(location) { try CatalogWriter(location, indexes: .none) })
  }

  var snapshot: CatalogSnapshot? { get throws { try CatalogReader.open(location)?.snapshot() } }

  /// Checks that the device has exactly the rows of the state that it says it has.
  func check(_ scene: Scene, _ comment: Comment? = nil) throws {
    guard let snapshot = try snapshot, let sequence = snapshot.publication?.sequence else {
      Issue.record("the device has no state")
      return
    }
    guard let state = scene.states[sequence] else {
      Issue.record("the device has the state \(sequence), which was never published")
      return
    }
    let digest = try CatalogDigest(snapshot).description
    #expect(digest == state.digest, comment)
    let dump = try snapshot.canonicalDump
    #expect(dump == state.dump, comment)
  }
}
