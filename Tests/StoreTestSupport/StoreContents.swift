import LogStore

/// Everything that a commit shows: what a store is compared by.
package struct StoreContents: Hashable, Sendable {
  package var sequence: UInt64 = 0
  package var state: [UInt8] = []
  /// Sorted, by table.
  package var tables: [[TestRow]] = [[], []]

  package init() {}

  /// Reads everything: each row by a scan, then each row by each of its keys, then some keys that no row has.
  ///
  /// - Throws: `StoreError` if something is damaged; `Contradiction` if scan, keys and counters disagree.
  package init(_ snapshot: Snapshot) throws {
    sequence = snapshot.sequence
    state = snapshot.state
    for table in tables.indices {
      tables[table] = try snapshot.rows(table)
      guard snapshot.rowCount(table) == tables[table].count else {
        throw Contradiction(
          what: "table \(table): \(tables[table].count) rows, \(snapshot.rowCount(table)) counted")
      }
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

  package struct Contradiction: Error, CustomStringConvertible {
    package let what: String

    package init(what: String) { self.what = what }

    package var description: String { what }
  }
}
