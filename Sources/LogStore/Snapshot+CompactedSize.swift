import RecordFormat

/// Room on a file system, in bytes.
public struct Room: Sendable, Equatable {
  /// What something takes at most.
  public let needed: Int
  /// What is free; `nil` if nobody knows.
  public let available: Int?

  public init(needed: Int, available: Int?) {
    self.needed = needed
    self.available = available
  }
}

extension Snapshot {
  /// The most bytes that a compaction of this commit writes.
  ///
  /// Records are counted as they are, shared strings as the compaction will find them again or not. What an index takes is
  /// estimated, each row at its dearest:
  ///
  /// | a row whose key | takes |
  /// |---|---|
  /// | few rows have | 64 / (9 · 0.75) = 9.5 bytes of a bucket |
  /// | five rows or more have | 4 bytes of a list, and a fifth of its entry, header, padding and key: 10.5 bytes, and key / 5 |
  ///
  /// It is a bound for keys that nobody aimed at the new file's seed: those that crowd one bucket take more buckets.
  ///
  /// - Throws: `StoreError.damaged` at the first object that does not pass its check, as the compaction would.
  /// - Complexity: reads every live row and its shared strings once.
  public func compactedByteCount() throws(StoreError) -> Int {
    var total = SegmentHeader.firstOffset + SegmentHeader.byteCount + SegmentFooter.byteCount + Bucket.byteCount
    var interner = StringInterner(seed: log.header.seed)
    var texts = TextMemory()
    for (table, description) in manifest.tables.enumerated() {
      var rows = [Int](repeating: 0, count: description.keySpaces.count)
      var keyBytes = rows
      try scan(table) { (record) throws(StoreError) in
        total += ObjectHeader.padded(record.byteCount)
        for (index, space) in description.keySpaces.enumerated() {
          let key = record.key(index)
          if space.isList {
            var list = KeyList(key)
            while let key = list.next() {
              rows[index] += 1
              keyBytes[index] += key.byteCount
            }
            continue
          }
          if key.byteCount == 0, space.skipsEmptyKeys { continue }
          rows[index] += 1
          keyBytes[index] += key.byteCount
        }
        for index in 0..<record.sharedCount {
          guard let unit = record.sharedUnit(index), texts.find(unit) == nil else { continue }
          texts.insert(unit, 1)
          let text = try record.shared(index)
          if text.byteCount == 0 || interner.find(text) != nil { continue }
          interner.insert(text, at: 1)
          total += ObjectHeader.padded(ObjectHeader.byteCount + text.byteCount)
        }
      }
      for index in rows.indices where rows[index] > 0 {
        total += BlockHeader.byteCount + Bucket.byteCount + (21 * rows[index] + 1) / 2 + (keyBytes[index] + 4) / 5
      }
    }
    // Two pages for the padding, and what the manifest says of blocks and of tables that the program has newly.
    let page = SegmentHeader.alignment
    total += manifest.withoutRows.encoded().count + 2 * page
    return total / page * page
  }
}
