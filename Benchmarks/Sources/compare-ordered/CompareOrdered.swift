import BenchmarkSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures reads in order next to LMDB, RocksDB and SQLite: each has the same rows by number, and an index in the
/// order of a key.
@main
struct CompareOrdered {
  static func main() {
    do {
      let options = try OrderedOptions(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(OrderedOptions.help) }
      try OrderedComparison(options).run()
    } catch let error as UsageError {
      complain("\(error)")
      exit(64)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }
}

/// What the command line asks for.
struct OrderedOptions {
  var rowCount = 1_000_000
  var rounds = 5
  var seed: UInt64 = 1
  var wantsHelp = false

  static let help = """
    usage: compare-ordered [options]

    Fills each store with rows of 120 bytes by number, and with an index in the order of random keys of 16 bytes. Then, in
    turn: seeks a random key and reads 20 rows from there on; reads all rows in order; changes 1,000 rows and their keys in
    one durable commit. Ours is also filled without the index, to see what that costs.

      --rows N       1000000
      --rounds N     how often each is measured, in turn; 5
      --seed N       seed of the keys; 1
    """

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      if option == "--help" || option == "-h" {
        wantsHelp = true
        return
      }
      guard let text = rest.popFirst() else { throw UsageError("\(option) needs a value") }
      guard let value = Int(text), value > 0 else { throw UsageError("\(option) needs a number above 0") }
      switch option {
      case "--rows":
        guard value >= 1000 else { throw UsageError("--rows needs at least 1000") }
        rowCount = value
      case "--rounds": rounds = value
      case "--seed": seed = UInt64(value)
      default: throw UsageError("unknown option \(option)")
      }
    }
  }
}

/// The comparison: what is filled, asked and printed.
struct OrderedComparison {
  private let options: OrderedOptions
  private static let seekCount = 2000
  private static let seekRows = 20
  private static let changedCount = 1000

  init(_ options: OrderedOptions) { self.options = options }

  /// What was measured of one store, by round.
  private struct Figures {
    var seek: [Double] = []
    var walk: [Double] = []
    var commit: [Double] = []
    var fill = 0.0
    var bytes = 0
  }

  func run() throws {
    let machine = Machine()
    print("\(machine.processor), \(machine.coreCount) cores, load \(machine.load), seed \(options.seed)")
    let folder = try WorkFolder("shelfmark-ordered", keeping: nil)
    defer { folder.remove() }
    var stores: [any OrderedStore] = [
      try ShelfmarkRows(try folder.scratch("shelfmark"), isIndexed: true),
      try ShelfmarkRows(try folder.scratch("plain"), isIndexed: false),
    ]
    stores += try OrderedPeer.all(in: folder)
    for store in stores { print("- \(store.name): \(store.configuration)") }
    var figures = [Figures](repeating: Figures(), count: stores.count)
    let rows = OrderedRows(options.seed)
    for (index, store) in stores.enumerated() {
      figures[index].fill = try Elapsed.of { try store.fill(options.rowCount, rows) }.1.wall / 1e9
      figures[index].bytes = try DirectorySize.of(store.directory)
    }
    var changed = [Set<Int>](repeating: [], count: stores.count)
    for round in 0..<options.rounds {
      for (index, store) in stores.enumerated() {
        if store.isOrdered {
          try measureReads(store, rows, round, &figures[index])
        } else {
          figures[index].walk.append(try unordered(store))
        }
      }
      for (index, store) in stores.enumerated() {
        var random = KeyRandom(options.seed &+ 1000 &+ UInt64(round))
        var numbers: Set<Int> = []
        while numbers.count < Self.changedCount { numbers.insert(random.below(options.rowCount)) }
        // No row is changed twice, so that the key it had is known.
        numbers.subtract(changed[index])
        changed[index].formUnion(numbers)
        let list = numbers.sorted()
        figures[index].commit.append(try Elapsed.of { try store.change(list, rows) }.1.wall / 1e6)
      }
    }
    printTable(stores, figures)
  }

  private func measureReads(_ store: any OrderedStore, _ rows: OrderedRows, _ round: Int, _ figures: inout Figures)
    throws
  {
    var random = KeyRandom(options.seed &+ UInt64(round))
    let keys = (0..<Self.seekCount).map { _ in rows.key(ofRow: random.below(options.rowCount), revision: 0) }
    var sum = RowSum()
    let (_, seek) = try Elapsed.of { for key in keys { try store.walk(from: key, limit: Self.seekRows, &sum) } }
    figures.seek.append(seek.wall / 1e3 / Double(keys.count))
    guard sum.count > Self.seekCount else { throw WrongAnswer("\(store.name) read \(sum.count) rows") }
    sum = RowSum()
    let (_, walk) = try Elapsed.of { try store.walk(from: [UInt8](repeating: 0, count: 16), limit: .max, &sum) }
    guard sum.count == options.rowCount else { throw WrongAnswer("\(store.name) read \(sum.count) rows in order") }
    figures.walk.append(walk.wall / Double(options.rowCount))
  }

  private func unordered(_ store: any OrderedStore) throws -> Double {
    var sum = RowSum()
    let (_, scan) = try Elapsed.of { try store.walk(from: [], limit: .max, &sum) }
    guard sum.count == options.rowCount else { throw WrongAnswer("\(store.name) read \(sum.count) rows") }
    return scan.wall / Double(options.rowCount)
  }

  private func printTable(_ stores: [any OrderedStore], _ figures: [Figures]) {
    print(
      "\n| \(options.rowCount) rows, \(options.rounds) rounds: median (least – most) | seek and 20 rows, µs | all rows, ns a row | "
        + "commit of 1,000 changed rows, ms | filling, s | bytes a row |\n|---|---|---|---|---|---|")
    for (store, figures) in zip(stores, figures) {
      let bytes = Double(figures.bytes) / Double(options.rowCount)
      let cells = [
        store.name, cell(figures.seek), cell(figures.walk) + (store.isOrdered ? "" : " (in no order)"),
        cell(figures.commit), FigureText.number(figures.fill), FigureText.number(bytes),
      ]
      print("| \(cells.joined(separator: " | ")) |")
    }
  }

  private func cell(_ values: [Double]) -> String {
    if values.isEmpty { return "–" }
    let spread = Spread(values)
    return
      "\(FigureText.number(spread.median)) (\(FigureText.number(spread.least)) – \(FigureText.number(spread.most)))"
  }
}
