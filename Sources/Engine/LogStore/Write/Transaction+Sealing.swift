import Bytes
import RecordFormat

extension Transaction {
  /// The maximum ratio of the size of an older block of the tail to the number of new rows up to which the block is
  /// merged with them.
  ///
  /// | Ratio | Blocks that a lookup searches after 100 equal commits | Times that a row is indexed again |
  /// |---|---|---|
  /// | 2 | 7 | 7 |
  /// | 8 | 3 | 10 |
  /// | all | 1 | 50 |
  static let mergeRatio = 8

  /// Writes the rest of the segment from the rows that were put and deleted, and commits it.
  func seal(_ identity: SegmentBuilder.Identity) throws(StoreError) -> SegmentFooter {
    entries = appender.settle(in: &manifest)
    let replaced = try resolveDuplicates()
    try mergeTail(except: replaced)
    // Only the entries of a commit after the base are merged with later ones.
    let rows = base == nil ? nil : entries
    let rowCounts = entries.map { $0.map(\.count) }
    try replaceRunsByPostings()
    let newDead = try appendTombstones(replaced)
    let objectEnd = appender.builder.position
    appender.builder.align(to: Bucket.byteCount)
    for table in entries.indices {
      for space in entries[table].indices {
        try appendIndex(table, space, rows?[table][space].inMemory, rowCount: rowCounts[table][space])
      }
    }
    try appendOrderedBlocks(except: replaced)
    try appendDead(newDead)
    try checkBlockCounts()
    manifest.state = state
    if base != nil { manifest.tailRows += UInt64(putCount) }
    return try appender.builder.finish(manifest, objectEnd: objectEnd, identity)
  }

  /// Sorts the new entries, and returns the new rows that a later row of this transaction with the same unique key
  /// replaces.
  private func resolveDuplicates() throws(StoreError) -> Set<UInt32> {
    var replaced: Set<UInt32> = []
    for table in entries.indices {
      for space in entries[table].indices {
        let isUnique = manifest.tables[table].keySpaces[space].isUnique
        try entries[table][space].update { (sorted) throws(StoreError) in
          sorted.sortByHash()
          var first = isUnique ? 0 : sorted.count
          while first < sorted.count {
            var last = first + 1
            while last < sorted.count, sorted[last].hash == sorted[first].hash { last += 1 }
            if last - first > 1 { try findReplacedRows(sorted[first..<last], table, space, &replaced) }
            first = last
          }
        }
      }
    }
    return replaced
  }

  /// Adds to `replaced` all rows, among those with one hash, that have a later row with the same key.
  private func findReplacedRows(
    _ run: ArraySlice<IndexEntry>, _ table: Int, _ space: Int, _ replaced: inout Set<UInt32>
  ) throws(StoreError) {
    var latest: [[UInt8]: UInt32] = [:]
    for entry in run {
      let key = try row(entry).key(space)
      if let earlier = latest.updateValue(entry.offset, forKey: key), replaced.insert(earlier).inserted {
        countDead(table, try row(IndexEntry(hash: entry.hash, offset: earlier)).paddedLength)
      }
    }
  }

  /// A new row, read back from the segment.
  private struct NewRow {
    let bytes: [UInt8]
    let layout: RecordLayout
    /// By how much the row is longer in the file.
    let overhead: Int

    func key(_ space: Int) -> [UInt8] {
      bytes.rawSpan.extracting(layout.keyRange(space, in: bytes.rawSpan)).copied()
    }

    var paddedLength: Int { ObjectHeader.padded(bytes.count + overhead) }
  }

  private func row(_ entry: IndexEntry) throws(StoreError) -> NewRow {
    var window = FileWindow()
    return try row(entry, before: entry, through: &window)
  }

  private func row(
    _ entry: IndexEntry, before next: IndexEntry, through window: inout FileWindow
  ) throws(StoreError) -> NewRow {
    let unit = UnitOffset(rawValue: entry.offset)
    let bytes = try appender.builder.read(unit, before: UnitOffset(rawValue: next.offset), through: &window)
    return NewRow(
      bytes: bytes, layout: try layout(of: bytes.rawSpan, at: unit), overhead: appender.builder.objectOverhead)
  }

  private func layout(of row: RawSpan, at unit: UnitOffset) throws(StoreError) -> RecordLayout {
    guard let layout = RecordLayout(row) else {
      throw .damaged(path: log.path, offset: unit.byteOffset, what: "a row that was just written")
    }
    return layout
  }

  /// Merges the rows of the tail's newer blocks into the new blocks, so that lookups search few blocks.
  private func mergeTail(except replaced: Set<UInt32>) throws(StoreError) {
    for table in entries.indices {
      for space in entries[table].indices {
        if !replaced.isEmpty {
          try entries[table][space].update { (entries) in entries.removeAll { replaced.contains($0.offset) } }
        }
        guard let base, !entries[table][space].isEmpty else { continue }
        var remaining = manifest.tables[table].keySpaces[space].blocks
        while let newest = remaining.first, Int(newest.offset) >= base.baseEnd,
          Int(newest.rowCount) <= Self.mergeRatio * entries[table][space].count
        {
          let rows = try rows(of: newest, KeySpaceID(table: table, index: space), in: base)
          entries[table][space] = NewEntries(entries[table][space].inMemory.merged(with: rows, except: dead))
          remaining.removeFirst()
        }
        manifest.tables[table].keySpaces[space].blocks = remaining
      }
    }
  }

  /// Returns the live rows of a block of the tail, sorted by hash, from the cache or read back.
  private func rows(
    of block: Manifest.Block, _ space: KeySpaceID, in base: Snapshot
  ) throws(StoreError) -> [IndexEntry] {
    if let cached = tail?.liveRows(ofBlockAt: block.offset) { return cached }
    var rows: [IndexEntry] = []
    let indexBlock = try IndexBlock(block, end: base.end, log: base.log)
    try base.forEachEntry(indexBlock, space) { hash, unit in
      rows.append(IndexEntry(hash: hash, offset: unit.rawValue))
    }
    rows.sortByHash()
    // A row with several keys may be found by more than one of them.
    if manifest.tables[space.table].keySpaces[space.index].isList { rows.removeRepeated() }
    return rows
  }

  /// Writes a posting list for each key that many rows share, which replaces the entries of these rows.
  private func replaceRunsByPostings() throws(StoreError) {
    for table in entries.indices {
      for space in entries[table].indices {
        try entries[table][space].update { (sorted) throws(StoreError) in
          var result: [IndexEntry] = []
          var first = 0
          var copied = 0
          while first < sorted.count {
            var last = first + 1
            while last < sorted.count, sorted[last].hash == sorted[first].hash { last += 1 }
            if last - first > PostingList.threshold {
              result.append(contentsOf: sorted[copied..<first])
              copied = last
              try appendPostings(sorted[first..<last], table, space, &result)
            }
            first = last
          }
          if copied > 0 {
            result.append(contentsOf: sorted[copied...])
            sorted = result
          }
        }
      }
    }
  }

  private func appendPostings(
    _ run: ArraySlice<IndexEntry>, _ table: Int, _ space: Int, _ result: inout [IndexEntry]
  ) throws(StoreError) {
    var groups: [[UInt8]: [IndexEntry]] = [:]
    // Almost always all rows of a hash have the same key, and no lookup among the groups is needed.
    var usual: (key: [UInt8], rows: [IndexEntry]) = ([], [])
    var window = FileWindow()
    for (index, entry) in zip(run.indices, run) {
      let next = index + 1 < run.endIndex ? run[index + 1] : entry
      try withKeys(of: entry, before: next, through: &window, table, space) { keys in
        if !usual.rows.isEmpty, has(usual.key, among: keys, table, space) { return usual.rows.append(entry) }
        let key = key(of: entry, among: keys, table, space)
        if usual.rows.isEmpty { usual.key = key }
        if key == usual.key { usual.rows.append(entry) } else { groups[key, default: []].append(entry) }
      }
    }
    groups[usual.key] = usual.rows
    for (key, rows) in groups.sorted(by: { $0.value[0].offset < $1.value[0].offset }) {
      if rows.count <= PostingList.threshold {
        result.append(contentsOf: rows)
        continue
      }
      var first = 0
      while first < rows.count {
        let last = min(first + PostingList.count(forRows: rows.count), rows.count)
        let rows = rows.span.extracting(first..<last)
        let count = PostingList.byteCount(of: rows.count, key: key.rawSpan)
        let unit = try appender.builder.append(.postingList, "a posting list", count) { bytes in
          PostingList.put(keySpace: space, key: key.rawSpan, rows: rows, in: &bytes)
        }
        result.append(IndexEntry(hash: rows[0].hash, offset: unit.rawValue))
        first = last
      }
    }
  }

  /// Calls `body` with the key, or the list of keys, of the new row or the row of the base that an entry finds.
  private func withKeys(
    of entry: IndexEntry, before next: IndexEntry, through window: inout FileWindow, _ table: Int, _ space: Int,
    _ body: (RawSpan) -> Void
  ) throws(StoreError) {
    let unit = UnitOffset(rawValue: entry.offset)
    if let base, unit.byteOffset < base.end {
      let scope = ScratchScope(base)
      defer { scope.end() }
      return body(try base.record(unit, table: table).key(space))
    }
    let isBuffered = try appender.builder.withBuffered(unit) { (bytes) throws(StoreError) in
      body(bytes.extracting(try layout(of: bytes, at: unit).keyRange(space, in: bytes)))
    }
    if !isBuffered { body(try row(entry, before: next, through: &window).key(space).rawSpan) }
  }

  /// Whether a row with these keys in a key space, or this key, has `key`.
  private func has(_ key: [UInt8], among keys: RawSpan, _ table: Int, _ space: Int) -> Bool {
    manifest.tables[table].keySpaces[space].isList
      ? KeyList.contains(key.rawSpan, in: keys) : keys.hasSameBytes(as: key.rawSpan)
  }

  private func key(of entry: IndexEntry, among keys: RawSpan, _ table: Int, _ space: Int) -> [UInt8] {
    guard manifest.tables[table].keySpaces[space].isList else { return keys.copied() }
    var list = KeyList(keys)
    while let key = list.next() {
      if KeyHash.of(key, appender.seed) == entry.hash { return key.copied() }
    }
    return []
  }

  /// Writes tombstones for the rows that died, and returns these rows in ascending order.
  private func appendTombstones(_ replaced: Set<UInt32>) throws(StoreError) -> [UInt32] {
    var units = Array(dead)
    // Replaced rows are new rows; dead rows belong to the base.
    units.append(contentsOf: replaced)
    units.sort()
    var first = 0
    while first < units.count {
      let last = min(first + Tombstones.maximumCount, units.count)
      let contents = Tombstones.contents(units[first..<last])
      _ = try appender.builder.append(.tombstones, "a tombstone list", contents)
      first = last
    }
    return units
  }

  private func appendIndex(
    _ table: Int, _ space: Int, _ rows: [IndexEntry]?, rowCount: Int
  ) throws(StoreError) {
    if entries[table][space].isEmpty { return }
    let block = try append(.index, entries[table][space], space, rowCount: rowCount)
    entries[table][space] = NewEntries()
    if let rows { writtenRows[block.offset] = rows }
    manifest.tables[table].keySpaces[space].blocks.insert(block, at: 0)
  }

  private func append(
    _ kind: BlockHeader.Kind, _ entries: NewEntries, _ space: Int, rowCount: Int
  ) throws(StoreError) -> Manifest.Block {
    var table = try BucketTable(kind, entries, rowCount: rowCount)
    guard table.isComplete else {
      throw .unusable(
        path: log.path,
        reason: "these keys all want one bucket of its index; a new generation, with another seed, has room for them")
    }
    try appender.builder.checkRoom(for: BlockHeader.byteCount + table.bytes.count)
    let (header, block) = table.seal(at: appender.builder.position, keySpace: space)
    try appender.builder.append(header)
    try appender.builder.append(table.bytes)
    return block
  }

  /// Only another program leaves so many blocks; this one merges them.
  private func checkBlockCounts() throws(StoreError) {
    let spaces = manifest.tables.flatMap { $0.keySpaces.map(\.blocks.count) + $0.orderedIndexes.map(\.blocks.count) }
    guard (spaces + [manifest.deadBlocks.count]).allSatisfy({ $0 <= Manifest.blockLimit }) else {
      throw .unusable(path: log.path, reason: "one of its indexes has too many blocks for another commit; compact it")
    }
  }

  /// Writes the dead rows of this commit, merged with the rows of newer dead blocks of the tail.
  private func appendDead(_ newDead: [UInt32]) throws(StoreError) {
    if newDead.isEmpty { return }
    var units = newDead
    var remaining = manifest.deadBlocks
    while let base, let newest = remaining.first, Int(newest.rowCount) <= Self.mergeRatio * units.count {
      let block = try IndexBlock(newest, end: base.end, log: base.log)
      try base.forEachDead(block) { units.append($0.rawValue) }
      remaining.removeFirst()
    }
    let entries = units.map { unit in
      IndexEntry(hash: KeyHash.of(UnitOffset(rawValue: unit), appender.builder.seed), offset: unit)
    }
    manifest.deadBlocks = [try append(.dead, NewEntries(entries), 0, rowCount: entries.count)] + remaining
  }
}
