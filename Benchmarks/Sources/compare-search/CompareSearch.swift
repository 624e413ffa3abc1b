import BenchmarkSupport
import Catalog
import CatalogRows
import LogStore

#if PEER_GRDB
import GRDB
#endif
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures the search of products next to SQLite's FTS5 and tantivy, on the same rows and with the same words, in turn.
@main
struct CompareSearch {
  static func main() {
    do {
      let options = try SearchOptionsOfRun(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(SearchOptionsOfRun.help) }
      var comparison = try SearchComparison(options)
      try comparison.run()
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
struct SearchOptionsOfRun {
  var real: String?
  var copies = 1
  var queryCount = 2000
  var seed: UInt64 = 1
  /// The program that searches with tantivy.
  var tantivy: String?
  var wantsHelp = false

  static let help = """
    usage: compare-search --real DIR [options]

    Fills a catalogue, two tables of SQLite's FTS5 (unicode61, trigram) and an index of tantivy with the names of real
    products, searches all for the same words in turn, and prints sizes, times and what was found.

      --real DIR     the directory with products.ndjson.gz
      --copies N     how often each product is there, with other ids and barcodes; 1
      --queries N    searches of each kind; 2000
      --seed N       seed of the words; 1
      --tantivy FILE the program that searches with tantivy; scripts/bench gives scripts/tantivy-peer
    """

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      if option == "--help" || option == "-h" {
        wantsHelp = true
        return
      }
      guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
      switch option {
      case "--real": real = value
      case "--copies": copies = try Self.number(value, option)
      case "--queries": queryCount = try Self.number(value, option)
      case "--tantivy": tantivy = value
      case "--seed": seed = UInt64(try Self.number(value, option))
      default: throw UsageError("unknown option \(option)")
      }
    }
    if real == nil { real = RealCatalogue.candidates.first { Files.exists("\($0)/products.ndjson.gz") } }
    if real == nil { throw UsageError("--real: which directory has products.ndjson.gz?") }
  }

  private static func number(_ text: String, _ option: String) throws(UsageError) -> Int {
    guard let number = Int(text), number > 0 else { throw UsageError("\(option) needs a number above 0") }
    return number
  }
}

/// A kind of search, and the words of each.
private struct Kind {
  let title: String
  let queries: [[String]]
}

/// The comparison: what is filled, asked and printed.
struct SearchComparison {
  private let options: SearchOptionsOfRun
  private let names: [String]
  private var random: KeyRandom

  init(_ options: SearchOptionsOfRun) throws {
    self.options = options
    random = KeyRandom(options.seed)
    let source = try RealCatalogue(options.real ?? "", seed: options.seed)
    var names: [String] = []
    var row = ProductRow()
    for index in 0..<source.productCount {
      source.product(index, revision: 0, into: &row)
      names.append(row.texts.string(ProductText.name.rawValue))
    }
    self.names = names
  }

  private var productCount: Int { names.count * options.copies }

  mutating func run() throws {
    let machine = Machine()
    print("\(machine.processor), \(machine.coreCount) cores, load \(machine.load), seed \(options.seed)\n")
    let folder = try WorkFolder("shelfmark-search", keeping: nil)
    defer { folder.remove() }
    let plain = try fill(BenchmarkStore(at: folder.scratch("plain")))
    let indexed = try fill(BenchmarkStore(at: folder.scratch("indexed"), indexes: .standard))
    let sealed = try fill(BenchmarkStore(at: folder.scratch("sealed"), indexes: .standard, isSealed: true))
    print("| \(productCount) products | bytes | full update, s of processor time |\n|---|---|---|")
    print("| without indexes of words and orders | \(plain.bytes) | \(FigureText.number(plain.seconds)) |")
    print("| with the standard ones | \(indexed.bytes) | \(FigureText.number(indexed.seconds)) |")
    print("| with the standard ones, sealed | \(sealed.bytes) | \(FigureText.number(sealed.seconds)) |\n")
    try printIncrements([plain.store, indexed.store, sealed.store])
    let snapshot = try indexed.store.reader().snapshot()
    let opened = try sealed.store.reader().snapshot()
    #if PEER_GRDB
    let peers = [
      try FullTextPeer("FTS5 unicode61", "unicode61", folder, names, options.copies),
      try FullTextPeer("FTS5 trigram", "trigram", folder, names, options.copies),
    ]
    #else
    let peers: [FullTextPeer] = []
    #endif
    for peer in peers { print("\(peer.title): \(peer.byteCount) bytes\n") }
    let tantivy = try options.tantivy.map { try TantivyPeer($0, folder, names, options.copies) }
    if let tantivy { print("tantivy: \(tantivy.byteCount) bytes\n") }
    let titles = peers.map(\.title) + (tantivy == nil ? [] : TantivyPeer.titles)
    print("| 20 results, µs: median, 99 % | Shelfmark | sealed | \(titles.joined(separator: " | ")) |")
    print("|---|---|---|" + String(repeating: "---|", count: titles.count))
    for kind in kinds() {
      var cells = [
        try cell(kind.queries) { try snapshot.search($0.joined(separator: " ")).results.count },
        try cell(kind.queries) { try opened.search($0.joined(separator: " ")).results.count },
      ]
      for peer in peers { cells.append(try cell(kind.queries) { try peer.count($0) }) }
      if let tantivy { cells += try tantivy.cells(kind.queries) }
      print("| \(kind.title) | \(cells.joined(separator: " | ")) |")
    }
    if let peer = peers.first { try checkFound(snapshot, peer) }
    try checkTypos(snapshot)
  }

  /// Times each query once, after one that warms up.
  private func cell(_ queries: [[String]], _ body: ([String]) throws -> Int) throws -> String {
    _ = try body(queries[0])
    var times: [Double] = []
    for query in queries { times.append(try Elapsed.of { try body(query) }.1.wall / 1000) }
    let spread = Spread(times)
    return "\(FigureText.number(spread.median)), \(FigureText.number(spread.percentile(99)))"
  }

  private func fill(_ store: BenchmarkStore) throws -> (store: BenchmarkStore, bytes: Int, seconds: Double) {
    let writer = try store.writer()
    defer { writer.close() }
    let (_, elapsed) = try Elapsed.of {
      var update = try writer.beginFullUpdate(.open)
      for copy in 0..<options.copies {
        for index in names.indices { try update.product(row(index, copy: copy)) }
      }
      return try update.commit(cursor: "")
    }
    return (store, Files.size(store.file), elapsed.processor / 1e9)
  }

  private func row(_ index: Int, copy: Int) -> ProductRow {
    var row = ProductRow()
    let number = copy * names.count + index
    row.texts.set(ProductText.id.rawValue, Array("\(6_000_000_000 + number)".utf8).span)
    row.texts.set(ProductText.barcode.rawValue, Array("\(4_000_000_000_000 + number * 7919)".utf8).span)
    row.texts.set(ProductText.name.rawValue, Array(names[index].utf8).span)
    row.texts.set(ProductText.updateTime.rawValue, Array("2019-06-14 00:00:00".utf8).span)
    return row
  }

  /// Times increments of a thousand rows without the indexes, with them, and sealed.
  private mutating func printIncrements(_ stores: [BenchmarkStore]) throws {
    var medians: [Double] = []
    for store in stores {
      let writer = try store.writer()
      defer { writer.close() }
      var times: [Double] = []
      for round in 0..<21 {
        var increment = writer.beginIncrement()
        for _ in 0..<1000 { try increment.product(row(random.below(names.count), copy: 0)) }
        times.append(try Elapsed.of { try increment.commit(cursor: "\(round)") }.1.wall / 1e6)
      }
      medians.append(Spread(times).median)
    }
    print(
      "Increment of 1000 rows: \(FigureText.number(medians[0])) ms without, \(FigureText.number(medians[1])) ms with; ratio "
        + "\(FigureText.number(medians[1] / medians[0])); sealed \(FigureText.number(medians[2])) ms, ratio to with "
        + "\(FigureText.number(medians[2] / medians[1]))\n")
  }

  // MARK: Words

  /// The words of a name as unicode61 has them, near enough.
  private static func words(_ name: String) -> [String] {
    name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  private mutating func pick() -> [String] { Self.words(names[random.below(names.count)]) }

  private mutating func kinds() -> [Kind] {
    var counts: [String: Int] = [:]
    for name in names { for word in Self.words(name) { counts[word, default: 0] += 1 } }
    let common = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? "a"
    var kinds: [Kind] = []
    for length in [1, 2, 3, 4, 6, 8, 12] {
      var queries: [[String]] = []
      while queries.count < options.queryCount / 4 {
        if let word = pick().first(where: { $0.count == length }) { queries.append([word]) }
      }
      kinds.append(Kind(title: "one word of \(length)", queries: queries))
    }
    kinds.append(
      Kind(title: "the most common word, \(common)", queries: Array(repeating: [common], count: options.queryCount / 4))
    )
    for count in [2, 3, 4, 6] {
      var queries: [[String]] = []
      while queries.count < options.queryCount {
        var words = Array(Set(pick())).sorted()
        if words.count < count { continue }
        random.shuffle(&words)
        queries.append(Array(words.prefix(count)))
      }
      kinds.append(Kind(title: "\(count) words of a name, shuffled", queries: queries))
    }
    return kinds
  }

  // MARK: What is found

  /// Everything that unicode61 finds for all words must be found.
  private mutating func checkFound(_ snapshot: CatalogSnapshot, _ peer: FullTextPeer) throws {
    var missed = 0
    var all = 0
    for _ in 0..<200 {
      var words = Array(Set(pick())).sorted()
      random.shuffle(&words)
      words = Array(words.prefix(2))
      if words.isEmpty { continue }
      var options = SearchOptions()
      options.limit = .max
      let found = Set(try snapshot.search(words.joined(separator: " "), options).results.map(\.product.id))
      let wanted = try peer.ids(words)
      all += wanted.count
      missed += wanted.filter { !found.contains($0) }.count
    }
    print("\nOf \(all) products that unicode61 finds for 200 pairs of words, \(missed) are not found.")
  }

  /// Three words of a name of at least three letters, shuffled, one of them with a typing mistake. Names that share
  /// these words with more than ten others cannot be told apart, and are not drawn.
  private mutating func checkTypos(_ snapshot: CatalogSnapshot) throws {
    var places: [String: Set<Int>] = [:]
    for (index, name) in names.enumerated() { for word in Self.words(name) { places[word, default: []].insert(index) } }
    var hits = 0
    var cases = 0
    var times: [Double] = []
    while cases < options.queryCount {
      let index = random.below(names.count)
      var words = Array(Set(Self.words(names[index]).filter { $0.count >= 3 })).sorted()
      if words.count < 3 { continue }
      random.shuffle(&words)
      words = Array(words.prefix(3))
      let same = words.dropFirst().reduce(places[words[0], default: []]) { $0.intersection(places[$1, default: []]) }
      if same.count * options.copies > 10 { continue }
      cases += 1
      let place = random.below(3)
      words[place] = mistyped(words[place])
      var searchOptions = SearchOptions()
      searchOptions.limit = 10
      let query = words.joined(separator: " ")
      let (found, elapsed) = try Elapsed.of { try snapshot.search(query, searchOptions).results }
      times.append(elapsed.wall / 1000)
      if found.contains(where: { $0.product.name == names[index] }) { hits += 1 }
    }
    let spread = Spread(times)
    print(
      "\nThree words of a name, shuffled, one mistyped: the product is among the first ten in \(hits) of \(cases) cases;"
        + " \(FigureText.number(spread.median)) µs, 99 % \(FigureText.number(spread.percentile(99))) µs.")
  }

  /// A word with one character removed, added, replaced or swapped with the next one.
  private mutating func mistyped(_ word: String) -> String {
    var letters = Array(word)
    let letter = Character(Unicode.Scalar(UInt8(97 + random.below(26))))
    let place = random.below(letters.count)
    switch random.below(4) {
    case 0: letters.remove(at: place)
    case 1: letters.insert(letter, at: place)
    case 2: letters[place] = letter
    default: letters.swapAt(place, min(place + 1, letters.count - 1))
    }
    return String(letters)
  }
}
