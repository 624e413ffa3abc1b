import Bytes
import RecordFormat

/// The disk space for an operation, in bytes.
public struct DiskSpace: Sendable, Equatable {
  /// The maximum space that the operation needs.
  public let needed: Int
  /// The free space; `nil` if it is not known.
  public let available: Int?

  /// Creates a comparison of needed and free space, both in bytes.
  public init(needed: Int, available: Int?) {
    self.needed = needed
    self.available = available
  }
}

extension Snapshot {
  /// Returns the maximum number of bytes that a compaction of this commit writes.
  ///
  /// Records are counted exactly, and so are shared strings, as the compaction will deduplicate them. The size of an
  /// index is estimated, with the highest cost for each row:
  ///
  /// | a row whose key | costs |
  /// |---|---|
  /// | few rows have | 64 / (9 · 0.75) = 9.5 bytes of a bucket |
  /// | five rows or more have | 4 bytes of a list, a fifth of its entry, header, padding and key, so 10.5 + key / 5 |
  ///
  /// The bound does not hold for keys that were chosen to collide under the new file's seed: keys that crowd one bucket
  /// need more buckets.
  ///
  /// - Throws: `StoreError.damaged` at the first object that fails its check, as the compaction would.
  /// - Complexity: Reads every object once. `compactedByteLimit()` is almost as precise without reading them.
  package func compactedByteCount() throws(StoreError) -> Int {
    var total = 0
    let baseOverhead = isSealed ? SealedForm.baseObjectOverhead : 0
    var interner = SharedStringTable(seed: seed)
    var texts = SharedStringMap()
    var rows = manifest.tables.map { [Int](repeating: 0, count: $0.keySpaces.count) }
    var keyBytes = rows
    try forEachLiveRow { (table, record) throws(StoreError) in
      total += ObjectHeader.padded(record.byteCount + baseOverhead)
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
        total += ObjectHeader.padded(ObjectHeader.byteCount + text.byteCount + baseOverhead)
      }
    }
    total += orderedByteLimit
    for table in rows.indices {
      for index in rows[table].indices where rows[table][index] > 0 {
        total += Self.indexFrame + (19 * rows[table][index] + 1) / 2
        // A unique key has only one row.
        if manifest.tables[table].keySpaces[index].isUnique { continue }
        total += rows[table][index] + (keyBytes[table][index] + 4) / 5
      }
    }
    return withFrame(total)
  }

  /// Returns an upper bound for the bytes that a compaction writes, from counters alone. It is never less than
  /// ``compactedByteCount()``.
  ///
  /// Unknown quantities are counted with their maximum: every object that is not a row is assumed to be a shared string
  /// that live rows use and that no other commit wrote as well; non-unique keys are all assumed to be as long as the
  /// longest, with five rows each.
  ///
  /// - Returns: The bound, and whether at most a fifth of it is such an assumption.
  /// - Complexity: Proportional to the number of commits of the generation.
  func compactedByteLimit() throws(StoreError) -> (byteCount: Int, isClose: Bool) {
    var certain = orderedByteLimit
    var guessed = 0
    for table in manifest.tables {
      let liveBytes = Int(clamping: table.liveBytes)
      certain += liveBytes
      for space in table.keySpaces {
        let rows = rowLimit(of: space, in: table)
        if rows == 0 { continue }
        certain += Self.indexFrame + (19 * rows + 1) / 2
        if space.isUnique { continue }
        let longest = space.lengths.lengths.last ?? 0
        // For keys of 255 bytes or more, only that lower limit is known, and that the rows contain them.
        let keyBytes = longest < Manifest.longestListedKey ? min(rows * longest, liveBytes) : liveBytes
        guessed += rows + (keyBytes + 4) / 5
      }
    }
    var others = -liveByteCount - deadByteCount
    for segment in try segments() {
      others += Int(segment.objectEnd) - Int(segment.segmentOffset) - SegmentHeader.byteCount
    }
    guessed += max(0, others)
    return (withFrame(certain + guessed), 4 * guessed <= certain)
  }

  /// An upper bound for the size of the ordered indexes after a compaction. Their keys and rows are those of the
  /// present blocks, and fewer blocks share more; but pages may be divided at other places.
  private var orderedByteLimit: Int {
    let sizes = manifest.tables.flatMap { $0.orderedIndexes.map(\.byteCount) }
    return sizes.reduce(0) { $0 + ($1 == 0 ? 0 : $1 + $1 / 8 + 2 * OrderedPage.byteCount) }
  }

  /// Returns the maximum number of rows in a key space, from counters; in a key space of lists, the maximum number of
  /// keys.
  func rowLimit(of space: Manifest.KeySpace, in table: Manifest.Table) -> Int {
    let found = space.blocks.reduce(0) { $0 + Int($1.rowCount) }
    // A row takes 16 bytes and a key in a list one byte, whatever the counters contain.
    if space.isList { return min(found, end) }
    return min(Int(clamping: table.liveRows), found, end / 16)
  }

  /// The overhead of an index: the block header and one bucket that is not full.
  private static let indexFrame = BlockHeader.byteCount + Bucket.byteCount

  /// Returns `byteCount` plus the overhead of a file with one commit, in addition to objects and indexes, rounded up to
  /// pages.
  private func withFrame(_ byteCount: Int) -> Int {
    // Two pages for padding, and the manifest's entries for blocks and for tables that are new in this program.
    let page = SegmentHeader.alignment
    let frame =
      SegmentHeader.firstOffset + SegmentHeader.byteCount + SegmentFooter.byteCount + Bucket.byteCount
      + manifest.withoutRows.encoded().count + 2 * page
    return (byteCount + frame) / page * page
  }
}
