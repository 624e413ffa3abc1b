import Bytes
import RecordFormat

/// The destination of a transaction's rows and shared strings: the segment builder, and the rows not yet counted in the
/// manifest.
///
/// It is a single value so that putting a row is one access to the transaction, a class whose fields would each need an
/// exclusivity check.
struct RowAppender {
  var builder: SegmentBuilder
  /// The rows that are not settled yet, by table.
  var newRows: [NewRows]
  /// The keys of new rows in the ordered indexes, at `[table][index]`.
  var ordered: [[OrderedKeySorter]]
  private var interner: SharedStringTable
  let seed: HashSeed
  let space: SpillSpace
  /// The temporary files for index entries; `nil` if all of them are kept in memory, to be merged with others.
  private let entrySpace: SpillSpace?
  /// The number of the transaction.
  private let owner: UInt32

  init(
    _ builder: SegmentBuilder, _ tables: [Manifest.Table], seed: HashSeed, _ space: SpillSpace,
    isNewGeneration: Bool, owner: UInt32
  ) {
    self.builder = builder
    self.space = space
    let entrySpace = isNewGeneration ? space : nil
    self.entrySpace = entrySpace
    self.seed = seed
    self.owner = owner
    newRows = tables.map { NewRows($0, entrySpace) }
    ordered = tables.map { table in table.orderedIndexes.map { _ in OrderedKeySorter(seed: seed, space) } }
    interner = SharedStringTable(seed: seed)
  }

  /// Adds a table without rows.
  mutating func addTable(_ table: Manifest.Table) {
    newRows.append(NewRows(table, entrySpace))
    ordered.append(table.orderedIndexes.map { _ in OrderedKeySorter(seed: seed, space) })
  }

  /// Writes `text`, which is not empty, once into this segment.
  mutating func share(_ text: RawSpan) throws(StoreError) -> SharedString {
    if let unit = interner.find(text) { return SharedString(unit: unit, owner: owner) }
    let unit = try builder.append(.sharedString, "a shared string", text.byteCount) { $0.put(text, at: 0) }
    interner.insert(text, at: unit.rawValue)
    return SharedString(unit: unit.rawValue, owner: owner)
  }

  /// Appends a row and records its keys.
  mutating func put(
    _ table: Int, _ draft: borrowing RecordDraft, _ what: @autoclosure () -> String
  ) throws(StoreError) {
    let shared = draft.shared.span
    for index in 0..<shared.count where shared[index].owner != owner {
      precondition(shared[index].unit == 0, "a shared string belongs to the transaction that shared it")
    }
    let ends = draft.keyEnds.span
    let keys = draft.keys.rawSpan
    let body = draft.body.rawSpan
    // Offsets in the contents of an object are relative to the end of its header.
    let firstKey =
      RecordLayout.keyStart(sharedCount: shared.count, keyCount: ends.count) &- ObjectHeader.byteCount
    let count = firstKey &+ keys.byteCount &+ body.byteCount
    let unit = try builder.append(ObjectKind(rawValue: UInt8(table)), what(), count) { bytes in
      let firstShared = firstKey &- 4 &* shared.count
      // The word is partly padding after the ends of the keys, which nothing else writes.
      bytes.put(0 as UInt32, at: firstShared &- 4)
      bytes.put(UInt8(truncatingIfNeeded: shared.count), at: 0)
      bytes.put(UInt8(truncatingIfNeeded: ends.count), at: 1)
      for index in 0..<ends.count {
        bytes.put(UInt16(truncatingIfNeeded: ends[index]), at: 2 &+ 2 &* index)
      }
      for index in 0..<shared.count { bytes.put(shared[index].unit, at: firstShared &+ 4 &* index) }
      bytes.put(keys, at: firstKey)
      bytes.put(body, at: firstKey &+ keys.byteCount)
    }
    let padded = ObjectHeader.padded(ObjectHeader.byteCount &+ count &+ builder.objectOverhead)
    newRows[table].add(unit, byteCount: padded, keys, ends, seed)
    try newRows[table].spillIfLarge()
    if !draft.orderedKeys.isEmpty { try addOrdered(draft.orderedKeys, table, unit.rawValue) }
  }

  /// Enters a row in the ordered indexes of its table.
  private mutating func addOrdered(_ keys: OrderedKeys, _ table: Int, _ row: UInt32) throws(StoreError) {
    // Borrowed once for all keys of the row.
    try Self.add(keys, row, to: &ordered[table])
  }

  private static func add(
    _ keys: OrderedKeys, _ row: UInt32, to sorters: inout [OrderedKeySorter]
  ) throws(StoreError) {
    keys.forEach { (index, key) in
      precondition(index < sorters.count, "a row has keys for the ordered indexes of its table")
      sorters[index].add(key, row)
    }
    for index in sorters.indices { try sorters[index].spillIfLarge() }
  }

  /// Adds the rows that are not yet counted to the manifest's counters.
  mutating func settleCounts(in manifest: inout Manifest) {
    for table in newRows.indices { newRows[table].settleCounts(in: &manifest.tables[table]) }
  }

  /// Returns the entries of the new rows by table and key space, and records their key lengths in the manifest.
  mutating func settle(in manifest: inout Manifest) -> [[NewEntries]] {
    settleCounts(in: &manifest)
    defer { newRows = [] }
    for table in newRows.indices {
      for (index, keys) in newRows[table].keys.enumerated() {
        manifest.tables[table].keySpaces[index].lengths.formUnion(keys.lengths)
      }
    }
    return newRows.map { $0.keys.map(\.entries) }
  }
}
