import Bytes
import RecordFormat

extension Verification {
  /// Verifies the indexes of the last commit: each entry refers to rows with its key, and each live row is found by
  /// each of its keys.
  mutating func verifyIndexes(of footer: SegmentFooter) throws(StoreError) {
    do {
      let mapping = try log.mapping(reaching: Int(footer.end), reusing: nil)
      let snapshot = try Snapshot(log, mapping, footer)
      try verifyDead(in: snapshot)
      for (table, described) in snapshot.manifest.tables.enumerated() {
        for (index, space) in described.keySpaces.enumerated() {
          let id = KeySpaceID(table: table, index: index)
          for (block, described) in zip(snapshot.blocks[snapshot.blocks(of: id).all], space.blocks) {
            try verifyEntries(of: block, described, id, in: snapshot)
          }
        }
      }
      try verifyOrderedRows(of: snapshot)
      if findings.isEmpty { try verifyRows(of: snapshot) }
    } catch {
      guard let finding = Finding(error, lost: "lookups through it") else { throw error }
      findings.append(finding)
    }
  }

  /// A problem with a row of one table in one key space.
  private struct RowFault {
    let offset: Int
    let name: String
    let what: String
  }

  /// Looks up each live row by each of its keys.
  private mutating func verifyRows(of snapshot: Snapshot) throws(StoreError) {
    for (table, described) in snapshot.manifest.tables.enumerated() {
      var popular = [[[UInt8]: Set<UnitOffset>]](repeating: [:], count: described.keySpaces.count)
      var faults: [RowFault] = []
      let names = names
      try snapshot.scan(table) { (record) throws(StoreError) in
        let own = record.unit
        for (index, space) in described.keySpaces.enumerated() {
          let id = KeySpaceID(table: table, index: index)
          let key = record.key(index)
          if space.isList {
            var list = KeyList(key)
            while let key = list.next() {
              if let fault = try check(key, of: own, id, space, in: snapshot, &popular[index]), faults.count < 100 {
                faults.append(RowFault(offset: own.byteOffset, name: names.name(record.bytes, table), what: fault))
              }
            }
          } else if !space.skipsEmptyKeys || key.byteCount > 0 {
            if let fault = try check(key, of: own, id, space, in: snapshot, &popular[index]), faults.count < 100 {
              faults.append(RowFault(offset: own.byteOffset, name: names.name(record.bytes, table), what: fault))
            }
          }
        }
      }
      for row in faults { add(row.offset, "\(row.name) \(row.what)", lost: "lookups of it") }
    }
  }

  /// Returns what is wrong with finding the row at `own` by `key`; `nil` if it is found.
  private func check(
    _ key: RawSpan, of own: UnitOffset, _ id: KeySpaceID, _ space: Manifest.KeySpace, in snapshot: Snapshot,
    _ popular: inout [[UInt8]: Set<UnitOffset>]
  ) throws(StoreError) -> String? {
    if try !find(own, id, key, in: snapshot, &popular) { return "is not found by its \(space.name)" }
    if !space.lengths.contains(key.byteCount) {
      return "has a key of \(key.byteCount) bytes as its \(space.name), a length that the manifest does not list"
    }
    if space.isUnique, try snapshot.rowCount(id, key, atMost: 2) > 1 {
      return "has the same \(space.name) as another one"
    }
    return nil
  }

  /// Returns whether `own` is among the rows with `key`.
  ///
  /// The rows of a key with many rows are cached in `popular`. Iterating over all of them for each of them would take
  /// quadratic time.
  private func find(
    _ own: UnitOffset, _ space: KeySpaceID, _ key: RawSpan, in snapshot: Snapshot,
    _ popular: inout [[UInt8]: Set<UnitOffset>]
  ) throws(StoreError) -> Bool {
    if !popular.isEmpty, let rows = popular[key.copied()] { return rows.contains(own) }
    var isFound = false
    var seen = 0
    try snapshot.forEachRecord(space, key) { (found) throws(StoreError) in
      seen += 1
      isFound = found.unit == own
      return !isFound && seen <= 64
    }
    if seen <= 64 { return isFound }
    var rows: Set<UnitOffset> = []
    try snapshot.forEachRecord(space, key) { (found) throws(StoreError) in
      rows.insert(found.unit)
      return true
    }
    popular[key.copied()] = rows
    return rows.contains(own)
  }
}
