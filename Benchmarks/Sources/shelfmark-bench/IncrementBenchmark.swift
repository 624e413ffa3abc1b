import Catalog
import CatalogRows
import CatalogueGenerator
import LogStore

/// Increments of 1000 rows, each durable before the next begins, and what lookups cost while they wait in the tail.
///
/// Of the rows of an increment 850 change a product, 100 are new, and 50 delete one; the relations of changed sets come
/// with them. No product is touched twice.
struct IncrementBenchmark {
  private static let changed = 850
  private static let added = 100
  private static let deleted = 50

  let generator: CatalogueGenerator
  let folder: WorkFolder
  let options: Options
  /// Products in the order in which increments touch them.
  private let order: [UInt32]

  init(_ generator: CatalogueGenerator, _ folder: WorkFolder, _ options: Options) {
    self.generator = generator
    self.folder = folder
    self.options = options
    var random = KeyRandom(generator.seed ^ 0x696E_6372)
    var order = (0..<generator.productCount).map { UInt32($0) }
    random.shuffle(&order)
    self.order = order
  }

  func run(_ report: inout Report) throws {
    complain("increments on \(generator.productCount) products, \(generator.source)")
    let store = try BenchmarkStore(generator, in: folder)
    let scratch = try folder.scratch("increment")
    defer { _ = try? Subprocess.run(["rm", "-rf", scratch]) }
    let copy = try BenchmarkStore(copying: store, to: scratch)
    let writer = try CatalogWriter(try StoreLocation.creating(scratch, name: BenchmarkStore.name))
    defer { writer.close() }
    let reference = try OutputFile(creating: "\(scratch)/reference")
    let limit = min(options.commits, generator.productCount / (Self.changed + Self.deleted))
    var times: [Double] = []
    var processor: [Double] = []
    var syncs: [Double] = []
    var size = Files.size(copy.file)
    let before = size
    for number in 0...limit {
      if number == 0 || number == 10 || number == 100 || number == limit {
        try measureLookups(writer, after: number, fileByteCount: size, &report)
      }
      if number == limit { break }
      let elapsed = try commit(number, writer)
      times.append(elapsed.wall / 1000)
      processor.append(elapsed.processor / 1000)
      let newSize = Files.size(copy.file)
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: newSize - size)
      size = newSize
      let (_, sync) = try Elapsed.of {
        try reference.append(bytes)
        try reference.sync()
      }
      syncs.append(sync.wall / 1000)
    }
    add(times, processor, syncs, byteCount: size - before, &report)
  }

  private func add(
    _ times: [Double], _ processor: [Double], _ syncs: [Double], byteCount: Int, _ report: inout Report
  ) {
    let condition = "\(generator.productCount) products, \(times.count) increments"
    let sync = Spread(syncs)
    let time = Spread(times)
    report.add(
      Measurement("reference – append of as many bytes, one sync", condition, sync, "µs").noting(
        "95 %: \(Report.number(sync.percentile95)); \((byteCount / times.count) >> 10) KiB an increment"))
    report.add(
      Measurement("Increment – 1000 rows to durable", condition, time, "µs").comparedTo(sync.median, "append")
        .noting("95 %: \(Report.number(time.percentile95))"))
    report.add(
      Measurement("Increment – 1000 rows, processor", condition, Spread(processor), "µs"))
  }

  /// Commits increment `number`; its rows are made before the clock starts.
  private func commit(_ number: Int, _ writer: CatalogWriter) throws -> Elapsed {
    var products: [ProductRow] = []
    var relations: [RelationRow] = []
    for index in touched(number) {
      var row = ProductRow()
      generator.product(index, revision: 1, into: &row)
      products.append(row)
      for place in 0..<generator.componentCount(ofSet: index) where index < generator.productCount {
        var relation = RelationRow()
        generator.relation(ofSet: index, place, into: &relation)
        relations.append(relation)
      }
    }
    for index in deleted(number) {
      var row = ProductRow()
      generator.product(index, into: &row)
      row.delFlag = 1
      products.append(row)
    }
    let (report, elapsed) = try Elapsed.of {
      var increment = writer.beginIncrement()
      for row in products { try increment.product(row) }
      for row in relations { try increment.relation(row) }
      return try increment.commit(cursor: "increment \(number)")
    }
    guard report.counts.productsUpserted == Self.changed + Self.added,
      report.counts.productsDeleted == Self.deleted
    else { throw WrongAnswer(description: "increment \(number): \(report.counts)") }
    return elapsed
  }

  private func touched(_ number: Int) -> [Int] {
    let first = number * (Self.changed + Self.deleted)
    let new = generator.productCount + number * Self.added
    return order[first..<(first + Self.changed)].map { Int($0) } + Array(new..<(new + Self.added))
  }

  private func deleted(_ number: Int) -> [Int] {
    let first = number * (Self.changed + Self.deleted) + Self.changed
    return order[first..<(first + Self.deleted)].map { Int($0) }
  }

  // MARK: Lookups

  private func measureLookups(
    _ writer: CatalogWriter, after increments: Int, fileByteCount: Int, _ report: inout Report
  ) throws {
    let snapshot = try writer.snapshot()
    let keys = keys(after: increments)
    let cases = [
      LookupCase("withProduct(barcode:) – hit, 3 fields, independent", keys.hits) {
        try LookupLoops.byBarcode(snapshot, $0, $1)
      },
      LookupCase("withProduct(barcode:) – hit, 3 fields, dependent", keys.hits) {
        try LookupLoops.byBarcodeDependent(snapshot, $0, $1)
      },
      LookupCase("withProduct(barcode:) – hit in the tail", keys.tail) {
        try LookupLoops.byBarcode(snapshot, $0, $1)
      },
      LookupCase("withProduct(barcode:) – miss", keys.misses) { try LookupLoops.byBarcode(snapshot, $0, $1) },
    ]
    let blocks = try snapshot.store?.statistics().indexes.first { $0.name == "products.code" }?.blockCount ?? 0
    _ = try LookupBenchmark.measure(
      cases.filter { $0.keyCount > 0 },
      condition: "\(generator.productCount) products, \(increments) waiting (\(blocks) index blocks)",
      chaseOver: fileByteCount, options, &report)
  }

  /// Barcodes of products from all over the catalogue as it is after so many increments; of products that the
  /// increments wrote; of none. Every product that they deleted is among the misses.
  private func keys(after increments: Int) -> (hits: KeyList, tail: KeyList, misses: KeyList) {
    var hits = KeyList()
    var tail = KeyList()
    var misses = KeyList()
    var row = ProductRow()
    var barcode: [UInt8] = []
    func add(_ index: Int, revision: Int?, to list: inout KeyList) {
      if generator.codeKind(index) == .none || generator.sharesBarcode(index) { return }
      barcode.removeAll(keepingCapacity: true)
      generator.putBarcode(index, &barcode)
      if let revision { generator.product(index, revision: revision, into: &row) }
      list.append(barcode, expecting: revision == nil ? 0 : Touch.of(row))
    }
    let perIncrement = Self.changed + Self.deleted
    var random = KeyRandom(generator.seed ^ UInt64(increments))
    for _ in 0..<min(generator.productCount, 4 * options.lookupsPerRound) {
      let place = random.below(generator.productCount)
      let isTouched = place < increments * perIncrement
      if isTouched, place % perIncrement >= Self.changed { continue }
      add(Int(order[place]), revision: isTouched ? 1 : 0, to: &hits)
    }
    for number in 0..<increments { for index in touched(number) { add(index, revision: 1, to: &tail) } }
    for number in 0..<increments { for index in deleted(number) { add(index, revision: nil, to: &misses) } }
    for number in 0..<(2 * options.lookupsPerRound) {
      barcode.removeAll(keepingCapacity: true)
      generator.putUnknownBarcode(number, &barcode)
      misses.append(barcode, expecting: 0)
    }
    return (hits, tail, misses)
  }
}
