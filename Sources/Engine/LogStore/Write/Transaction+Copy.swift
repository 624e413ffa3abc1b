import Bytes
import RecordFormat

extension Transaction {
  /// Copies every live row of `source` into this generation, which has no rows yet. The bytes of each row are copied
  /// unchanged, except for the new offsets of its shared strings.
  ///
  /// - Precondition: `source` has the same tables and key spaces as this transaction.
  /// - Throws: `StoreError.damaged` at the first object that fails its check; `.full`; the error of a failed write.
  /// - Complexity: Reads every object of `source` once, in file order. Memory for 4 bytes for each dead row, 8 for each
  ///   row if ordered indexes are copied, and up to 32 for each shared string. Index entries that do not fit memory are
  ///   sorted in a temporary file.
  func copyRows(of source: Snapshot) throws(StoreError) {
    precondition(isOpen && base == nil && putCount == 0, "rows are copied into a new generation")
    prepareOrderedIndexes(of: source)
    let derived = derivedIndexes
    // Borrowed once for the complete copy: an exclusivity check for every row would cost as much as hashing its keys.
    do {
      // Nothing needs the places of rows unless an index names them.
      let (count, map) = try appender.copyRows(of: source, deriving: derived, mapping: !orderedCopies.isEmpty)
      self.count(putRows: count)
      rowMap = map
    } catch { throw recorded(error) }
  }

  /// Decides for each ordered index of this generation whether it is copied from `source` or derived from its rows. One
  /// that is neither is left out.
  private func prepareOrderedIndexes(of source: Snapshot) {
    for table in manifest.tables.indices {
      for index in manifest.tables[table].orderedIndexes {
        if let id = source.orderedIndex(table, named: index.name),
          source.manifest.tables[table].orderedIndexes[id.index].hasFragments == index.hasFragments
        {
          orderedCopies[table, default: [:]][index.name] = OrderedCopy(source: source, id: id)
        } else if keyFunctions[table]?[index.name] == nil {
          removeOrderedIndex(table, named: index.name)
        }
      }
    }
  }

  /// The ordered indexes whose keys are derived from the rows that are copied.
  private var derivedIndexes: [DerivedIndex] {
    var derived: [DerivedIndex] = []
    for table in manifest.tables.indices {
      for (number, index) in manifest.tables[table].orderedIndexes.enumerated() {
        guard orderedCopies[table]?[index.name] == nil, let addKeys = keyFunctions[table]?[index.name] else { continue }
        derived.append(DerivedIndex(table: table, index: number, addKeys: addKeys))
      }
    }
    return derived
  }
}

/// An ordered index whose keys are derived from rows.
struct DerivedIndex {
  let table: Int
  let index: Int
  let addKeys: Schema.OrderedIndex.KeyFunction
}

extension RowAppender {
  /// Appends every live row of `source` unchanged, except for the offsets of its shared strings. Returns the number of
  /// rows.
  ///
  /// - Parameters:
  ///   - derived: The ordered indexes for which the keys of the rows are derived.
  ///   - isMapping: Whether to record where each row is now.
  fileprivate mutating func copyRows(
    of source: Snapshot, deriving derived: [DerivedIndex], mapping isMapping: Bool
  ) throws(StoreError) -> (count: Int, map: RowMap) {
    var map = RowMap()
    var copied = 0
    var texts = SharedStringMap()
    // The new offsets of a row's shared strings. The array is reused from row to row.
    var shared: [UInt32] = []
    for (number, table) in source.manifest.tables.enumerated() {
      for (index, space) in table.keySpaces.enumerated() {
        newRows[number].reserve(source.rowLimit(of: space, in: table), index)
      }
    }
    try source.forEachLiveRow { (table, record) throws(StoreError) in
      guard record.keyCount == newRows[table].keys.count else {
        throw source.damagedObject(record.unit, "it has not one key for each key space")
      }
      shared.removeAll(keepingCapacity: true)
      for index in 0..<record.sharedCount {
        guard let old = record.sharedUnit(index) else {
          shared.append(0)
          continue
        }
        if let copied = texts.find(old) {
          shared.append(copied)
        } else {
          let text = try record.shared(index)
          let new = text.byteCount == 0 ? 0 : try share(text).unit
          texts.insert(old, new)
          shared.append(new)
        }
      }
      let unit = try builder.append(copyOf: record.bytes, naming: shared, at: record.sharedStart)
      newRows[table].add(byteCount: ObjectHeader.padded(record.byteCount + builder.objectOverhead))
      for index in 0..<record.keyCount { newRows[table].add(key: record.key(index), index, unit, seed) }
      try newRows[table].spillIfLarge()
      if isMapping { map.add(record.unit.rawValue, unit.rawValue) }
      for index in derived where index.table == table {
        try index.addKeys(record) { ordered[table][index.index].add(OrderedKeys.truncated($0), unit.rawValue) }
        try ordered[table][index.index].spillIfLarge()
      }
      copied += 1
    }
    return (copied, map)
  }
}
