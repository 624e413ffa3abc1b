import Bytes
import LogStore

/// The tables of the tests.
package enum TestSchema {
  /// Rows by a unique `id` and by `code`, which several rows may share and some lack; in order of the code and of the
  /// words of texts and body.
  package static let items = Schema.Table(
    "items", keySpaces: plainItems.keySpaces,
    orderedIndexes: [orderedIndex("code"), orderedIndex("words", hasFragments: true)])
  /// The same without ordered indexes.
  package static let plainItems = Schema.Table(
    "items",
    keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("code", skipsEmptyKeys: true)])
  /// Rows by two key spaces that several rows may share, and in order of both.
  package static let links = Schema.Table(
    "links", keySpaces: plainLinks.keySpaces, orderedIndexes: [orderedIndex("ends")])
  /// The same without an ordered index.
  package static let plainLinks = Schema.Table(
    "links", keySpaces: [Schema.KeySpace("from"), Schema.KeySpace("to")])

  package static let schema = Schema([items, links])
  /// The same tables without ordered indexes.
  package static let plain = Schema([plainItems, plainLinks])

  private static func orderedIndex(_ name: String, hasFragments: Bool = false) -> Schema.OrderedIndex {
    Schema.OrderedIndex(name, hasFragments: hasFragments) { (record, receive) throws(StoreError) in
      for key in try TestRow(record).orderedKeys(name) { receive(key.rawSpan) }
    }
  }

  package static let id = KeySpaceID(table: 0, index: 0)
  package static let code = KeySpaceID(table: 0, index: 1)
  package static let from = KeySpaceID(table: 1, index: 0)
  package static let to = KeySpaceID(table: 1, index: 1)
  package static let all = [id, code, from, to]
}

/// A row of either table: two keys, shared strings, a body.
package struct TestRow: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var keys: [[UInt8]]
  package var shared: [[UInt8]]
  package var body: [UInt8]

  package init(_ first: String, _ second: String, shared: [String] = [], body: String = "") {
    keys = [Array(first.utf8), Array(second.utf8)]
    self.shared = shared.map { Array($0.utf8) }
    self.body = Array(body.utf8)
  }

  package init(_ record: borrowing RecordView) throws(StoreError) {
    keys = [record.key(0).copied(), record.key(1).copied()]
    var shared: [[UInt8]] = []
    for index in 0..<record.sharedCount { shared.append(try record.shared(index).copied()) }
    self.shared = shared
    body = record.body.copied()
  }

  /// The keys of the row in an ordered index. There may be the same one twice.
  package func orderedKeys(_ index: String) -> [[UInt8]] {
    switch index {
    // A row without a code has an empty key.
    case "code": [keys[1]]
    case "ends": [[UInt8(ascii: "f")] + keys[0], [UInt8(ascii: "t")] + keys[1]]
    case "words":
      (shared + [body]).flatMap { text in
        text.prefix(400).split(separator: UInt8(ascii: " ")).map { [UInt8(ascii: "w")] + $0 }
      }
    default: []
    }
  }

  package static func < (a: TestRow, b: TestRow) -> Bool {
    let x = a.keys + a.shared + [a.body]
    let y = b.keys + b.shared + [b.body]
    for (left, right) in zip(x, y) where left != right { return left.lexicographicallyPrecedes(right) }
    return x.count < y.count
  }

  package var description: String {
    (keys + shared + [body.prefix(20)].map(Array.init)).map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: "|")
  }
}

extension Transaction {
  package func put(_ table: Int, _ row: TestRow) throws(StoreError) {
    var draft = RecordDraft()
    for key in row.keys { draft.addKey(key.rawSpan) }
    for text in row.shared { draft.addShared(try share(text.rawSpan)) }
    draft.body = row.body
    for (number, index) in orderedIndexes(of: table).enumerated() {
      for key in row.orderedKeys(index) { draft.orderedKeys.add(number, key.rawSpan) }
    }
    try put(table, draft)
  }

  /// Puts an item.
  package func put(_ id: String, _ code: String = "", shared: [String] = [], body: String = "") throws {
    try put(0, TestRow(id, code, shared: shared, body: body))
  }

  @discardableResult
  package func delete(_ space: KeySpaceID, _ key: String) throws(StoreError) -> Int {
    try delete(space, Array(key.utf8).rawSpan)
  }
}

extension Snapshot {
  /// The rows with `key`, sorted.
  package func rows(_ space: KeySpaceID, _ key: [UInt8]) throws(StoreError) -> [TestRow] {
    var rows: [TestRow] = []
    try forEachRecord(space, key.rawSpan) { (record) throws(StoreError) in
      rows.append(try TestRow(record))
      return true
    }
    return rows.sorted()
  }

  package func rows(_ space: KeySpaceID, _ key: String) throws(StoreError) -> [TestRow] {
    try rows(space, Array(key.utf8))
  }

  /// The rows of a table, sorted.
  package func rows(_ table: Int) throws(StoreError) -> [TestRow] {
    var rows: [TestRow] = []
    try scan(table) { (record) throws(StoreError) in rows.append(try TestRow(record)) }
    return rows.sorted()
  }
}
