import BenchmarkSupport
import Catalog
import CatalogueGenerator
import LogStore

/// One kind of lookup, as often as asked.
struct LookupCase {
  let name: String
  let keyCount: Int
  /// What the answers of these keys add up to.
  let expected: (Range<Int>) -> UInt64
  let run: (Range<Int>) throws -> (UInt64, Elapsed)

  init(
    _ name: String, _ keys: KeyList, _ run: @escaping (KeyList, Range<Int>) throws -> UInt64
  ) {
    self.name = name
    keyCount = keys.count
    expected = keys.expectedSum
    self.run = { range in try Elapsed.of { try run(keys, range) } }
  }

  init(
    _ name: String, _ keys: TextKeys, _ run: @escaping (TextKeys, Range<Int>) throws -> UInt64
  ) {
    self.name = name
    keyCount = keys.texts.count
    expected = { keys.expected[$0].reduce(0, &+) }
    self.run = { range in try Elapsed.of { try run(keys, range) } }
  }

  /// Two threads at once.
  init(
    threads name: String, _ keys: KeyList, _ run: @escaping @Sendable (KeyList, Range<Int>) throws -> UInt64
  ) {
    self.name = name
    keyCount = keys.count
    expected = keys.expectedSum
    self.run = { range in
      let (sum, times) = try TwoThreads.run(range) { _, half in try run(keys, half) }
      // Each thread had half of the lookups: together they took as long as one that had all of them.
      return (
        sum,
        Elapsed(
          wall: times.reduce(0) { $0 + $1.wall }, processor: times.reduce(0) { $0 + $1.processor })
      )
    }
  }
}

/// What a lookup costs, by kind.
///
/// All kinds take turns in each round, so that whatever else the machine does falls on all of them; each round of each
/// kind has keys of its own where there are enough. Before each of them a round of other keys runs without the clock,
/// so that no kind pays for the caches that another one left. Times are processor time of the thread.
struct LookupBenchmark {
  static let chase = "chase"

  let generator: CatalogueGenerator
  let folder: WorkFolder
  let options: Options

  init(_ generator: CatalogueGenerator, _ folder: WorkFolder, _ options: Options) {
    self.generator = generator
    self.folder = folder
    self.options = options
  }

  func run(_ report: inout Report) throws {
    complain("catalogue of \(generator.productCount) products, \(generator.source)")
    let store = try BenchmarkStore(generator, in: folder)
    try measureLoad(store, &report)
    let reader = try store.reader()
    let snapshot = try reader.snapshot()
    let keys = LookupKeys(generator, limit: 1_000_000)
    let step = try Self.measure(
      cases(snapshot, keys), condition: condition, chaseOver: Files.size(store.file), options, &report)
    try QueryBenchmark(generator: generator, options: options).run(snapshot, condition: condition, &report)
    try measureOpening(store, keys.barcodes, step, &report)
    try measureMemory(store, &report)
  }

  private var condition: String { "\(generator.productCount) products" }

  private func cases(_ snapshot: CatalogSnapshot, _ keys: LookupKeys) -> [LookupCase] {
    Self.cases(snapshot, keys).filter { options.only.isEmpty || $0.name.contains(options.only) }
  }

  static func cases(_ snapshot: CatalogSnapshot, _ keys: LookupKeys) -> [LookupCase] {
    [
      LookupCase("withProduct(barcode:) – hit, 3 fields, independent", keys.barcodes) {
        try LookupLoops.byBarcode(snapshot, $0, $1)
      },
      LookupCase("withProduct(barcode:) – hit, 3 fields, dependent", keys.barcodes) {
        try LookupLoops.byBarcodeDependent(snapshot, $0, $1)
      },
      LookupCase("withProduct(barcode:) – miss", keys.misses) { try LookupLoops.byBarcode(snapshot, $0, $1) },
      LookupCase("withProduct(id:) – hit, 3 fields, independent", keys.ids) {
        try LookupLoops.byId(snapshot, $0, $1)
      },
      LookupCase("withProduct(id:) – hit, 3 fields, dependent", keys.ids) {
        try LookupLoops.byIdDependent(snapshot, $0, $1)
      },
      LookupCase("withProduct(id:) – miss", keys.misses) { try LookupLoops.byId(snapshot, $0, $1) },
      LookupCase(threads: "withProduct(barcode:) – hit, 3 fields, two threads", keys.barcodes) {
        try LookupLoops.byBarcode(snapshot, $0, $1)
      },
      LookupCase("product(id:) – all 25 fields as values", keys.idTexts) {
        try LookupLoops.products(snapshot, $0, $1)
      },
      LookupCase("products(barcode:) – all 25 fields as values", keys.barcodeTexts) {
        try LookupLoops.productsByBarcode(snapshot, $0, $1)
      },
      LookupCase("relations(ofSet:) – 2 to 5 relations", keys.setTexts) {
        try LookupLoops.relations(snapshot, $0, $1)
      },
      LookupCase("match(_:) – plain EAN-13", keys.plainScans) {
        try LookupLoops.matches(snapshot, $0, .exact, $1)
      },
      LookupCase("match(_:) – GS1 with (01) and (21)", keys.gs1Scans) {
        try LookupLoops.matches(snapshot, $0, .gs1, $1)
      },
      LookupCase("match(_:) – head and serial, 24 characters", keys.headScans) {
        try LookupLoops.matches(snapshot, $0, .head, $1)
      },
      LookupCase("match(_:) – no match", keys.unknownScans) {
        try LookupLoops.matches(snapshot, $0, .none, $1)
      },
    ]
  }

  // MARK: Measuring

  /// Runs every case in every round, checks the answers, and returns the median step of the chase in nanoseconds.
  static func measure(
    _ cases: [LookupCase], condition: String, chaseOver byteCount: Int, _ options: Options, _ report: inout Report
  ) throws -> Double {
    let chase = try PointerChase(byteCount: byteCount, seed: options.seed)
    var checksum = chase.run(options.lookupsPerRound)
    var steps: [Double] = []
    var times = cases.map { _ in [Double]() }
    var walls = times
    for round in 0..<options.rounds {
      let (place, elapsed) = Elapsed.of { chase.run(options.lookupsPerRound) }
      checksum &+= place
      steps.append(elapsed.processor / Double(options.lookupsPerRound))
      for (number, one) in cases.enumerated() {
        let turn = round * cases.count + number
        let range = Self.range(of: one, turn: turn, options.lookupsPerRound)
        // Without the clock: what fits the caches is in them afterwards, and what does not has other keys there.
        checksum &+= try one.run(Self.range(of: one, turn: turn + 1, options.lookupsPerRound)).0
        let expected = one.expected(range)
        let (sum, elapsed) = try one.run(range)
        guard sum == expected else {
          throw WrongAnswer("\(one.name): checksum \(sum), and not \(expected)")
        }
        checksum &+= sum
        times[number].append(elapsed.processor / Double(range.count))
        walls[number].append(elapsed.wall / Double(range.count))
      }
    }
    let step = Spread(steps)
    report.add(
      Measurement("reference – chase over \(byteCount >> 20) MiB, 4 KiB pages, a step", condition, step, "ns")
        .noting("checksum of the run \(String(checksum, radix: 16))"))
    for (number, one) in cases.enumerated() {
      report.add(
        Measurement(one.name, condition, Spread(times[number]), "ns").comparedTo(step.median, chaseName)
          .noting("elapsed \(FigureText.number(Spread(walls[number]).median))"))
    }
    return step.median
  }

  private static let chaseName = chase

  /// Keys that follow those of the turn before, from the beginning again where they end.
  private static func range(of one: LookupCase, turn: Int, _ wanted: Int) -> Range<Int> {
    let count = min(wanted, one.keyCount)
    let places = one.keyCount / count
    let start = turn % places * count
    return start..<(start + count)
  }

  private func measureLoad(_ store: BenchmarkStore, _ report: inout Report) throws {
    if let seconds = store.loadTime {
      let (_, alone) = try Elapsed.of {
        var sink = NullSink()
        try generator.write(to: &sink)
      }
      report.add(
        Measurement("FullUpdate – rows to durable commit", condition, seconds - alone.wall / 1e9, "s").noting(
          "\(FigureText.number(seconds)) s with generating the rows, \(FigureText.number(alone.wall / 1e9)) s without writing"
        ))
    }
    let size = Files.size(store.file)
    let perProduct = Double(size) / Double(generator.productCount)
    let statistics = try store.reader().snapshot().store?.statistics()
    let indexes = statistics?.indexes.reduce(0) { $0 + $1.byteCount } ?? 0
    report.add(
      Measurement("file – bytes per product", condition, perProduct, "B").noting(
        "\(size >> 20) MiB; records \((statistics?.liveByteCount ?? 0) >> 20), indexes \(indexes >> 20)"))
  }

  private func measureOpening(
    _ store: BenchmarkStore, _ keys: KeyList, _ step: Double, _ report: inout Report
  ) throws {
    var times: [Double] = []
    for index in 0..<min(200, keys.count) {
      let (sum, elapsed) = try Elapsed.of {
        try LookupLoops.byBarcode(try store.reader().snapshot(), keys, index..<(index + 1))
      }
      guard sum == keys.expected[index] else { throw WrongAnswer("first lookup after opening") }
      times.append(elapsed.wall / 1000)
    }
    report.add(Measurement("CatalogReader.open – to the first answer, cached file", condition, Spread(times), "µs"))
  }

  private func measureMemory(_ store: BenchmarkStore, _ report: inout Report) throws {
    let line = try Subprocess.child([
      "resident", store.directory, "\(generator.productCount)", "\(generator.seed)", "\(options.lookupsPerRound)",
    ])
    let numbers = line.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 3 else { throw WrongAnswer("the process for memory said \(line)") }
    report.add(
      Measurement("lookup process – own memory gained", condition, numbers[0], "KiB").noting(
        "after \(Int(numbers[2])) hits; pages of the file \(Int(numbers[1])) KiB, which the system may take back"))
  }
}
