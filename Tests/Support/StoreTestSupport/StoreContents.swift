import Bytes
import LogStore

/// Everything that a commit shows: what a store is compared by.
package struct StoreContents: Hashable, Sendable {
  package var sequence: UInt64 = 0
  package var state: [UInt8] = []
  /// Sorted, by table.
  package var tables: [[TestRow]] = [[], []]

  package init() {}

  /// Reads everything: each row by a scan, then each row by each of its keys, then some keys that no row has, and each
  /// ordered index in both directions.
  ///
  /// - Throws: `StoreError` if something is damaged; `Contradiction` if scan, keys and counters disagree.
  package init(_ snapshot: Snapshot) throws {
    sequence = snapshot.sequence
    state = snapshot.state
    for table in tables.indices {
      let rows = try snapshot.rowsInOrderOfFile(table)
      tables[table] = rows.map(\.row).sorted()
      guard snapshot.rowCount(table) == tables[table].count else {
        throw Contradiction(
          what: "table \(table): \(tables[table].count) rows, \(snapshot.rowCount(table)) counted")
      }
      for index in snapshot.orderedIndexes(of: table) { try check(snapshot, table, index, rows) }
    }
    for space in TestSchema.all { try check(snapshot, space) }
  }

  private func check(_ snapshot: Snapshot, _ space: KeySpaceID) throws {
    var expected = Dictionary(grouping: tables[space.table]) { $0.keys[space.index] }
    if space == TestSchema.code { expected[[]] = nil }
    let lengths = snapshot.keyLengths(space)
    for (key, rows) in expected {
      guard try snapshot.rows(space, key) == rows else {
        throw Contradiction(what: "key \(String(decoding: key, as: UTF8.self)) of \(space) finds other rows")
      }
      guard lengths.contains(key.count) else {
        throw Contradiction(what: "key length \(key.count) of \(space) is not listed")
      }
    }
    for miss in ["", "no such key", "\u{1}"].map({ Array($0.utf8) }) where expected[miss] == nil {
      guard try snapshot.rows(space, miss).isEmpty else {
        throw Contradiction(what: "a miss of \(space) hits")
      }
    }
  }

  /// Compares an ordered index with the keys of the rows that a scan has found.
  private func check(
    _ snapshot: Snapshot, _ table: Int, _ name: String, _ rows: [(id: RowID, row: TestRow)]
  ) throws {
    guard let index = snapshot.orderedIndex(table, named: name) else {
      throw Contradiction(what: "table \(table) has no ordered index \(name)")
    }
    var pairs: [OrderedPair] = []
    for (id, row) in rows {
      for key in Set(row.orderedKeys(name)) {
        pairs.append(OrderedPair(key: Array(key.prefix(OrderedKeys.maximumKeyLength)), row: id))
      }
    }
    pairs = Set(pairs).sorted()
    guard try snapshot.pairs(of: index) == pairs, try snapshot.pairs(of: index, backward: true) == pairs.reversed()
    else { throw Contradiction(what: "the ordered index \(name) has other keys than the rows of table \(table)") }
    let (count, isExact) = try snapshot.rowCount(inOrderOf: index)
    guard isExact ? count == pairs.count : count >= pairs.count else {
      throw Contradiction(what: "the ordered index \(name) counts \(count) rows instead of \(pairs.count)")
    }
  }

  package struct Contradiction: Error, CustomStringConvertible {
    package let what: String

    package init(what: String) { self.what = what }

    package var description: String { what }
  }
}

/// A key of an ordered index and a row that has it.
package struct OrderedPair: Hashable, Comparable {
  package let key: [UInt8]
  package let row: RowID

  package init(key: [UInt8], row: RowID) {
    self.key = key
    self.row = row
  }

  package static func < (a: OrderedPair, b: OrderedPair) -> Bool {
    a.key == b.key ? a.row < b.row : a.key.lexicographicallyPrecedes(b.key)
  }
}

extension Snapshot {
  /// Everything that an ordered index has, from one end to the other.
  package func pairs(of index: OrderedIndexID, backward: Bool = false) throws(StoreError) -> [OrderedPair] {
    var pairs: [OrderedPair] = []
    var cursor = try cursor(index, from: backward ? .end : .start, backward: backward)
    while try cursor.next() { pairs.append(OrderedPair(key: cursor.key.copied(), row: cursor.row)) }
    return pairs
  }

  /// The rows of a table, as a scan finds them.
  fileprivate func rowsInOrderOfFile(_ table: Int) throws(StoreError) -> [(id: RowID, row: TestRow)] {
    var rows: [(id: RowID, row: TestRow)] = []
    try scan(table) { (record) throws(StoreError) in rows.append((record.rowID, try TestRow(record))) }
    return rows
  }
}
