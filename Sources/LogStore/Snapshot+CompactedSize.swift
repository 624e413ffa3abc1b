import Bytes
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
  /// - Complexity: reads every object once. `compactedByteLimit()` knows nearly as much without.
  public func compactedByteCount() throws(StoreError) -> Int {
    var total = 0
    var interner = SharedStringTable(seed: log.header.seed)
    var texts = SharedStringMap()
    var rows = manifest.tables.map { [Int](repeating: 0, count: $0.keySpaces.count) }
    var keyBytes = rows
    try forEachLiveRow { (table, record) throws(StoreError) in
      total += ObjectHeader.padded(record.byteCount)
      for (index, space) in manifest.tables[table].keySpaces.enumerated() {
        let key = record.key(index)
        if space.isList {
          var list = KeyList(key)
          while let key = list.next() {
            rows[table][index] += 1
            keyBytes[table][index] += key.byteCount
          }
          continue
        }
        if key.byteCount == 0, space.skipsEmptyKeys { continue }
        rows[table][index] += 1
        keyBytes[table][index] += key.byteCount
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
    for table in rows.indices {
      for index in rows[table].indices where rows[table][index] > 0 {
        total += Self.indexFrame + (19 * rows[table][index] + 1) / 2
        // No two rows have one unique key.
        if manifest.tables[table].keySpaces[index].isUnique { continue }
        total += rows[table][index] + (keyBytes[table][index] + 4) / 5
      }
    }
    return withFrame(total)
  }

  /// The most bytes that a compaction writes, from counters alone: never less than ``compactedByteCount()``.
  ///
  /// What is not known is counted in full: of every object that is no row it is taken that it is a shared string, that its
  /// rows live and that no other commit wrote it as well; of keys that many rows may have, that all are as long as the
  /// longest and five rows have each.
  ///
  /// - Returns: the bound, and whether at most a fifth of it is such a guess.
  /// - Complexity: in the number of commits of the generation.
  func compactedByteLimit() throws(StoreError) -> (byteCount: Int, isClose: Bool) {
    var known = 0
    var guessed = 0
    for table in manifest.tables {
      let liveBytes = Int(clamping: table.liveBytes)
      known += liveBytes
      for space in table.keySpaces {
        let rows = rowLimit(of: space, in: table)
        if rows == 0 { continue }
        known += Self.indexFrame + (19 * rows + 1) / 2
        if space.isUnique { continue }
        let longest = space.lengths.lengths.last ?? 0
        // Of keys from 255 bytes on only that is known, and that they stand in the rows.
        let keyBytes = longest < Manifest.longestListedKey ? min(rows * longest, liveBytes) : liveBytes
        guessed += rows + (keyBytes + 4) / 5
      }
    }
    var others = -liveByteCount - deadByteCount
    for segment in try segments() {
      others += Int(segment.objectEnd) - Int(segment.segmentOffset) - SegmentHeader.byteCount
    }
    guessed += max(0, others)
    return (withFrame(known + guessed), 4 * guessed <= known)
  }

  /// The most rows that a key space can have, from counters; in one of lists, the most keys.
  func rowLimit(of space: Manifest.KeySpace, in table: Manifest.Table) -> Int {
    let found = space.blocks.reduce(0) { $0 + Int($1.rowCount) }
    // A row takes 16 bytes and a key in a list one, whatever the counters say.
    if space.isList { return min(found, end) }
    return min(Int(clamping: table.liveRows), found, end / 16)
  }

  /// Of an index, beside its entries: the header, and the bucket that is not full.
  private static let indexFrame = BlockHeader.byteCount + Bucket.byteCount

  /// `byteCount` with what a file of one commit has beside objects and indexes, in whole pages.
  private func withFrame(_ byteCount: Int) -> Int {
    // Two pages for the padding, and what the manifest says of blocks and of tables that the program has newly.
    let page = SegmentHeader.alignment
    let frame =
      SegmentHeader.firstOffset + SegmentHeader.byteCount + SegmentFooter.byteCount + Bucket.byteCount
      + manifest.withoutRows.encoded().count + 2 * page
    return (byteCount + frame) / page * page
  }
}
