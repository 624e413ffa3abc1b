import BenchmarkSupport
import Catalog
import CatalogRows
import Synchronization

/// Swift's own hash table: nothing is durable, and every start of the program fills it again.
final class DictionaryPeer: Peer {
  let name = "Dictionary (memory)"
  let store = "dictionary"
  let configuration = "an array of Product, and [String: Int32] by barcode and by id; not durable"
  let limit = 2_000_000
  let isInMemory = true
  let canBeUpdated = false
  /// Filled once, before anything is measured.
  private let table = Mutex<DictionarySession?>(nil)

  func fill(_ directory: String, _ source: any CatalogueSource) throws {
    let session = DictionarySession(source)
    table.withLock { $0 = session }
  }

  func open(_ directory: String, forUpdates: Bool) throws -> any OpenPeer {
    guard let session = table.withLock({ $0 }) else { throw WrongAnswer("the dictionary is not filled") }
    return OpenDictionary(session)
  }
}

private final class OpenDictionary: OpenPeer {
  private let table: DictionarySession
  init(_ table: DictionarySession) { self.table = table }
  func session() -> any PeerSession { table }
  func update(_ rows: IncrementPlan.Rows) throws { throw WrongAnswer("not durable") }
  let compaction: (@Sendable () throws -> Void)? = nil
  func close() {}
}

/// Never changed after its initialiser, so threads may share it.
private final class DictionarySession: PeerSession {
  private let products: [Product]
  private let byBarcode: [String: Int32]
  private let byId: [String: Int32]
  private let bySet: [String: [Relation]]

  init(_ source: any CatalogueSource) {
    var products: [Product] = []
    var byBarcode: [String: Int32] = [:]
    var byId: [String: Int32] = [:]
    var bySet: [String: [Relation]] = [:]
    products.reserveCapacity(source.productCount)
    byBarcode.reserveCapacity(source.productCount)
    byId.reserveCapacity(source.productCount)
    var row = ProductRow()
    for index in 0..<source.productCount {
      source.product(index, revision: 0, into: &row)
      let product = Product(row)
      if !product.barcode.isEmpty, byBarcode[product.barcode] == nil { byBarcode[product.barcode] = Int32(index) }
      byId[product.id] = Int32(index)
      products.append(product)
    }
    var relation = RelationRow()
    for number in 0..<source.setCount {
      let index = source.set(number)
      bySet[products[index].id] = (0..<source.componentCount(ofSet: index)).map { place in
        source.relation(ofSet: index, place, into: &relation)
        return Relation(relation)
      }
    }
    self.products = products
    self.byBarcode = byBarcode
    self.byId = byId
    self.bySet = bySet
  }

  func has(_ operation: Operation) -> Bool { operation != .batch }

  func run(_ operation: Operation, _ keys: KeySet, _ range: Range<Int>) throws -> UInt64 {
    switch operation {
    case .hit, .miss: sum(byBarcode, keys.texts.texts, range)
    case .byId: sum(byId, keys.texts.texts, range)
    case .dependent: dependentSum(keys.texts.texts, range)
    case .relations: relationSum(keys.texts.texts, range)
    case .product: productSum(keys.texts.texts, range)
    case .batch: throw WrongAnswer("a dictionary has no batches")
    }
  }

  @inline(__always)
  private func touch(_ place: Int32) -> UInt64 { Touch.of(products[Int(place)]) }

  @inline(never)
  private func sum(_ index: [String: Int32], _ keys: [String], _ range: Range<Int>) -> UInt64 {
    var sum: UInt64 = 0
    for key in range { if let place = index[keys[key]] { sum &+= touch(place) } }
    return sum
  }

  @inline(never)
  private func dependentSum(_ keys: [String], _ range: Range<Int>) -> UInt64 {
    var sum: UInt64 = 0
    var next = range.lowerBound
    for _ in range {
      let found = byBarcode[keys[next]].map(touch) ?? 0
      sum &+= found
      next += 1 + Int(found >> 63)
    }
    return sum
  }

  @inline(never)
  private func relationSum(_ keys: [String], _ range: Range<Int>) -> UInt64 {
    var sum: UInt64 = 0
    for key in range { for relation in bySet[keys[key]] ?? [] { sum &+= UInt64(relation.groupNum) } }
    return sum
  }

  /// Copies the value, which holds references to its longer strings.
  @inline(never)
  private func productSum(_ keys: [String], _ range: Range<Int>) -> UInt64 {
    var sum: UInt64 = 0
    for key in range { if let product = product(keys[key]) { sum &+= Touch.of(product) } }
    return sum
  }

  @inline(never)
  func product(_ id: String) -> Product? { byId[id].map { products[Int($0)] } }
}
