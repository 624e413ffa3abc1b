import BenchmarkSupport
import Catalog
import CatalogRows
import LogStore

/// Ours, through its public interface; in clear or sealed.
final class ShelfmarkPeer: Peer {
  private let isSealed: Bool

  init(isSealed: Bool) { self.isSealed = isSealed }

  var name: String { isSealed ? "Shelfmark, sealed" : Figures.ours }
  var store: String { isSealed ? "sealed" : "shelfmark" }
  var configuration: String {
    if isSealed { return "the same, and everything encrypted" }
    return "the public interface: a snapshot for a session, withProduct(barcode:) and withProduct(id:), "
      + "forEachRelation(ofSet:), forEachProduct(barcodes:), product(id:); FullUpdate and Increment"
  }

  func fill(_ directory: String, _ source: any CatalogueSource) throws {
    let writer = try BenchmarkStore(at: directory, isSealed: isSealed).writer()
    defer { writer.close() }
    _ = try BenchmarkStore.fill(writer, source)
  }

  func open(_ directory: String, forUpdates: Bool) throws -> any OpenPeer {
    let store = BenchmarkStore(at: directory, isSealed: isSealed)
    return forUpdates ? OpenShelfmark(writer: try store.writer()) : OpenShelfmark(reader: try store.reader())
  }
}

private final class OpenShelfmark: OpenPeer {
  private let reader: CatalogReader?
  private let writer: CatalogWriter?
  private var updateCount = 0

  init(reader: CatalogReader) {
    self.reader = reader
    writer = nil
  }

  init(writer: CatalogWriter) {
    self.writer = writer
    reader = nil
  }

  func session() throws -> any PeerSession {
    guard let snapshot = try reader?.snapshot() ?? writer?.snapshot() else { throw WrongAnswer("nothing is open") }
    return ShelfmarkSession(snapshot)
  }

  func update(_ rows: IncrementPlan.Rows) throws {
    guard let writer else { throw WrongAnswer("opened for reading") }
    var increment = writer.beginIncrement()
    for row in rows.products { try increment.product(row) }
    for row in rows.relations { try increment.relation(row) }
    updateCount += 1
    _ = try increment.commit(cursor: "increment \(updateCount)")
  }

  var compaction: (@Sendable () throws -> Void)? {
    guard let writer else { return nil }
    // The caller waits for the end before it uses the writer again.
    nonisolated(unsafe) let theWriter = writer
    return { _ = try unsafe theWriter.compact() }
  }

  func close() { writer?.close() }
}

private final class ShelfmarkSession: PeerSession {
  private let snapshot: CatalogSnapshot

  init(_ snapshot: CatalogSnapshot) { self.snapshot = snapshot }

  func has(_ operation: Operation) -> Bool { true }

  func run(_ operation: Operation, _ keys: KeySet, _ range: Range<Int>) throws -> UInt64 {
    switch operation {
    case .hit, .miss: try LookupLoops.byBarcode(snapshot, keys.bytes, range)
    case .dependent: try LookupLoops.byBarcodeDependent(snapshot, keys.bytes, range)
    case .byId: try LookupLoops.byId(snapshot, keys.bytes, range)
    case .relations: try LookupLoops.relations(snapshot, keys.bytes, range)
    case .product: try LookupLoops.products(snapshot, keys.texts, range)
    case .batch: try LookupLoops.byBarcodeInBatches(snapshot, keys.bytes, range)
    }
  }

  func product(_ id: String) throws -> Product? { try snapshot.product(id: id) }
}
