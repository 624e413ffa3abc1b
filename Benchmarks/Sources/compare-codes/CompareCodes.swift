import BenchmarkSupport
import Catalog
import LogStore

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures products with further codes, beside the same products without, LMDB and SQLite.
@main
struct CompareCodes {
  static func main() {
    do {
      let options = try CodesOptions(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(CodesOptions.help) }
      try CodeComparison(options).run()
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
struct CodesOptions {
  var productCount = 1_000_000
  var rounds = 5
  var seed: UInt64 = 1
  var wantsHelp = false

  static let help = """
    usage: compare-codes [options]

    Fills a catalogue with products that have a barcode and two further codes, one without the codes, and the same in LMDB
    and SQLite. Then, in turn: finds products by random barcodes and by random codes; changes 1,000 products with their
    2,000 codes in one durable commit. Ours is filled from a server's answer, with codes and without.

      --products N   1000000
      --rounds N     how often each is measured, in turn; 5
      --seed N       seed of the rows; 1
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
      case "--products":
        guard value >= 2000 else { throw UsageError("--products needs at least 2000") }
        productCount = value
      case "--rounds": rounds = value
      case "--seed": seed = UInt64(value)
      default: throw UsageError("unknown option \(option)")
      }
    }
  }
}

/// The comparison: what is filled, asked and printed.
struct CodeComparison {
  private let options: CodesOptions
  private static let lookupCount = 100_000
  private static let changedCount = 1000

  init(_ options: CodesOptions) { self.options = options }

  /// What was measured of one store, by round.
  private struct Figures {
    var barcode: [Double] = []
    var code: [Double] = []
    var barcodeScan: [Double] = []
    var codeScan: [Double] = []
    var commit: [Double] = []
    var plainCommit: [Double] = []
  }

  func run() throws {
    let machine = Machine()
    print("\(machine.processor), \(machine.coreCount) cores, load \(machine.load), seed \(options.seed)")
    let folder = try WorkFolder("shelfmark-codes", keeping: nil)
    defer { folder.remove() }
    let rows = CodeRows(options.productCount, seed: options.seed)
    let ours = try ShelfmarkCodes(try folder.scratch("codes"), rows, hasCodes: true)
    let plain = try ShelfmarkCodes(try folder.scratch("plain"), rows, hasCodes: false)
    try compareUpdates(ours, plain, rows)
    let peers = try CodePeer.all(in: folder)
    for peer in peers {
      print("- \(peer.name): \(peer.configuration)")
      try peer.fill(rows)
    }
    var figures = [Figures](repeating: Figures(), count: peers.count + 1)
    for round in 0..<options.rounds {
      var random = KeyRandom(options.seed &+ UInt64(round))
      let products = (0..<Self.lookupCount).map { _ in random.below(options.productCount) }
      let barcodes = products.map { Array(CodeRows.barcode($0).utf8) }
      let codes = products.map { Array(CodeRows.code($0 % CodeRows.codesPerProduct, of: $0).utf8) }
      try measure(ours.snapshot(), barcodes, codes, &figures[0])
      for (index, peer) in peers.enumerated() {
        figures[index + 1].barcode.append(try time(barcodes) { try peer.find($0, areBarcodes: true) })
        figures[index + 1].code.append(try time(codes) { try peer.find($0, areBarcodes: false) })
      }
      let changed = Set(products).sorted().prefix(Self.changedCount)
      figures[0].commit.append(try milliseconds { try ours.put(Array(changed), revision: round + 1) })
      figures[0].plainCommit.append(try milliseconds { try plain.put(Array(changed), revision: round + 1) })
      for (index, peer) in peers.enumerated() {
        figures[index + 1].commit.append(
          try milliseconds { try peer.put(changed, revision: round + 1, rows, hasCodes: true) })
      }
    }
    print(
      "\n| \(options.productCount) products, median (least – most) | by barcode, ns | by code, ns | match of a barcode, ns "
        + "| match of a code, ns | commit of 1,000 products and 2,000 codes, ms | of the products alone, ms |")
    print("|---|---|---|---|---|---|---|")
    for (name, figures) in zip(["Shelfmark"] + peers.map(\.name), figures) {
      let cells = [
        figures.barcode, figures.code, figures.barcodeScan, figures.codeScan, figures.commit, figures.plainCommit,
      ].map(cell)
      print("| \(name) | \(cells.joined(separator: " | ")) |")
    }
    printRatios(figures, peers)
  }

  private func compareUpdates(_ ours: ShelfmarkCodes, _ plain: ShelfmarkCodes, _ rows: CodeRows) throws {
    let answers = (
      both: ShelfmarkCodes.answer(rows, hasCodes: true), products: ShelfmarkCodes.answer(rows, hasCodes: false)
    )
    var both: [Double] = []
    var products: [Double] = []
    for _ in 0..<min(3, options.rounds) {
      both.append(try ours.update(from: answers.both))
      products.append(try plain.update(from: answers.products))
    }
    let (a, b) = (Spread(both).median, Spread(products).median)
    let size = Double(ours.fileByteCount - plain.fileByteCount)
    let bytes = size / Double(options.productCount * CodeRows.codesPerProduct)
    print(
      "full update from an answer: \(FigureText.number(a)) s with codes, \(FigureText.number(b)) s without: "
        + "\(FigureText.number(a / b)) ×; \(FigureText.number(bytes)) bytes a code")
  }

  private func measure(
    _ snapshot: CatalogSnapshot, _ barcodes: [[UInt8]], _ codes: [[UInt8]], _ figures: inout Figures
  ) throws {
    figures.barcode.append(
      try time(barcodes) { texts in
        var count = 0
        for text in texts where try snapshot.withProduct(barcode: text.span, { $0.delFlag }) != nil { count += 1 }
        return count
      })
    figures.code.append(
      try time(codes) { texts in
        var count = 0
        for text in texts where try snapshot.withProduct(code: text.span, { view, _ in view.delFlag }) != nil {
          count += 1
        }
        return count
      })
    let texts = (
      barcodes.map { String(decoding: $0, as: UTF8.self) }, codes.map { String(decoding: $0, as: UTF8.self) }
    )
    figures.barcodeScan.append(try time(texts.0) { try $0.count { try !snapshot.match($0).isEmpty } })
    figures.codeScan.append(try time(texts.1) { try $0.count { try snapshot.match($0).package != nil } })
  }

  /// The nanoseconds that finding one of the texts takes. All of them must be found.
  private func time<Text>(_ texts: [Text], _ find: ([Text]) throws -> Int) throws -> Double {
    let (count, elapsed) = try Elapsed.of { try find(texts) }
    guard count == texts.count else { throw WrongAnswer("\(count) of \(texts.count) were found") }
    return elapsed.wall / Double(texts.count)
  }

  private func milliseconds(_ body: () throws -> Void) throws -> Double {
    try Elapsed.of(body).1.wall / 1e6
  }

  private func printRatios(_ figures: [Figures], _ peers: [CodePeer]) {
    func median(_ values: [Double]) -> Double { Spread(values).median }
    let ours = figures[0]
    print(
      "\nby code / by barcode: \(FigureText.number(median(ours.code) / median(ours.barcode))) ×; "
        + "matched: \(FigureText.number(median(ours.codeScan) / median(ours.barcodeScan))) ×; commit with / without codes: "
        + "\(FigureText.number(median(ours.commit) / median(ours.plainCommit))) ×")
    for (peer, figures) in zip(peers, figures.dropFirst()) {
      print(
        "\(peer.name) / Shelfmark: by code \(FigureText.number(median(figures.code) / median(ours.code))) ×, commit "
          + "\(FigureText.number(median(figures.commit) / median(ours.commit))) ×")
    }
  }

  private func cell(_ values: [Double]) -> String {
    if values.isEmpty { return "–" }
    let spread = Spread(values)
    return
      "\(FigureText.number(spread.median)) (\(FigureText.number(spread.least)) – \(FigureText.number(spread.most)))"
  }
}
