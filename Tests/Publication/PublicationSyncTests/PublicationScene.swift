import Catalog
import CatalogRows
import CatalogSync
import Cryptography
import LogStore
import PublicationFormat
import PublicationSync
import Publisher
import StoreTestSupport

/// A source, its publisher, and devices.
final class PublicationScene: Sendable {
  let directory: TemporaryDirectory
  let place = TestPlace()
  let key: SignifySecretKey

  init(key: SignifySecretKey? = nil) throws {
    directory = try TemporaryDirectory()
    self.key = try key ?? SignifySecretKey.new("test")
  }

  /// A publication of products.
  static func publishing(_ count: Int, key: SignifySecretKey? = nil) async throws -> PublicationScene {
    let scene = try PublicationScene(key: key)
    try scene.change((0..<count).map { ($0, name($0)) })
    try await scene.publish()
    return scene
  }

  func location(_ name: String) throws -> StoreLocation {
    try StoreLocation.creating(directory.path + "/" + name, name: "catalogue")
  }

  /// Changes products of the source: adds those with a name, deletes the others.
  func change(_ products: [(id: Int, name: String?)]) throws {
    let writer = try CatalogWriter(location("source"))
    defer { writer.close() }
    let sequence = try writer.snapshot().sequence
    if sequence == 0 {
      var update = try writer.beginFullUpdate()
      for product in products { try update.product(Self.row(product)) }
      _ = try update.commit(cursor: "1")
      return
    }
    var increment = writer.beginIncrement()
    for product in products { try increment.product(Self.row(product)) }
    _ = try increment.commit(cursor: "\(sequence + 1)")
  }

  static func row(_ product: (id: Int, name: String?)) -> ProductRow {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "p\(product.id)")
    row.texts.set(ProductText.barcode.rawValue, code(product.id))
    row.texts.set(ProductText.name.rawValue, product.name ?? "")
    row.delFlag = product.name == nil ? 1 : 0
    return row
  }

  /// A name that does not compress.
  static func name(_ id: Int) -> String {
    (1...3).map { String(UInt64(id * $0 + 1) &* 0x9E37_79B9_7F4A_7C15, radix: 36) }.joined(separator: " ")
  }

  static func code(_ id: Int) -> String { "4000\(1_000_000 + id)" }

  func source() throws -> CatalogSnapshot { try CatalogReader.open(location("source"))?.snapshot() ?? .empty }
  func digest() throws -> String { try CatalogDigest(source()).description }

  @discardableResult
  func publish(
    _ key: SignifySecretKey? = nil, _ configure: (inout PublisherOptions) -> Void = { _ in }
  ) async throws -> PublishReport {
    var options = PublisherOptions(key: key ?? self.key, publisher: "publisher")
    options.level = 3
    configure(&options)
    return try await Publisher(location("publisher"), to: place, options).publish(source())
  }

  func device(
    _ name: String = "device", mirrors: [TestPlace] = [], rootKey: SignifyPublicKey? = nil, number: Double = 50
  ) throws -> TestDevice {
    let location = try location(name)
    let client = PublicationClient(
      origin: place, mirrors: mirrors, cache: PublicationCache(of: location), rootKey: rootKey ?? key.publicKey,
      deviceNumber: number)
    return TestDevice(location: location, sync: PublicationSync(client))
  }
}

struct TestDevice {
  var location: StoreLocation
  var sync: PublicationSync

  @discardableResult
  func run() async throws -> PublicationReport { try await sync.run(SyncDestination(location)) }

  func snapshot() throws -> CatalogSnapshot { try CatalogReader.open(location)?.snapshot() ?? .empty }
  func digest() throws -> String { try CatalogDigest(snapshot()).description }
}
