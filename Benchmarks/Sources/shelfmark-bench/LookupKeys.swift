import BenchmarkSupport
import CatalogRows
import CatalogueGenerator

/// All keys of a run, drawn from a seeded shuffle of the products.
struct LookupKeys: Sendable {
  private static let textLimit = 50_000

  var barcodes = KeyList()
  var ids = KeyList()
  var misses = KeyList()
  var idTexts = TextKeys()
  var barcodeTexts = TextKeys()
  var setTexts = TextKeys()
  var plainScans = TextKeys()
  var gs1Scans = TextKeys()
  var headScans = TextKeys()
  var unknownScans = TextKeys()

  init(_ generator: CatalogueGenerator, limit: Int) {
    var random = KeyRandom(generator.seed ^ 0x6B65_7973)
    var order = (0..<generator.productCount).map { UInt32($0) }
    random.shuffle(&order)
    var row = ProductRow()
    for index in order.prefix(limit) { addProduct(Int(index), generator, &row, &random) }
    for number in 0..<min(limit, generator.productCount) { addMiss(number, generator) }
    for _ in 0..<min(Self.textLimit, generator.setCount) {
      addSet(generator.set(random.below(generator.setCount)), generator)
    }
  }

  private mutating func addProduct(
    _ index: Int, _ generator: CatalogueGenerator, _ row: inout ProductRow, _ random: inout KeyRandom
  ) {
    let kind = generator.codeKind(index)
    if kind == .none || generator.sharesBarcode(index) { return }
    generator.product(index, into: &row)
    let answer = Touch.of(row)
    var barcode: [UInt8] = []
    var id: [UInt8] = []
    generator.putBarcode(index, &barcode)
    generator.putId(index, &id)
    barcodes.append(barcode, expecting: answer)
    ids.append(id, expecting: answer)
    let text = String(decoding: barcode, as: UTF8.self)
    if idTexts.texts.count < Self.textLimit {
      idTexts.append(String(decoding: id, as: UTF8.self), expecting: answer)
      barcodeTexts.append(text, expecting: answer)
    }
    let serial = String(1_000_000_000_000_000_000 + random.next() % 1_000_000_000_000_000_000)
    switch kind {
    case .head where headScans.texts.count < Self.textLimit:
      headScans.append(text + serial.suffix(24 - text.utf8.count), expecting: answer)
    case .ean13 where plainScans.texts.count < Self.textLimit:
      plainScans.append(text, expecting: answer)
      gs1Scans.append("]C1010\(text)21\(serial.suffix(8))", expecting: answer)
    default: break
    }
  }

  private mutating func addMiss(_ number: Int, _ generator: CatalogueGenerator) {
    var barcode: [UInt8] = []
    generator.putUnknownBarcode(number, &barcode)
    misses.append(barcode, expecting: 0)
    if number < Self.textLimit { unknownScans.append(String(decoding: barcode, as: UTF8.self), expecting: 0) }
  }

  private mutating func addSet(_ index: Int, _ generator: CatalogueGenerator) {
    var id: [UInt8] = []
    generator.putId(index, &id)
    var row = RelationRow()
    var sum: UInt64 = 0
    for number in 0..<generator.componentCount(ofSet: index) {
      generator.relation(ofSet: index, number, into: &row)
      sum &+= UInt64(row.groupNum)
    }
    setTexts.append(String(decoding: id, as: UTF8.self), expecting: sum)
  }
}
