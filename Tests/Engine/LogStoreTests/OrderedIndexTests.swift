import Bytes
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import LogStore

/// Ordered indexes of a store whose rows have a number as their only key, and any number of words.
@Suite struct OrderedIndexTests {
  /// A table of rows with words, which an ordered index finds.
  private static let words = Schema.OrderedIndex("words", hasFragments: true) { (record, receive) throws(StoreError) in
    for word in String(decoding: record.body.copied(), as: UTF8.self).split(separator: " ") {
      receive(Array(("w" + word).utf8).rawSpan)
    }
  }
  private static let schema = Schema([
    Schema.Table("rows", keySpaces: [Schema.KeySpace("id", isUnique: true)], orderedIndexes: [words])
  ])
  private static let id = KeySpaceID(table: 0, index: 0)

  /// A writer and what it should hold: the words of each row.
  private struct Case {
    var store: TestStore
    var writer: StoreWriter
    var rows: [Int: String] = [:]
    var random: SeededGenerator

    init(_ name: String, flushLimit: Int? = nil) throws {
      store = TestStore(flushLimit: flushLimit)
      writer = try store.writer(OrderedIndexTests.schema)
      random = SeededGenerator(for: name)
    }

    mutating func word() -> String {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return "common"
      case 1: return "\(Int.random(in: 1000..<1100, using: &random))"
      case 2: return "w\(Int.random(in: 0..<50, using: &random))"
      default:
        let count = Int.random(in: 1...260, using: &random)
        return String((0..<count).map { _ in "abcdefgh".randomElement(using: &random)! })
      }
    }

    mutating func commit(puts: Int, deletions: Int, ids: Int, replacing: Bool = false) throws -> Snapshot {
      let transaction = try replacing ? writer.beginGeneration() : writer.begin()
      if replacing { rows = [:] }
      var draft = RecordDraft()
      // Deletions act on what was there before.
      for _ in 0..<deletions {
        let id = Int.random(in: 0..<ids, using: &random)
        if try transaction.delete(OrderedIndexTests.id, Array("\(id)".utf8).rawSpan) > 0 { rows[id] = nil }
      }
      for _ in 0..<puts {
        let id = Int.random(in: 0..<ids, using: &random)
        let text = (0..<Int.random(in: 0...4, using: &random)).map { _ in word() }.joined(separator: " ")
        rows[id] = text
        draft.reset()
        draft.addKey(Array("\(id)".utf8).rawSpan)
        draft.body = Array(text.utf8)
        if transaction.orderedIndexes(of: 0) == ["words"] {
          for word in text.split(separator: " ") { draft.orderedKeys.add(0, Array(("w" + word).utf8).rawSpan) }
        }
        try transaction.put(0, draft)
      }
      return try writer.commit(transaction)
    }

    /// The pairs of a key and an id that the index should have, in order of the keys.
    var expected: [[UInt8]: Set<Int>] {
      var keys: [[UInt8]: Set<Int>] = [:]
      for (id, text) in rows {
        for word in text.split(separator: " ") { keys[Array(("w" + word).utf8.prefix(255)), default: []].insert(id) }
      }
      return keys
    }
  }

  private func id(_ record: borrowing RecordView) -> Int {
    Int(String(decoding: record.key(0).copied(), as: UTF8.self)) ?? -1
  }

  private func check(_ snapshot: Snapshot, _ expected: [[UInt8]: Set<Int>]) throws {
    let index = try #require(snapshot.orderedIndex(0, named: "words"))
    let keys = expected.keys.sorted { $0.lexicographicallyPrecedes($1) }
    var found: [(key: [UInt8], row: RowID, id: Int)] = []
    try snapshot.forEachRecord(inOrderOf: index) { (key, record) throws(StoreError) in
      found.append((key.copied(), record.rowID, id(record)))
      return true
    }
    #expect(found.count == expected.values.reduce(0) { $0 + $1.count })
    var position = 0
    for key in keys {
      let count = try #require(expected[key]).count
      try #require(position + count <= found.count)
      let part = found[position..<position + count]
      try #require(part.allSatisfy { $0.key == key })
      try #require(Set(part.map(\.id)) == expected[key])
      try #require(zip(part, part.dropFirst()).allSatisfy { $0.row < $1.row })
      position += count
    }
    // Backward, and from any place in both directions.
    var cursor = try snapshot.cursor(index, from: .end, backward: true)
    for pair in found.reversed() {
      try #require(try cursor.next())
      let key = cursor.key.copied()
      try #require(cursor.row == pair.row && key == pair.key)
    }
    let isAtStart = try !cursor.next()
    #expect(isAtStart)
    // By key in both directions, and the rows of a key in the order of the file.
    for backward in [false, true] {
      let grouped = backward ? keys.reversed().flatMap { key in found.filter { $0.key == key } } : found
      var cursor = try snapshot.keyOrderCursor(index, from: backward ? .end : .start, backward: backward)
      var last: [UInt8]?
      for pair in grouped {
        try #require(try cursor.next())
        try #require(cursor.row == pair.row && cursor.key == pair.key && cursor.isFirstOfKey == (last != pair.key))
        try #require(cursor.isOnlyOfKey == (expected[pair.key]?.count == 1))
        last = pair.key
      }
      let isAtEnd = try !cursor.next()
      #expect(isAtEnd)
    }
    try checkWalks(snapshot, index, found)
    // Up to a limit.
    for limit in [0, 1, 20, found.count + 1] {
      var count = 0
      try snapshot.forEachRecord(inOrderOf: index, limit: limit) { (_, record) throws(StoreError) in
        count += record.rowID == found[count].row ? 1 : limit + 1
        return true
      }
      #expect(count == min(limit, found.count))
    }
    for place in Swift.stride(from: 0, to: found.count, by: max(1, found.count / 60)) {
      var forward = try snapshot.cursor(index, from: .before(found[place].key, found[place].row))
      var after = try snapshot.cursor(index, from: .after(found[place].key, found[place].row))
      var backward = try snapshot.cursor(index, from: .before(found[place].key, found[place].row), backward: true)
      try #require(try forward.next())
      #expect(forward.row == found[place].row)
      let isLater = try after.next()
      #expect(isLater == (place + 1 < found.count))
      if place + 1 < found.count { #expect(after.row == found[place + 1].row) }
      let isEarlier = try backward.next()
      #expect(isEarlier == (place > 0))
      if place > 0 { #expect(backward.row == found[place - 1].row) }
      var first = try snapshot.cursor(index, from: .before(found[place].key))
      try #require(try first.next())
      let key = first.key.copied()
      #expect(key == found[place].key)
      let counted = try snapshot.rowCount(inOrderOf: index, to: .before(found[place].key, found[place].row))
      #expect(counted.isExact ? counted.count == place : counted.count >= place)
      // Rows of one key, and keys by any part of their text.
      var rows: [UInt32] = []
      try snapshot.appendRows(of: key.rawSpan, in: index, to: &rows)
      #expect(zip(rows, rows.dropFirst()).allSatisfy { $0 < $1 })
      // In parts, from the row after the last one on.
      var inParts: [UInt32] = []
      while true {
        let count = inParts.count
        try snapshot.appendRows(
          of: key.rawSpan, after: inParts.last ?? 0, in: index, to: &inParts, limit: count + 1 + place % 40)
        if inParts.count == count { break }
      }
      #expect(inParts == rows)
      let live = Set(rows).intersection(found.filter { $0.key == found[place].key }.map { UInt32($0.row.number) })
      #expect(live.count == expected[found[place].key]?.count)
    }
  }

  /// Walks ranges in both directions, from their beginning or a key, with the rows of a key in the order of the file or
  /// of their ids.
  private func checkWalks(
    _ snapshot: Snapshot, _ index: OrderedIndexID, _ found: [(key: [UInt8], row: RowID, id: Int)]
  ) throws {
    let ranges = ["w1", "wc", "ww"].map { KeyRange(prefix: Array($0.utf8)) }
    let inside = found.filter { pair in ranges.contains { $0.contains(pair.key) } }
    for (isBackward, sortsTies) in [(false, false), (false, true), (true, false), (true, true)] {
      for (firstKey, wanted) in [(nil, Int.max), (nil, 30), ("wcommon", .max), ("w1050", 1), ("wd", .max)] {
        let first = firstKey.map { Array($0.utf8) }
        let rest = inside.filter { pair in
          guard let first else { return true }
          return isBackward ? !first.lexicographicallyPrecedes(pair.key) : !pair.key.lexicographicallyPrecedes(first)
        }
        let expected = rest.sorted { a, b in
          if a.key != b.key { return a.key.lexicographicallyPrecedes(b.key) != isBackward }
          return sortsTies ? a.id < b.id : a.row < b.row
        }
        var walk = try OrderedWalk(
          snapshot, index, ranges, isBackward: isBackward, sortsTies: sortsTies, from: first, wanted: wanted)
        while try walk.next() {
          if walk.needsSortKey, let record = try snapshot.record(walk.row, table: 0) {
            walk.addRow(sortKey: [UInt8(id(record) >> 8), UInt8(id(record) & 0xFF)])
          } else {
            walk.addRow()
          }
        }
        let rows = walk.rows
        #expect(rows == expected.prefix(wanted).map(\.row), "\(isBackward), \(sortsTies), \(firstKey ?? "")")
      }
    }
  }

  private func checkFragments(_ snapshot: Snapshot, _ expected: [[UInt8]: Set<Int>], _ parts: [String]) throws {
    let index = try #require(snapshot.orderedIndex(0, named: "words"))
    for part in parts {
      var found: Set<[UInt8]> = []
      let bytes = Array(part.utf8)
      try snapshot.forEachKey(containing: bytes.rawSpan, of: index) { (key, _) throws(StoreError) in
        found.insert(key.copied())
        return true
      }
      let wanted = expected.keys.filter { String(decoding: $0.dropFirst(), as: UTF8.self).contains(part) }
      #expect(found.isSuperset(of: wanted), "\(part)")
      #expect(found.allSatisfy { String(decoding: $0.dropFirst(), as: UTF8.self).contains(part) })
    }
  }

  @Test(arguments: [nil, 700])
  func `an ordered index has every key of every live row after any commits`(_ flushLimit: Int?) throws {
    var test = try Case("OrderedIndexTests, commits, \(flushLimit ?? 0)", flushLimit: flushLimit)
    var snapshot = try test.commit(puts: 3000, deletions: 0, ids: 4000)
    try check(snapshot, test.expected)
    for number in 0..<60 {
      let isLarge = number % 20 == 19
      snapshot = try test.commit(puts: isLarge ? 900 : 20, deletions: isLarge ? 300 : 10, ids: 4000)
      if number % 15 == 14 {
        try check(snapshot, test.expected)
        try checkFragments(
          snapshot, test.expected, ["abc", "100", "1005", "mmo", "common", "05", "w1"].filter { $0.count > 2 })
      }
    }
    snapshot = try #require(try test.writer.compact())
    try check(snapshot, test.expected)
    snapshot = try test.commit(puts: 500, deletions: 0, ids: 1000, replacing: true)
    try check(snapshot, test.expected)
    let findings = try Verification.run(test.store.location)?.findings
    #expect(findings?.isEmpty == true, "\(findings ?? [])")
  }

  @Test func `an empty store and an empty index have no rows in order`() throws {
    var test = try Case("OrderedIndexTests, empty")
    let snapshot = try test.commit(puts: 0, deletions: 0, ids: 10)
    try check(snapshot, [:])
    let again = try test.commit(puts: 1, deletions: 0, ids: 1)
    try check(again, test.expected)
    let gone = try test.commit(puts: 0, deletions: 50, ids: 1)
    try check(gone, [:])
  }
}
