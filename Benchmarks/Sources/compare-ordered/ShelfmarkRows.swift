import BenchmarkSupport
import LogStore

/// Our store.
final class ShelfmarkRows: OrderedStore {
  let directory: String
  let isOrdered: Bool
  private let writer: StoreWriter
  private var draft = RecordDraft()

  private static let id = KeySpaceID(table: 0, index: 0)

  init(_ directory: String, isIndexed: Bool) throws {
    self.directory = directory
    isOrdered = isIndexed
    let byKey = Schema.OrderedIndex("key") { record, receive in receive(record.body.extracting(0..<16)) }
    let schema = Schema([
      Schema.Table(
        "rows", keySpaces: [Schema.KeySpace("id", isUnique: true)], orderedIndexes: isIndexed ? [byKey] : [])
    ])
    writer = try StoreWriter(try StoreLocation.creating(directory, name: "rows"), schema: schema)
  }

  var name: String { isOrdered ? "Shelfmark" : "Shelfmark without the index" }

  var configuration: String {
    isOrdered
      ? "a table with an ordered index, every bucket, page and record checked when it is read"
      : "the same table without it; all rows are read in the order of the file"
  }

  func fill(_ count: Int, _ rows: OrderedRows) throws {
    let transaction = try writer.beginGeneration()
    try put(0..<count, revision: 0, rows, transaction)
    _ = try writer.commit(transaction)
  }

  func change(_ numbers: [Int], _ rows: OrderedRows) throws {
    let transaction = try writer.begin()
    try put(numbers, revision: 1, rows, transaction)
    _ = try writer.commit(transaction)
  }

  private func put(
    _ numbers: some Sequence<Int>, revision: Int, _ rows: OrderedRows, _ transaction: Transaction
  ) throws {
    var body: [UInt8] = []
    for number in numbers {
      rows.put(number, revision: revision, into: &body)
      draft.reset()
      let id = NumberKey.bytes(number)
      // The arrays are alive during the calls, and a key lies inside its row.
      unsafe draft.addKey(id.span.bytes)
      draft.body = body
      if isOrdered { unsafe draft.orderedKeys.add(0, body.span.bytes.extracting(0..<16)) }
      try transaction.put(0, draft)
    }
  }

  func walk(from key: [UInt8], limit: Int, _ sum: inout RowSum) throws {
    guard let snapshot = writer.snapshot else { throw WrongAnswer("no commit") }
    var total = sum
    if isOrdered {
      guard let index = snapshot.orderedIndex(0, named: "key") else { throw WrongAnswer("no index") }
      try snapshot.forEachRecord(inOrderOf: index, from: .before(key), limit: limit) { (_, record) in
        Self.add(record.body, &total)
        return true
      }
    } else {
      try snapshot.scan(0) { record in Self.add(record.body, &total) }
    }
    sum = total
  }

  private static func add(_ body: RawSpan, _ sum: inout RowSum) {
    // The last byte of a row lies inside it.
    sum.bytes &+= UInt64(unsafe body.unsafeLoad(fromByteOffset: body.byteCount - 1, as: UInt8.self))
    sum.count += 1
  }
}

/// The number of a row as eight bytes, the greatest first.
enum NumberKey {
  static func bytes(_ number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}
