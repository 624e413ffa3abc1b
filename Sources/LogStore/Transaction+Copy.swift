import Bytes
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
    // Lent for the whole copy: asking for leave at every row would cost as much as hashing its keys.
    do { count(putRows: try appender.copyRows(of: source)) } catch { throw noted(error) }
  }
}

extension RowAppender {
  /// Appends every live row of `source` as it stands, but for the places of its shared strings. Returns how many.
  fileprivate mutating func copyRows(of source: Snapshot) throws(StoreError) -> Int {
    var copied = 0
    var texts = SharedStringMap()
    // The new places of a row's shared strings. Reused from row to row.
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
        if let known = texts.find(old) {
          shared.append(known)
        } else {
          let text = try record.shared(index)
          let new = text.byteCount == 0 ? 0 : try share(text).unit
          texts.insert(old, new)
          shared.append(new)
        }
      }
      let unit = try builder.append(copyOf: record.bytes, naming: shared, at: record.sharedStart)
      newRows[table].add(byteCount: ObjectHeader.padded(record.byteCount))
      for index in 0..<record.keyCount { newRows[table].add(key: record.key(index), index, unit, seed) }
      copied += 1
    }
    return copied
  }
}
