import BenchmarkSupport
import Catalog
import CatalogRows
import CatalogSync
import CatalogueGenerator
import LogStore

/// The smoke test: asks a small catalogue everything, then measures a little, so that no benchmark rots.
struct QuickCheck {
  let generator: CatalogueGenerator
  let folder: WorkFolder
  let options: Options

  init(_ generator: CatalogueGenerator, _ folder: WorkFolder, _ options: Options) {
    self.generator = generator
    self.folder = folder
    self.options = options
  }

  func run(_ report: inout Report) throws {
    let store = try BenchmarkStore(generator, in: folder)
    let snapshot = try store.reader().snapshot()
    try checkProducts(snapshot)
    try checkRelations(snapshot)
    try checkAnswer(snapshot)
    try checkLines()
    complain("every product, every set and the server's answer are as generated")
    try LookupBenchmark(generator, folder, options).run(&report)
    try IncrementBenchmark(generator, folder, options).run(&report)
    try IngestBenchmark(generator, folder, options).run(&report)
    try ScanBenchmark(options: options).run(&report)
  }

  private func checkProducts(_ snapshot: CatalogSnapshot) throws {
    var row = ProductRow()
    for index in 0..<generator.productCount {
      generator.product(index, into: &row)
      let expected = Product(row)
      guard try snapshot.product(id: expected.id) == expected else {
        throw WrongAnswer("product \(expected.id) is not as it was written")
      }
      if expected.barcode.isEmpty { continue }
      guard try snapshot.products(barcode: expected.barcode).contains(expected) else {
        throw WrongAnswer("barcode \(expected.barcode) does not lead to \(expected.id)")
      }
    }
    for number in 0..<generator.productCount {
      var barcode: [UInt8] = []
      generator.putUnknownBarcode(number, &barcode)
      if try snapshot.withProduct(barcode: barcode.span, { (_) throws(StoreError) in true }) != nil {
        throw WrongAnswer("barcode \(String(decoding: barcode, as: UTF8.self)) has a product")
      }
    }
  }

  private func checkRelations(_ snapshot: CatalogSnapshot) throws {
    var row = RelationRow()
    var count = 0
    for number in 0..<generator.setCount {
      let index = generator.set(number)
      var expected: Set<Relation> = []
      for place in 0..<generator.componentCount(ofSet: index) {
        generator.relation(ofSet: index, place, into: &row)
        expected.insert(Relation(row))
      }
      count += expected.count
      var id: [UInt8] = []
      generator.putId(index, &id)
      guard try Set(snapshot.relations(ofSet: String(decoding: id, as: UTF8.self))) == expected else {
        throw WrongAnswer("the relations of set \(number) are not as they were written")
      }
    }
    guard snapshot.relationCount == count else {
      throw WrongAnswer("\(snapshot.relationCount) relations, and not \(count)")
    }
  }

  /// The same catalogue by way of the server's answer.
  private func checkAnswer(_ snapshot: CatalogSnapshot) throws {
    let scratch = try folder.scratch("answer")
    defer { _ = try? Subprocess.run(["rm", "-rf", scratch]) }
    let writer = try CatalogWriter(try StoreLocation.creating(scratch, name: BenchmarkStore.name), indexes: .none)
    defer { writer.close() }
    var update = try AnswerImport(writer, .full)
    try generator.writeAnswer(level: 1) { try update.consume($0.span) }
    _ = try update.finish()
    let copy = try writer.snapshot()
    guard copy.productCount == snapshot.productCount, copy.relationCount == snapshot.relationCount else {
      throw WrongAnswer("the answer holds \(copy.productCount) products")
    }
    try checkProducts(copy)
    try checkRelations(copy)
  }

  /// NDJSON has a line for each row.
  private func checkLines() throws {
    var lines = 0
    try generator.writeNDJSON { piece in lines += piece.count { $0 == 0x0A } }
    var sink = NullSink()
    try generator.write(to: &sink)
    guard lines == sink.count else { throw WrongAnswer("\(lines) lines for \(sink.count) rows") }
  }
}
