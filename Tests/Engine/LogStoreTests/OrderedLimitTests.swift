import Bytes
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Ordered indexes at their limits, and when they come and go.
@Suite struct OrderedLimitTests {
  /// An index whose keys the body lists: each is a length and its bytes, which may be more than an index takes.
  private static func listed(_ name: String = "listed", isWanted: Bool = true) -> Schema.OrderedIndex {
    Schema.OrderedIndex(name, hasFragments: true, isWanted: isWanted) { (record, receive) throws(StoreError) in
      let body = record.body
      var offset = 0
      while offset + 2 <= body.byteCount {
        let count = Int(body.u16(at: offset))
        receive(body.slice(offset + 2, count))
        offset += 2 + count
      }
    }
  }

  private static func schema(_ indexes: [Schema.OrderedIndex]) -> Schema {
    Schema([Schema.Table("rows", keySpaces: [Schema.KeySpace("id", isUnique: true)], orderedIndexes: indexes)])
  }

  private static let id = KeySpaceID(table: 0, index: 0)

  private func put(_ transaction: Transaction, _ id: Int, _ keys: [[UInt8]]) throws {
    var draft = RecordDraft()
    draft.addKey(Array("\(id)".utf8).rawSpan)
    for key in keys { draft.body += [UInt8(key.count & 0xFF), UInt8(key.count >> 8)] + key }
    for index in transaction.orderedIndexes(of: 0).indices {
      for key in keys { draft.orderedKeys.add(index, key.rawSpan) }
    }
    try transaction.put(0, draft)
  }

  /// The keys of each id, as an index lists them in order.
  private func ids(_ snapshot: Snapshot, _ name: String = "listed") throws -> [[UInt8]: [Int]] {
    let index = try #require(snapshot.orderedIndex(0, named: name))
    var found: [[UInt8]: [Int]] = [:]
    try snapshot.forEachRecord(inOrderOf: index) { (key, record) throws(StoreError) in
      found[key.copied(), default: []].append(Int(String(decoding: record.key(0).copied(), as: UTF8.self)) ?? -1)
      return true
    }
    return found.mapValues { $0.sorted() }
  }

  private func expectClean(_ store: TestStore, _ snapshot: Snapshot, _ schema: Schema) throws {
    #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
    #expect(try snapshot.orderedFindings(schema).map(\.description) == [])
  }

  @Test func `keys of no bytes, of 255 and of more are entered once for each row`() throws {
    let schema = Self.schema([Self.listed()])
    let store = TestStore()
    let writer = try store.writer(schema)
    let long = [UInt8](repeating: 0x61, count: 255)
    _ = try writer.commit { transaction in
      try put(transaction, 1, [[], [], long, long + [1], long + [2, 3]])
      try put(transaction, 2, [[], [0], [0, 0], Array(long.dropLast())])
      try put(transaction, 3, [])
      try put(transaction, 4, (0..<5000).map { Array("many \($0 % 2500)".utf8) })
    }
    for snapshot in [try #require(writer.snapshot), try #require(try writer.compact())] {
      let found = try ids(snapshot)
      #expect(found[[]] == [1, 2] && found[long] == [1] && found[[0]] == [2] && found[[0, 0]] == [2])
      #expect(found[Array(long.dropLast())] == [2])
      #expect(found.count == 2505 && found.values.allSatisfy { $0.count <= 2 })
      #expect(found[Array("many 2499".utf8)] == [4])
      try expectClean(store, snapshot, schema)
    }
    // Merged with other blocks of the tail, and less of what died.
    _ = try writer.commit { try put($0, 5, [[], long]) }
    _ = try writer.commit { transaction in
      try put(transaction, 6, [long + [9]])
      try transaction.delete(Self.id, Array("1".utf8).rawSpan)
    }
    let last = try #require(writer.snapshot)
    #expect(try ids(last)[[]] == [2, 5] && ids(last)[long] == [5, 6])
    try expectClean(store, last, schema)
  }

  /// The pages of a block with these pairs, checked against all rules of the format.
  private func check(_ pairs: [(key: [UInt8], row: UInt32)], hasFragments: Bool) throws {
    var table = OrderedKeyTable(seed: HashSeed(1, 2))
    for pair in pairs { table.add(pair.key.rawSpan, pair.row) }
    table.sort()
    var expected: [[UInt8]: [UInt32]] = [:]
    for pair in pairs where expected[pair.key]?.last != pair.row { expected[pair.key, default: []].append(pair.row) }
    #expect(table.keyCount == expected.count && table.rowCount == expected.values.reduce(0) { $0 + $1.count })
    let space = SpillSpace(nextTo: TestStore(flushLimit: 1000).location)
    var writer = OrderedBlockWriter(at: 64 * 500, hasFragments: hasFragments, space, seal: nil)
    try table.forEachKeyInOrder { (key, rows) throws(StoreError) in try writer.append(key, rows) }
    // The same keys one at a time.
    var (first, key, rows) = (0, [UInt8](), [UInt32]())
    for position in 0..<table.keyCount {
      table.read(position, &first, &key, &rows)
      if rows != expected[key] { Issue.record("key \(key) has other rows") }
    }
    var bytes: [UInt8] = []
    let block = try writer.finish { bytes += $0 }
    let unit = UnitOffset(byteOffset: 64 * 500)
    let header = try OrderedBlockHeader(bytes.rawSpan, at: unit)
    #expect(bytes.count == block.byteCount && Int(block.rowCount) == table.rowCount)
    var found: [[UInt8]: [UInt32]] = [:]
    var check = OrderedTreeCheck(header.mainTree)
    try check.run(block: unit, read: { Array(bytes[$0..<$0 + $1]) }) { _, leaf in
      for entry in 0..<leaf.entryCount {
        found[leaf.key(entry).copied(), default: []] += leaf.rows[leaf.rowRange(entry)]
      }
    }
    #expect(found == expected)
    #expect(check.entryCount == Int(block.entryCount))
    if let tree = header.fragmentTree {
      var check = OrderedTreeCheck(tree)
      try check.run(block: unit, read: { Array(bytes[$0..<$0 + $1]) }, visit: { _, _ in })
    }
  }

  @Test func `one key has any number of rows`() throws {
    try check((0..<300_000).map { ([1, 2, 3], UInt32(2000 + 14 * $0)) }, hasFragments: false)
    try check((0..<3000).map { (Array("wcommon".utf8), UInt32(2000 + 14_000 * $0)) }, hasFragments: true)
  }

  @Test func `there are any number of distinct keys, and some that come again`() throws {
    var random = SeededGenerator(for: "OrderedLimitTests, distinct")
    var pairs: [(key: [UInt8], row: UInt32)] = []
    for row in 0..<100_000 as Range<UInt32> {
      let number = random.next() % 100_000_000_000
      pairs.append((Array("69\(number)".utf8), 2000 + 9 * row))
      // After so many distinct keys, they are no longer looked up: the same one again, of this row and of others.
      if row % 50 == 0 { pairs.append(pairs[pairs.count - 1]) }
      if row % 70 == 0 { pairs.append((pairs[Int(random.next() % UInt64(pairs.count))].key, 2000 + 9 * row)) }
      if row > 80_000, row % 100 == 0 { pairs.append((Array("69again".utf8), 2000 + 9 * row)) }
    }
    try check(pairs, hasFragments: false)
  }

  @Test func `an index is added to a store with rows, and removed, like any other change`() throws {
    let store = TestStore()
    let schema = Self.schema([Self.listed(), Self.listed("late", isWanted: false)])
    let writer = try store.writer(schema)
    func keys(_ id: Int) -> [[UInt8]] { [Array("key \(id % 7)".utf8), Array("id \(id)".utf8)] }
    _ = try writer.commit { transaction in for id in 0..<50 { try put(transaction, id, keys(id)) } }
    let first = try writer.commit { transaction in for id in 40..<60 { try put(transaction, id, keys(id)) } }
    #expect(first.orderedIndexes(of: 0) == ["listed"])
    // Deletions before and after it in the same transaction count, and so do rows that are put after it.
    let second = try writer.commit { transaction in
      try transaction.delete(Self.id, Array("3".utf8).rawSpan)
      try transaction.addOrderedIndex(0, Self.listed("late"))
      try transaction.delete(Self.id, Array("4".utf8).rawSpan)
      #expect(transaction.orderedIndexes(of: 0) == ["listed", "late"])
      for id in 5..<8 { try put(transaction, id, keys(id + 1)) }
    }
    try expectClean(store, second, schema)
    #expect(try ids(second) == ids(second, "late"))
    #expect(try ids(second)[Array("id 3".utf8)] == nil && ids(second)[Array("id 7".utf8)] == [6])
    // It is merged from then on.
    for id in 100..<130 { _ = try writer.commit { try put($0, id, keys(id)) } }
    let third = try #require(writer.snapshot)
    try expectClean(store, third, schema)
    #expect(third.manifest.tables[0].orderedIndexes[1].blocks.count < 9)
    // A rollback to a commit without the index leaves it, with the keys of the rows that are back.
    let back = try writer.rollback(to: try #require(try third.snapshot(at: first.sequence))) { _, _ in }
    #expect(back.orderedIndexes(of: 0) == ["listed", "late"])
    #expect(try ids(back) == ids(first) && ids(back, "late") == ids(first))
    try expectClean(store, back, schema)
    // What nobody wants, a compaction leaves out.
    let compacted = try #require(try writer.compact())
    #expect(compacted.orderedIndexes(of: 0) == ["listed"])
    #expect(try ids(compacted) == ids(first))
    let removed = try writer.commit { transaction in
      transaction.removeOrderedIndex(0, named: "listed")
      transaction.removeOrderedIndex(0, named: "unknown")
      try put(transaction, 1, [])
    }
    #expect(removed.orderedIndexes(of: 0) == [] && removed.orderedIndex(0, named: "listed") == nil)
    // Removed and added in one transaction, it is made anew.
    let again = try writer.commit { transaction in
      try transaction.addOrderedIndex(0, Self.listed())
      transaction.removeOrderedIndex(0, named: "listed")
      try transaction.addOrderedIndex(0, Self.listed())
    }
    try expectClean(store, again, schema)
    #expect(try ids(again)[Array("id 9".utf8)] == [9])
    #expect { try writer.commit { try $0.addOrderedIndex(0, Self.listed()) } } throws: { error in
      if case StoreError.schema = error { true } else { false }
    }
  }

  @Test func `an index that is not known is dropped by the next commit, and made anew by a compaction`() throws {
    let store = TestStore()
    let known = Self.schema([Self.listed()])
    var writer = try store.writer(known)
    let before = try writer.commit { transaction in for id in 0..<9 { try put(transaction, id, [[UInt8(id)]]) } }
    writer.close()
    writer = try store.writer(Self.schema([]))
    let after = try writer.commit { try put($0, 9, [[9]]) }
    #expect(after.orderedIndexes(of: 0) == [])
    #expect(try ids(before).count == 9)
    #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
    writer.close()
    writer = try store.writer(known)
    let next = try writer.commit { try put($0, 10, [[10]]) }
    #expect(next.orderedIndexes(of: 0) == [])
    let compacted = try #require(try writer.compact())
    #expect(try ids(compacted).count == 11)
    try expectClean(store, compacted, known)
  }

  @Test func `what is wanted decides a compaction alone`() throws {
    let store = TestStore()
    for (round, isWanted) in [true, false, true].enumerated() {
      let schema = Self.schema([Self.listed(isWanted: isWanted)])
      let writer = try store.writer(schema)
      let snapshot = try writer.commit { transaction in
        for id in 0..<20 { try put(transaction, id, [[UInt8(id), UInt8(round)]]) }
      }
      // The second writer keeps it up to date; the third finds a store that was compacted without it.
      #expect(snapshot.orderedIndexes(of: 0) == (round == 2 ? [] : ["listed"]))
      if round < 2 { try expectClean(store, snapshot, schema) }
      let compacted = try #require(try writer.compact())
      #expect(compacted.orderedIndexes(of: 0) == (isWanted ? ["listed"] : []))
      try expectClean(store, compacted, schema)
      if isWanted { #expect(try ids(compacted).count == 20) }
      writer.close()
    }
  }

  /// Collections of documents are such tables: the schema of the writer does not have them.
  @Test func `a rollback drops an index of a table that the schema does not have`() throws {
    let store = TestStore()
    let table = Self.schema([Self.listed()]).tables[0]
    var writer = try store.writer(Schema([]))
    let first = try writer.commit { transaction in
      #expect(try transaction.table(table) == 0)
      for id in 0..<5 { try put(transaction, id, [[UInt8(id)]]) }
    }
    _ = try writer.commit { transaction in
      _ = try transaction.table(table)
      try transaction.delete(Self.id, Array("2".utf8).rawSpan)
    }
    writer.close()
    writer = try store.writer(Schema([]))
    let last = try #require(writer.snapshot)
    #expect(last.orderedIndexes(of: 0) == ["listed"])
    let back = try writer.rollback(to: try #require(try last.snapshot(at: first.sequence))) { _, _ in }
    // Without its keys in it, the row would be missing there.
    #expect(back.rowCount(0) == 5 && back.orderedIndexes(of: 0) == [])
    // A compaction keeps such an index otherwise.
    let other = TestStore()
    let before = try other.writer(Schema([]))
    _ = try before.commit { transaction in
      _ = try transaction.table(table)
      for id in 0..<5 { try put(transaction, id, [[UInt8(id)]]) }
    }
    before.close()
    let compacted = try #require(try other.writer(Schema([])).compact())
    #expect(try ids(compacted).count == 5)
  }

  @Test func `a cursor that met damage goes on telling so`() throws {
    let store = TestStore()
    let schema = Self.schema([Self.listed()])
    let writer = try store.writer(schema)
    let snapshot = try writer.commit { transaction in
      for id in 0..<400 { try put(transaction, id, [Array("a rather long key \(1000 + id)".utf8)]) }
    }
    writer.close()
    let block = snapshot.manifest.tables[0].orderedIndexes[0].blocks[0]
    var log = store.log
    log[Int(block.offset) + 64 + 2048 + 100] ^= 1
    let damaged = try #require(try store.with(log: log).reader()).snapshot
    var cursor = try damaged.cursor(try #require(damaged.orderedIndex(0, named: "listed")))
    var count = 0
    #expect(throws: StoreError.self) { while try cursor.next() { count += 1 } }
    #expect(count > 20)
    for _ in 0..<3 { #expect(throws: StoreError.self) { _ = try cursor.next() } }
  }

  @Test func `a full device in the middle of an ordered block leaves the commit before`() throws {
    let store = TestStore(flushLimit: 700)
    let schema = Self.schema([Self.listed()])
    var writer = try store.writer(schema)
    let before = try writer.commit { transaction in for id in 0..<10 { try put(transaction, id, [[UInt8(id)]]) } }
    let wanted = try ids(before)
    let used = store.device.byteCount
    var refusals = 0
    for room in Swift.stride(from: 0, to: 60_000, by: 4096) {
      store.device.limit(to: used + room)
      do {
        let full = try writer.commit { transaction in
          for id in 0..<200 { try put(transaction, id, [Array("key \(id) of a row".utf8), [UInt8(id)]]) }
        }
        #expect(try ids(full).count == 400)
        break
      } catch {
        refusals += 1
        writer.close()
        store.device.limit(to: 1 << 50)
        writer = try store.writer(schema)
        let snapshot = try #require(writer.snapshot)
        #expect(try ids(snapshot) == wanted)
        try expectClean(store, snapshot, schema)
      }
    }
    #expect(refusals > 2)
  }
}
