import BenchmarkSupport
import CatalogRows

/// The keys of one kind, as bytes and as text: each store is asked with what it takes.
struct KeySet: Sendable {
  let bytes: KeyList
  let texts: TextKeys

  init(_ bytes: KeyList) {
    self.bytes = bytes
    texts = TextKeys(bytes)
  }

  var count: Int { bytes.count }
}

/// All keys of a run, made before any clock runs, from a seeded shuffle of the products.
struct KeySets: Sendable {
  let barcodes: KeySet
  let ids: KeySet
  let misses: KeySet
  let sets: KeySet

  init(_ source: any CatalogueSource, limit: Int) {
    var random = KeyRandom(source.seed ^ 0x6B65_7973)
    var order = (0..<source.productCount).map { UInt32($0) }
    random.shuffle(&order)
    var barcodes = KeyList()
    var ids = KeyList()
    var row = ProductRow()
    for index in order.prefix(limit) where source.hasOwnBarcode(Int(index)) {
      source.product(Int(index), revision: 0, into: &row)
      let answer = Touch.of(row)
      let barcode = Array(row[.barcode].utf8)
      let id = Array(row[.id].utf8)
      // The loops of dependent lookups use the highest bit.
      if answer >> 63 != 0 || max(barcode.count, id.count) > KeyList.stride { continue }
      barcodes.append(barcode, expecting: answer)
      ids.append(id, expecting: answer)
    }
    self.barcodes = KeySet(barcodes)
    self.ids = KeySet(ids)
    misses = KeySet(Self.misses(source, min(limit, source.productCount)))
    sets = KeySet(Self.sets(source, limit: min(limit, 100_000), &random))
  }

  private static func misses(_ source: any CatalogueSource, _ count: Int) -> KeyList {
    var keys = KeyList()
    var barcode: [UInt8] = []
    for number in 0..<count {
      barcode.removeAll(keepingCapacity: true)
      source.putUnknownBarcode(number, &barcode)
      keys.append(barcode, expecting: 0)
    }
    return keys
  }

  private static func sets(_ source: any CatalogueSource, limit: Int, _ random: inout KeyRandom) -> KeyList {
    var order = Array(0..<source.setCount)
    random.shuffle(&order)
    var keys = KeyList()
    var row = RelationRow()
    for number in order.prefix(limit) {
      let index = source.set(number)
      var sum: UInt64 = 0
      for place in 0..<source.componentCount(ofSet: index) {
        source.relation(ofSet: index, place, into: &row)
        sum &+= UInt64(bitPattern: row.groupNum)
      }
      var id: [UInt8] = []
      source.putId(index, &id)
      if id.count <= KeyList.stride { keys.append(id, expecting: sum) }
    }
    return keys
  }

  subscript(_ operation: Operation) -> KeySet {
    switch operation {
    case .hit, .dependent, .batch: barcodes
    case .miss: misses
    case .byId, .product: ids
    case .relations: sets
    }
  }
}
