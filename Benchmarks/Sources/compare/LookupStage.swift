import BenchmarkSupport
import Catalog
import CatalogRows

/// What a lookup costs: all peers take turns in each round of each operation.
struct LookupStage {
  let source: any CatalogueSource
  let keys: KeySets
  let options: CompareOptions

  func run(_ entrants: [Entrant], _ figures: inout Figures) throws {
    for entrant in entrants where !entrant.peer.isInMemory { try PageCache.fill(entrant.directory) }
    let open = try entrants.map { try OpenEntrant($0, sessions: 2) }
    defer { for one in open { one.close() } }
    for one in open {
      complain("checking \(one.name)")
      try checkProducts(one)
      for operation in [Operation.hit, .byId, .miss, .relations] {
        try one.visit(operation, keys[operation], atMost: options.isQuick ? 0.2 : 6)
      }
    }
    complain("lookups, \(options.rounds) rounds")
    let ourBytes = try FillStage.byteCount(entrants[0].directory)
    let chase = try PointerChase(byteCount: Int(ourBytes), seed: options.seed)
    var steps: [Double] = []
    var times: [Measure: [[Double]]] = [:]
    var sizes: [Operation: [Int]] = [:]
    for round in 0..<options.rounds {
      steps.append(Elapsed.of { chase.run(100_000) }.1.processor / 100_000)
      for operation in Operation.allCases where keys[operation].count > 0 {
        if round == 0 { sizes[operation] = try open.map { try blockSize($0, operation) } }
        add(
          .lookup(operation), &times,
          try open.enumerated().map { number, one in
            try one.sessions[0].has(operation) ? one.block(operation, keys[operation], sizes[operation]![number]) : nil
          })
      }
      add(
        .twoThreads, &times,
        try open.enumerated().map { number, one in
          try one.blockOnTwoThreads(keys.barcodes, 2 * sizes[.hit]![number])
        })
    }
    figures.add(.chase, [("reference", steps)])
    let measures = Operation.allCases.map { Measure.lookup($0) } + [.twoThreads]
    for measure in measures {
      guard let values = times[measure] else { continue }
      figures.add(measure, zip(open, values).map { ($0.name, $1) })
    }
    figures.add(
      .speedup,
      open.enumerated().map { number, one in
        (one.name, zip(times[.lookup(.hit)]![number], times[.twoThreads]![number]).map { $0 / $1 })
      })
  }

  private func blockSize(_ one: OpenEntrant, _ operation: Operation) throws -> Int {
    if !one.sessions[0].has(operation) { return 0 }
    return try one.blockSize(operation, keys[operation], milliseconds: Double(options.blockMilliseconds))
  }

  private func add(_ measure: Measure, _ times: inout [Measure: [[Double]]], _ values: [Double?]) {
    for (number, value) in values.enumerated() {
      guard let value else { continue }
      times[measure, default: values.map { _ in [] }][number].append(value)
    }
  }

  /// Every field of some products has to be what the source says.
  private func checkProducts(_ one: OpenEntrant) throws {
    guard one.sessions[0].has(.product) else { return }
    var random = KeyRandom(options.seed)
    var row = ProductRow()
    for _ in 0..<500 {
      source.product(random.below(source.productCount), revision: 0, into: &row)
      let expected = Product(row)
      guard try one.sessions[0].product(expected.id) == expected else {
        throw PeerFailure(one.name, "product \(expected.id) is not as it was written")
      }
    }
  }
}
