import BenchmarkSupport
import Dispatch
import Synchronization

/// Durable updates of 1000 rows in turn, lookups while they wait to be compacted, and lookups while that happens.
struct UpdateStage {
  let source: any CatalogueSource
  let options: CompareOptions

  func run(_ entrants: [Entrant], in folder: WorkFolder, _ figures: inout Figures) throws {
    let entrants = try Self.updated(entrants, in: folder)
    var open: [OpenEntrant] = []
    defer {
      for one in open { one.close() }
      for entrant in entrants where folder.isKept { _ = try? Subprocess.run(["rm", "-rf", entrant.directory]) }
    }
    for entrant in entrants { open.append(try OpenEntrant(entrant, forUpdates: true)) }
    let plan = IncrementPlan(source)
    let limit = min(options.increments, plan.limit)
    complain("\(limit) increments")
    var times = open.map { (peer: $0.name, values: [Double]()) }
    for number in 0...limit {
      if [0, 10, 100].contains(number) { try measureLookups(open, plan, after: number, &figures) }
      if number == limit { break }
      let rows = plan.rows(number)
      for (place, one) in open.enumerated() {
        times[place].values.append(try Elapsed.of { try one.open.update(rows) }.1.wall)
      }
    }
    figures.add(.increment, times)
    try measureCompaction(open, plan, after: limit, &figures)
  }

  /// Those that take updates; on copies, where the files are kept.
  private static func updated(_ entrants: [Entrant], in folder: WorkFolder) throws -> [Entrant] {
    try entrants.filter(\.peer.canBeUpdated).map { entrant in
      if !folder.isKept { return entrant }
      let copy = try folder.scratch("updated-\(entrant.peer.store)")
      _ = try Subprocess.run(["cp", "-r", entrant.directory + "/.", copy])
      return Entrant(peer: entrant.peer, directory: copy)
    }
  }

  /// The bound finds nothing that was appended to it, so it is not asked.
  private func readers(_ open: [OpenEntrant]) -> [OpenEntrant] { open.filter { $0.entrant.peer.store != "bound" } }

  private func measureLookups(
    _ open: [OpenEntrant], _ plan: IncrementPlan, after number: Int, _ figures: inout Figures
  ) throws {
    let open = readers(open)
    let keys = plan.keys(after: number, hits: options.isQuick ? 20_000 : 200_000, misses: 20_000)
    for (measure, list, operation) in [
      (Measure.tailHit(number), keys.hits, Operation.hit), (.tailMiss(number), keys.misses, .miss),
    ] {
      let set = KeySet(list)
      var sizes: [Int] = []
      for one in open {
        try one.renewSessions()
        try one.visit(operation, set, atMost: options.isQuick ? 0.3 : 5)
        sizes.append(try one.blockSize(operation, set, milliseconds: Double(options.blockMilliseconds) / 2))
      }
      // What the increments wrote, and all that they deleted, has to be found or missed in every store.
      for one in open where number > 0 && operation == .hit {
        try one.visit(operation, KeySet(keys.tail), atMost: 60)
      }
      var times = open.map { (peer: $0.name, values: [Double]()) }
      for _ in 0..<min(options.rounds, 7) {
        for (place, one) in open.enumerated() {
          times[place].values.append(try one.block(operation, set, sizes[place]))
        }
      }
      figures.add(measure, times)
    }
  }

  // MARK: Compaction

  private func measureCompaction(
    _ open: [OpenEntrant], _ plan: IncrementPlan, after number: Int, _ figures: inout Figures
  ) throws {
    let keys = KeySet(plan.keys(after: number, hits: 100_000, misses: 0).hits)
    for one in readers(open) {
      guard let compaction = one.open.compaction else { continue }
      complain("compaction of \(one.name)")
      try one.renewSessions()
      try one.visit(.hit, keys, atMost: 2)
      let quiet = try Spread(latencies(one, keys, until: { $0 >= (options.isQuick ? 2e8 : 1e9) }))
      let ended = Atomic(false)
      let outcome = Mutex<Result<Double, any Error>>(.success(0))
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) {
        let result = Result { try Elapsed.of(compaction).1.wall }
        outcome.withLock { $0 = result }
        ended.store(true, ordering: .releasing)
      }
      let busy = Result { try latencies(one, keys, until: { _ in ended.load(ordering: .acquiring) }) }
      group.wait()
      let spread = Spread(try busy.get())
      let time = try outcome.withLock { try $0.get() }
      figures.add(.compaction, [(one.name, [time])])
      if let bytes = figures[.byteCount, one.name]?.values[0] {
        figures.add(.compactionRate, [(one.name, [bytes / time * 1e3])])
      }
      figures.add(.quietMedian, [(one.name, [quiet.median])])
      figures.add(.quietTail, [(one.name, [quiet.percentile(99)])])
      figures.add(.busyMedian, [(one.name, [spread.median])])
      figures.add(.busyTail, [(one.name, [spread.percentile(99)])])
    }
    figures.relate([.compaction])
  }

  /// The time of each lookup on its own, clock included, until `isOver` says so of the nanoseconds gone by.
  private func latencies(_ one: OpenEntrant, _ keys: KeySet, until isOver: (Double) -> Bool) throws -> [Double] {
    var times: [Double] = []
    var sum: UInt64 = 0
    var expected: UInt64 = 0
    var place = 0
    let start = Elapsed.wallNow()
    var last = start
    repeat {
      let before = Elapsed.wallNow()
      sum &+= try one.sessions[0].run(.hit, keys, place..<(place + 1))
      last = Elapsed.wallNow()
      if times.count < 20_000_000 { times.append(last - before) }
      expected &+= keys.bytes.expected[place]
      place = place + 1 == keys.count ? 0 : place + 1
    } while !isOver(last - start)
    guard sum == expected else { throw PeerFailure(one.name, "lookups beside a compaction went wrong") }
    return times
  }
}
