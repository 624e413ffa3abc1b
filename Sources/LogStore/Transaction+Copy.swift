import RecordFormat

extension Transaction {
  /// Puts every live row of `source` into this generation, which has no rows yet: the bytes of each as they stand, with
  /// the new places of its shared strings.
  ///
  /// It is the caller's mistake to name a snapshot with other tables or key spaces than this transaction's.
  ///
  /// - Throws: `StoreError.damaged` at the first object that does not pass its check; `.full`, or what writing throws.
  /// - Complexity: reads every object of `source` once, in the order of the file. Memory for 16 bytes for each entry of an
  ///   index, 4 for each dead row, and up to 32 for each shared string.
  func copyRows(of source: Snapshot) throws(StoreError) {
    precondition(isOpen && base == nil && putCount == 0, "rows are copied into a new generation")
    var copy = SnapshotCopy(source, seed: builder.seed)
    // Both are lent for the whole copy: asking for leave at every row would cost as much as hashing its keys.
    do { try copy.run(source, into: &builder, sharing: &interner) } catch { throw noted(error) }
    for (table, rows) in copy.tables.enumerated() { take(rows, table) }
  }

  private func take(_ rows: SnapshotCopy.Table, _ table: Int) {
    manifest.tables[table].liveRows += UInt64(rows.count)
    manifest.tables[table].liveBytes += UInt64(rows.byteCount)
    for (index, column) in rows.columns.enumerated() {
      manifest.tables[table].keySpaces[index].lengths.formUnion(column.lengths)
      entries[table][index] = column.entries
    }
    count(putRows: rows.count)
  }
}

/// The live rows of a snapshot on their way into another file, and the index entries of what was copied.
private struct SnapshotCopy {
  /// What a key space finds.
  struct Column {
    var entries: [IndexEntry] = []
    var lengths = KeyLengths()
    /// The length of the last key. Most keys are as long as the one before.
    var lastLength = -1
    let skipsEmptyKeys: Bool
    let isList: Bool

    /// Adds what a record has in this key space.
    mutating func add(recordKey key: RawSpan, _ unit: UnitOffset, _ seed: HashSeed) {
      if !isList { return add(key, unit, seed) }
      var list = KeyList(key)
      while let key = list.next() { add(key, unit, seed) }
    }

    private mutating func add(_ key: RawSpan, _ unit: UnitOffset, _ seed: HashSeed) {
      let length = key.byteCount
      if length == 0, skipsEmptyKeys { return }
      if length != lastLength {
        lengths.insert(length)
        lastLength = length
      }
      entries.append(IndexEntry(hash: KeyHash.of(key, seed), offset: unit.rawValue))
    }
  }

  struct Table {
    var columns: [Column]
    var count = 0
    /// Of the records, with padding.
    var byteCount = 0
  }

  private(set) var tables: [Table]
  private let seed: HashSeed
  private var texts = TextMemory()
  /// The new places of a row's shared strings. Reused from row to row.
  private var shared: [UInt32] = []

  /// - Parameter seed: of the file that is written.
  init(_ source: Snapshot, seed: HashSeed) {
    self.seed = seed
    tables = source.manifest.tables.map { table in
      Table(
        columns: table.keySpaces.map { space in
          var column = Column(skipsEmptyKeys: space.skipsEmptyKeys, isList: space.isList)
          column.entries.reserveCapacity(source.rowLimit(of: space, in: table))
          return column
        })
    }
  }

  mutating func run(
    _ source: Snapshot, into builder: inout SegmentBuilder, sharing interner: inout StringInterner
  ) throws(StoreError) {
    try source.forEachLiveRow { (table, record) throws(StoreError) in
      guard record.keyCount == tables[table].columns.count else {
        throw source.damagedObject(record.offset, "it has not one key for each key space")
      }
      shared.removeAll(keepingCapacity: true)
      for index in 0..<record.sharedCount {
        guard let old = record.sharedUnit(index) else {
          shared.append(0)
          continue
        }
        if let known = texts.find(old) {
          shared.append(known)
        } else {
          let new = try Self.share(try record.shared(index), in: &builder, &interner)
          texts.insert(old, new)
          shared.append(new)
        }
      }
      let unit = try builder.append(copyOf: record.bytes, naming: shared, at: record.sharedStart)
      tables[table].count += 1
      tables[table].byteCount += ObjectHeader.padded(record.byteCount)
      for index in tables[table].columns.indices {
        tables[table].columns[index].add(recordKey: record.key(index), unit, seed)
      }
    }
  }

  /// Where `text` stands in the new file, into which it is written if it does not stand there yet.
  private static func share(
    _ text: RawSpan, in builder: inout SegmentBuilder, _ interner: inout StringInterner
  ) throws(StoreError) -> UInt32 {
    if text.byteCount == 0 { return 0 }
    if let unit = interner.find(text) { return unit }
    let unit = try builder.append(.sharedString, "a shared string") { $0.append(text) }
    interner.insert(text, at: unit.rawValue)
    return unit.rawValue
  }
}
