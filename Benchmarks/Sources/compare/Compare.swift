import BenchmarkSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures Shelfmark beside other stores: the same rows, the same keys, in turn.
@main
struct Compare {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.first == Subprocess.childMarker {
        try FillStage.runChild(Array(arguments.dropFirst()))
        return
      }
      let options = try CompareOptions(arguments)
      if options.wantsHelp { print(CompareOptions.help) } else { try run(options) }
    } catch {
      complain("\(error)")
      exit(error is UsageError ? 64 : 1)
    }
  }

  private static func run(_ options: CompareOptions) throws {
    let machine = Machine()
    let folder = try WorkFolder("shelfmark-compare", keeping: options.keep)
    defer { folder.remove() }
    let sizes = options.growth.isEmpty ? [options.productCount] : options.growth
    var runs: [Figures] = []
    for (place, size) in sizes.enumerated() {
      if sizes.count > 1 { complain("size \(place + 1) of \(sizes.count): \(size) products") }
      runs.append(try Comparison(options, folder).run(try options.source(size)))
    }
    let report = CompareReport(machine: machine, options: options, runs: runs)
    try report.write(to: options.output)
    print(report.markdown)
  }
}

/// One size: fills the stores and goes through the stages.
struct Comparison {
  private static let keyLimit = 1_000_000

  private let options: CompareOptions
  private let folder: WorkFolder

  init(_ options: CompareOptions, _ folder: WorkFolder) {
    self.options = options
    self.folder = folder
  }

  func run(_ spec: SourceSpec) throws -> Figures {
    let source = try spec.load()
    complain("\(source.cursor)")
    var figures = Figures(productCount: source.productCount, source: source.cursor)
    let (peers, skipped) = try PeerRoster.select(options.stores, productCount: source.productCount)
    for line in skipped { complain("skipped: \(line)") }
    figures.skipped = skipped
    figures.peers = peers.map { ($0.name, $0.configuration) }
    let entrants = try FillStage(spec: spec, source: source, folder: folder).run(peers, &figures)
    let keys = KeySets(source, limit: Self.keyLimit)
    try LookupStage(source: source, keys: keys, options: options).run(entrants, &figures)
    let opening = OpeningStage(keys: keys, options: options)
    complain("opening")
    let stores = Self.stores(entrants)
    try opening.run(stores, &figures)
    complain("cold lookups")
    try opening.runCold(stores, &figures)
    try UpdateStage(source: source, options: options).run(stores, in: folder, &figures)
    for entrant in entrants where !folder.isKept { _ = try Subprocess.run(["rm", "-rf", entrant.directory]) }
    return figures
  }

  /// The first peer of each store that has files.
  private static func stores(_ entrants: [Entrant]) -> [Entrant] {
    var seen: Set<String> = []
    return entrants.filter { !$0.peer.isInMemory && seen.insert($0.peer.store).inserted }
  }
}
