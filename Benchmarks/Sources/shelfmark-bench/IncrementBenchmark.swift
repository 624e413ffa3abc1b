import BenchmarkSupport
import Catalog
import CatalogRows
import CatalogueGenerator
import LogStore

/// Increments of 1000 rows, each durable before the next begins, and what lookups cost while they wait in the tail.
struct IncrementBenchmark {
  let generator: CatalogueGenerator
  let folder: WorkFolder
  let options: Options
  private let plan: IncrementPlan

  init(_ generator: CatalogueGenerator, _ folder: WorkFolder, _ options: Options) {
    self.generator = generator
    self.folder = folder
    self.options = options
    plan = IncrementPlan(generator)
  }

  func run(_ report: inout Report) throws {
    complain("increments on \(generator.productCount) products, \(generator.source)")
    let store = try BenchmarkStore(generator, in: folder, indexes: options.indexes)
    let scratch = try folder.scratch("increment")
    defer { _ = try? Subprocess.run(["rm", "-rf", scratch]) }
    let copy = try BenchmarkStore(copying: store, to: scratch)
    let writer = try copy.writer()
    defer { writer.close() }
    let reference = try OutputFile(creating: "\(scratch)/reference")
    let limit = min(options.commits, plan.limit)
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
        "95 %: \(FigureText.number(sync.percentile95)); \((byteCount / times.count) >> 10) KiB an increment"))
    report.add(
      Measurement("Increment – 1000 rows to durable", condition, time, "µs").comparedTo(sync.median, "append")
        .noting("95 %: \(FigureText.number(time.percentile95))"))
    report.add(
      Measurement("Increment – 1000 rows, processor", condition, Spread(processor), "µs"))
  }

  /// Commits increment `number`; its rows are made before the clock starts.
  private func commit(_ number: Int, _ writer: CatalogWriter) throws -> Elapsed {
    let rows = plan.rows(number)
    let (report, elapsed) = try Elapsed.of {
      var increment = writer.beginIncrement()
      for row in rows.products { try increment.product(row) }
      for row in rows.relations { try increment.relation(row) }
      return try increment.commit(cursor: "increment \(number)")
    }
    guard report.counts.productsUpserted == IncrementPlan.changed + IncrementPlan.added,
      report.counts.productsDeleted == IncrementPlan.deleted
    else { throw WrongAnswer("increment \(number): \(report.counts)") }
    return elapsed
  }

  // MARK: Lookups

  private func measureLookups(
    _ writer: CatalogWriter, after increments: Int, fileByteCount: Int, _ report: inout Report
  ) throws {
    let snapshot = try writer.snapshot()
    let keys = plan.keys(
      after: increments, hits: 4 * options.lookupsPerRound, misses: 2 * options.lookupsPerRound)
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
}
