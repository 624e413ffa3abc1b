import Bytes
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// A small store with three commits, everything that can be asked of each, and what a damaged copy may answer.
struct DamageSample {
  /// A commit: what it shows, and where it ends.
  struct Commit {
    var contents: StoreContents
    var end: Int
    /// Each key that has rows at any commit, and the rows that it has at this one.
    var lookups: [(space: KeySpaceID, key: [UInt8], rows: [TestRow])] = []
    /// Everything that each ordered index has.
    var ordered: [(table: Int, name: String, pairs: [OrderedPair])] = []
  }

  private(set) var log: [UInt8]
  private(set) var commits: [Commit] = []
  /// The last commit that a slot vouches for.
  private(set) var acknowledged = 3

  /// A store whose last commit no slot vouches for, if `isAcknowledged` is false.
  init(isAcknowledged: Bool = true) throws {
    let store = TestStore()
    let writer = try store.writer()
    var snapshots: [Snapshot] = []
    snapshots.append(
      try writer.commit { transaction in
        for id in 0..<8 { try transaction.put("\(id)", "code", shared: ["brand"], body: "body") }
        try transaction.put("0", "lost")
        try transaction.put(1, TestRow("from", "to", shared: ["text"]))
      })
    snapshots.append(
      try writer.commit { transaction in
        try transaction.put("1", "code", body: "new")
        try transaction.delete(TestSchema.id, "2")
        transaction.state = [1, 2, 3]
      })
    let slots = AcknowledgementSlot.offsets[0]..<SegmentHeader.firstOffset
    let earlier = store.log[slots]
    snapshots.append(try writer.commit { try $0.put(1, TestRow("x", "to")) })
    commits = try snapshots.map { snapshot in
      var commit = Commit(contents: try StoreContents(snapshot), end: snapshot.end)
      for table in 0..<2 {
        for name in snapshot.orderedIndexes(of: table) {
          let index = try #require(snapshot.orderedIndex(table, named: name))
          commit.ordered.append((table, name, try snapshot.pairs(of: index)))
        }
      }
      return commit
    }
    writer.close()
    log = store.log
    if !isAcknowledged {
      acknowledged = 2
      log.replaceSubrange(slots, with: earlier)
    }
    var asked: Set<[[UInt8]]> = []
    for (number, space) in TestSchema.all.enumerated() {
      for commit in commits {
        for row in commit.contents.tables[space.table] where !row.keys[space.index].isEmpty {
          let key = row.keys[space.index]
          guard asked.insert([[UInt8(number)], key]).inserted else { continue }
          for index in commits.indices {
            let rows = commits[index].contents.tables[space.table].filter { $0.keys[space.index] == key }
            commits[index].lookups.append((space, key, rows))
          }
        }
      }
    }
  }

  /// The first byte that no slot vouches for.
  var acknowledgedEnd: Int { commits[acknowledged - 1].end }

  /// What a damaged copy answered.
  enum Answer: Equatable {
    case refused
    /// It opened, at this commit, and refused so many of the questions.
    case opened(Int, refused: Int)
  }

  /// Asks a store whose log was this one before its bytes in `damage` changed everything that can be asked.
  ///
  /// - Throws: `Oddity` for an answer that is neither right nor an error that names file and offset.
  func ask(_ store: TestStore, damage: [Range<Int>]) throws -> Answer {
    let isTailOnly = damage.allSatisfy { $0.lowerBound >= acknowledgedEnd }
    let first = damage.map(\.lowerBound).min() ?? 0
    // A lookup reads a page or a block at a time: never more than verification's window, whatever lengths say.
    defer { #expect(store.device.largestRead <= max(log.count, 4 << 20)) }
    _ = try refusal { _ = try Verification.run(store.location) }
    var reader: StoreReader?
    if let error = try refusal({ reader = try store.reader() }) {
      if case .damaged(_, let offset, _) = error, offset > first, damage.count == 1, damage[0].count == 1 {
        throw Oddity(what: "blamed on \(offset)")
      }
      if isTailOnly { throw Oddity(what: "\(error)") }
      return .refused
    }
    guard let snapshot = reader?.snapshot else { throw Oddity(what: "a damaged store is not an empty one") }
    let number = Int(snapshot.sequence)
    // A slot whose page is whole vouches for its commit; without any, an older commit is all that can be known.
    let vouched = AcknowledgementSlot.offsets.filter { offset in
      !damage.contains { $0.overlaps(offset..<offset + 4096) }
    }.map { Int(log.rawSpan.u64(at: $0 + 24)) }
    guard number >= vouched.max() ?? 1, (1...3).contains(number) else {
      throw Oddity(what: "commit \(number) where \(vouched) were vouched for")
    }
    var refused = try answers(snapshot, commits[number - 1])
    if try refusal({ try reader?.refresh() }) != nil { refused += 1 }
    for question in [{ _ = try snapshot.history() }, { _ = try snapshot.statistics() }] {
      if try refusal(question) != nil { refused += 1 }
    }
    if isTailOnly, refused > 0 { throw Oddity(what: "\(refused) questions are refused") }
    return .opened(number, refused: refused)
  }

  /// Scans, and asks for every key. Returns how many of these end in an error; a wrong row is none.
  func answers(_ snapshot: Snapshot, _ commit: Commit) throws -> Int {
    var refused = 0
    func expect(_ rows: [TestRow], _ question: () throws -> [TestRow]) throws {
      var found: [TestRow] = []
      if try refusal({ found = try question() }) != nil {
        refused += 1
      } else if found != rows {
        throw Oddity(what: "\(found) instead of \(rows)")
      }
    }
    for table in 0..<2 { try expect(commit.contents.tables[table]) { try snapshot.rows(table) } }
    for lookup in commit.lookups { try expect(lookup.rows) { try snapshot.rows(lookup.space, lookup.key) } }
    try expect([]) { try snapshot.rows(TestSchema.id, "nobody") }
    for (table, name, pairs) in commit.ordered {
      guard let index = snapshot.orderedIndex(table, named: name) else { throw Oddity(what: "no index \(name)") }
      for backward in [false, true] {
        var found: [OrderedPair] = []
        if try refusal({ found = try snapshot.pairs(of: index, backward: backward) }) != nil {
          refused += 1
        } else if found != (backward ? pairs.reversed() : pairs) {
          throw Oddity(what: "the ordered index \(name) has \(found) instead of \(pairs)")
        }
      }
    }
    guard snapshot.state == commit.contents.state else { throw Oddity(what: "state \(snapshot.state)") }
    return refused
  }

  /// The error in which `body` ends; `nil` if it does not.
  ///
  /// - Throws: `Oddity` for one that names neither a damaged place nor why the file is none that can be used.
  private func refusal(_ body: () throws -> Void) throws -> StoreError? {
    do {
      try body()
      return nil
    } catch let error as StoreError {
      switch error {
      case .damaged(let path, let offset, _) where path == "/simulated/s.log" && offset <= max(log.count, 1 << 31):
        return error
      case .unreadable(let path, let offset) where path == "/simulated/s.log" && offset <= log.count: return error
      case .unusable(let path, _) where path == "/simulated/s.log": return error
      default: throw Oddity(what: "\(error)")
      }
    }
  }
}
