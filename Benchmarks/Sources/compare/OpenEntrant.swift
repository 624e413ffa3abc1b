import BenchmarkSupport

/// A peer that is open, with a session for each of two threads, and where its blocks of lookups have got to.
final class OpenEntrant {
  let entrant: Entrant
  let open: any OpenPeer
  private(set) var sessions: [any PeerSession] = []
  private var next: [Operation: Int] = [:]

  var name: String { entrant.peer.name }

  init(_ entrant: Entrant, forUpdates: Bool = false, sessions count: Int = 1) throws {
    self.entrant = entrant
    open = try entrant.peer.open(entrant.directory, forUpdates: forUpdates)
    for _ in 0..<count { sessions.append(try open.session()) }
  }

  /// Sessions that see what was committed meanwhile.
  func renewSessions() throws {
    let count = sessions.count
    sessions = []
    next = [:]
    for _ in 0..<count { sessions.append(try open.session()) }
  }

  func close() {
    sessions = []
    open.close()
  }

  /// Asks for every key once, without a clock: their pages are mapped afterwards. Gives up after so many seconds.
  func visit(_ operation: Operation, _ keys: KeySet, atMost seconds: Double) throws {
    if !sessions[0].has(operation) || keys.count == 0 { return }
    // The second thread is only asked for hits.
    for session in sessions.prefix(operation == .hit ? 2 : 1) {
      let start = Elapsed.wallNow()
      var place = 0
      while place < keys.count, Elapsed.wallNow() - start < seconds * 1e9 {
        let range = place..<min(place + 1000, keys.count)
        try check(operation, keys, range, try session.run(operation, keys, range))
        place = range.upperBound
      }
    }
  }

  func check(_ operation: Operation, _ keys: KeySet, _ range: Range<Int>, _ sum: UInt64) throws {
    let expected = keys.bytes.expectedSum(range)
    if sum != expected { throw PeerFailure(name, "\(operation.title) adds up to \(sum), and not to \(expected)") }
  }

  // MARK: Blocks

  /// How many lookups take about so long.
  func blockSize(_ operation: Operation, _ keys: KeySet, milliseconds: Double) throws -> Int {
    var count = min(64, keys.count)
    while true {
      let range = take(operation, keys, count)
      let (_, elapsed) = try Elapsed.of { try sessions[0].run(operation, keys, range) }
      if elapsed.processor >= milliseconds * 1e5 || count == keys.count {
        return max(16, Int(Double(count) * milliseconds * 1e6 / max(1, elapsed.processor)))
      }
      count = min(keys.count, 4 * count)
    }
  }

  /// Nanoseconds of one lookup in a block of `count`, after some that are not timed.
  ///
  /// Processor time: it stands still while somebody else has the core. No peer answers on another thread.
  func block(_ operation: Operation, _ keys: KeySet, _ count: Int) throws -> Double {
    try block(operation, keys, count) { range in
      let (sum, elapsed) = try Elapsed.of { try sessions[0].run(operation, keys, range) }
      return (sum, elapsed.processor)
    }
  }

  /// The same on two threads: the time that both need together, for each lookup.
  func blockOnTwoThreads(_ keys: KeySet, _ count: Int) throws -> Double {
    let sessions = sessions
    return try block(.hit, keys, count) { range in
      let (sum, elapsed) = try Elapsed.of {
        try TwoThreads.run(range) { thread, half in try sessions[thread].run(.hit, keys, half) }.0
      }
      return (sum, elapsed.wall)
    }
  }

  /// Where there are fewer keys than lookups, they come again.
  private func block(
    _ operation: Operation, _ keys: KeySet, _ wanted: Int, _ run: (Range<Int>) throws -> (UInt64, Double)
  ) throws -> Double {
    let warming = take(operation, keys, min(2000, wanted))
    _ = try sessions[0].run(operation, keys, warming)
    var time = 0.0
    var count = 0
    while count < wanted {
      let range = take(operation, keys, min(wanted - count, keys.count))
      let (sum, nanoseconds) = try run(range)
      try check(operation, keys, range, sum)
      time += nanoseconds
      count += range.count
    }
    return time / Double(count)
  }

  /// The keys that follow those of the last turn, from the beginning again where they end.
  private func take(_ operation: Operation, _ keys: KeySet, _ wanted: Int) -> Range<Int> {
    let count = min(wanted, keys.count)
    var start = next[operation] ?? 0
    if start + count > keys.count { start = 0 }
    next[operation] = start + count
    return start..<(start + count)
  }
}
