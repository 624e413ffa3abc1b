import Bytes
import RecordFormat

/// An ordered index that a compaction copies from the file that it replaces.
struct OrderedCopy {
  let source: Snapshot
  /// The index in `source`.
  let id: OrderedIndexID
}

extension Transaction {
  /// The names of the ordered indexes of a table, in the order in which `RecordDraft.orderedKeys` numbers them.
  ///
  /// A row that is put must have its keys for each of them.
  public func orderedIndexes(of table: Int) -> [String] { manifest.tables[table].orderedIndexes.map(\.name) }

  /// Adds an ordered index to a table, and enters all rows of the table that are live.
  ///
  /// - Precondition: No row was put into the table by this transaction.
  /// - Throws: `StoreError.damaged` at the first object that fails its check; `.schema` if the table has the index or
  ///   the maximum number of them.
  /// - Complexity: Reads every object of the generation once. Keys that do not fit memory are sorted in a temporary
  ///   file.
  package func addOrderedIndex(_ table: Int, _ index: Schema.OrderedIndex) throws(StoreError) {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    precondition(appender.newRows[table].isEmpty, "an ordered index is added before rows are put into its table")
    let existing = manifest.tables[table].orderedIndexes
    guard !existing.contains(where: { $0.name == index.name }) else {
      throw .schema(path: log.path, reason: "\(manifest.tables[table].name) has an ordered index \(index.name)")
    }
    guard existing.count < Manifest.orderedIndexLimit else {
      throw .schema(path: log.path, reason: "a table has at most \(Manifest.orderedIndexLimit) ordered indexes")
    }
    do {
      var keys = OrderedKeySorter(seed: appender.seed, appender.space)
      try base?.scan(table) { (record) throws(StoreError) in
        let row = record.unit.rawValue
        try index.addKeys(record) { keys.add(OrderedKeys.truncated($0), row) }
        try keys.spillIfLarge()
      }
      manifest.tables[table].orderedIndexes.append(
        Manifest.OrderedIndex(name: index.name, hasFragments: index.hasFragments))
      appender.ordered[table].append(keys)
      keyFunctions[table, default: [:]][index.name] = index.addKeys
    } catch { throw recorded(error) }
  }

  /// Removes an ordered index from a table. Does nothing if the table does not have it. The indexes after it have
  /// other numbers from then on.
  package func removeOrderedIndex(_ table: Int, named name: String) {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    guard let index = manifest.tables[table].orderedIndexes.firstIndex(where: { $0.name == name }) else { return }
    manifest.tables[table].orderedIndexes.remove(at: index)
    appender.ordered[table].remove(at: index)
    orderedCopies[table]?[name] = nil
  }

  /// Leaves out the ordered indexes of a table whose keys the application cannot derive: rows that it puts would be
  /// missing there.
  func dropUnknownOrderedIndexes(of table: Int) {
    for index in manifest.tables[table].orderedIndexes where keyFunctions[table]?[index.name] == nil {
      removeOrderedIndex(table, named: index.name)
    }
  }

  /// Adds the keys of a row of another file or commit to a draft of the same row.
  func addOrderedKeys(
    of record: borrowing RecordView, _ table: Int, to draft: inout RecordDraft
  ) throws(StoreError) {
    for (number, index) in manifest.tables[table].orderedIndexes.enumerated() {
      guard let addKeys = keyFunctions[table]?[index.name] else { continue }
      var keys = OrderedKeys()
      swap(&keys, &draft.orderedKeys)
      try addKeys(record) { keys.add(number, $0) }
      swap(&keys, &draft.orderedKeys)
    }
  }

  /// Writes a block for each ordered index that has new rows, merged with the newer blocks of the tail.
  func appendOrderedBlocks(except replaced: Set<UInt32>) throws(StoreError) {
    var states = RowStates()
    for table in manifest.tables.indices {
      for index in manifest.tables[table].orderedIndexes.indices {
        try appendOrderedBlock(table, index, except: replaced, &states)
      }
    }
  }

  private func appendOrderedBlock(
    _ table: Int, _ index: Int, except replaced: Set<UInt32>, _ states: inout RowStates
  ) throws(StoreError) {
    let described = manifest.tables[table].orderedIndexes[index]
    var keys = OrderedKeySorter(seed: appender.seed, appender.space)
    swap(&keys, &appender.ordered[table][index])
    appender.builder.align(to: Bucket.byteCount)
    var seal: OrderedTreeWriter.PageSeal?
    if log.sealing != nil {
      // The transaction outlives the writer, which lives during this call.
      seal = { [unowned self] (page, unit) in appender.builder.seal(page: &page, at: unit) }
    }
    var writer = OrderedBlockWriter(
      at: appender.builder.position, hasFragments: described.hasFragments, appender.space, seal: seal)
    if let copy = orderedCopies[table]?[described.name] {
      try write(copy, to: &writer)
    } else {
      if keys.isEmpty { return }
      try merge(keys.finish(), replaced, &states, table, index, into: &writer)
    }
    if writer.isEmpty { return }
    let block = try writer.finish { (part) throws(StoreError) in try appender.builder.append(part) }
    manifest.tables[table].orderedIndexes[index].blocks.insert(block, at: 0)
  }

  /// Writes all rows of an index that were copied.
  private func write(_ copy: OrderedCopy, to writer: inout OrderedBlockWriter) throws(StoreError) {
    var merge = try OrderedMerge(copy.source.orderedBlocks(copy.id).map { OrderedRun(copy.source, $0) })
    var rows: [UInt32] = []
    while try merge.next() {
      rows.removeAll(keepingCapacity: true)
      for row in merge.rows {
        if let new = rowMap.new(of: row) { rows.append(new) }
      }
      if !rows.isEmpty { try writer.append(merge.key.rawSpan, rows.span) }
    }
  }

  /// The number of ordered blocks of similar size that are merged. A row is written once for each power of this number
  /// of commits, and a search visits up to that many blocks for each power.
  private static var orderedMergeCount: Int { 4 }

  /// Writes the new keys, merged with those of newer blocks of the tail if there are enough of similar size, without
  /// rows that are dead.
  private func merge(
    _ keys: SortedKeys, _ replaced: Set<UInt32>, _ states: inout RowStates, _ table: Int, _ index: Int,
    into writer: inout OrderedBlockWriter
  ) throws(StoreError) {
    var merged: [OrderedRun] = []
    var remaining = manifest.tables[table].orderedIndexes[index].blocks
    var count = keys.rowCount
    while let base {
      let similar = remaining.prefix { Int($0.offset) >= base.baseEnd && Int($0.rowCount) <= 2 * count }
      guard similar.count >= Self.orderedMergeCount - 1 else { break }
      for block in similar {
        merged.append(OrderedRun(base, try base.orderedBlock(block)))
        count += Int(block.rowCount)
      }
      remaining.removeFirst(similar.count)
    }
    manifest.tables[table].orderedIndexes[index].blocks = remaining
    if merged.isEmpty, case .table(let table) = keys {
      // These are rows of this transaction: none is in a block of dead rows yet.
      var live: [UInt32] = []
      try table.forEachKeyInOrder { (key, rows) throws(StoreError) in
        if replaced.isEmpty { return try writer.append(key, rows) }
        live.removeAll(keepingCapacity: true)
        for position in 0..<rows.count where !replaced.contains(rows[position]) { live.append(rows[position]) }
        if !live.isEmpty { try writer.append(key, live.span) }
      }
      return
    }
    let isFiltered = !merged.isEmpty || !replaced.isEmpty
    var merge = try OrderedMerge(merged, keys.runs)
    var rows: [UInt32] = []
    while try merge.next() {
      if !isFiltered {
        try writer.append(merge.key.rawSpan, merge.rows.span)
        continue
      }
      rows.removeAll(keepingCapacity: true)
      for row in merge.rows {
        // Of this transaction's own rows none is in a block of dead rows yet.
        let isLive = try merged.isEmpty ? !replaced.contains(row) : isLive(row, except: replaced, &states)
        if isLive { rows.append(row) }
      }
      if !rows.isEmpty { try writer.append(merge.key.rawSpan, rows.span) }
    }
  }

  /// Whether a row is live after this transaction.
  @inline(__always)
  private func isLive(
    _ row: UInt32, except replaced: Set<UInt32>, _ states: inout RowStates
  ) throws(StoreError) -> Bool {
    if states.live.contains(row) { return true }
    if states.dead.contains(row) { return false }
    var isDead = dead.contains(row) || replaced.contains(row)
    if !isDead, let base, Int(row) * 8 < base.end { isDead = try base.isDead(UnitOffset(rawValue: row)) }
    _ = isDead ? states.dead.insert(row) : states.live.insert(row)
    return !isDead
  }
}

/// The rows that a commit found to be live or dead. A row has many keys in an index of words, and is looked up once.
private struct RowStates {
  var live = UnitSet()
  var dead = UnitSet()
}

extension OrderedKeys {
  /// Returns the key as it is entered: at most its first 255 bytes.
  @_lifetime(copy key)
  static func truncated(_ key: RawSpan) -> RawSpan { key.slice(0, min(key.byteCount, maximumKeyLength)) }
}
