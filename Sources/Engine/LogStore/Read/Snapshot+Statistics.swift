import Bytes
import RecordFormat

/// The sizes of a store and the quality of its indexes.
public struct StoreStatistics: Sendable {
  /// The size and quality of an index.
  public struct Index: Sendable {
    /// What an index finds rows by.
    public enum Kind: String, Sendable {
      /// A key of a key space, through hash tables.
      case hash
      /// Keys in order, through sorted trees.
      case ordered
    }

    /// The table and key space, as `table.keySpace`, or the table and the name of an ordered index.
    public let name: String
    /// What the index finds rows by.
    public let kind: Kind
    /// The number of blocks that a lookup searches, including the base's.
    public let blockCount: Int
    /// The number of entries, each for a row, or for a key and several of its rows. Dead rows are included until a
    /// compaction.
    public let entryCount: Int
    /// The size of all blocks of the index, including the base's.
    public let byteCount: Int
    /// The load factor over all blocks: entries per slot, 0 … 1. 0 for an ordered index.
    public let load: Double
    /// The largest displacement of an entry from its home bucket, in buckets. 0 for an ordered index.
    public let longestProbe: Int
    /// The lengths of the keys that occur, in bytes and in ascending order. 255 represents itself and all larger
    /// lengths. Empty for an ordered index.
    public let keyLengths: [Int]
  }

  /// The size of the file up to the end of this commit.
  public let fileByteCount: Int
  /// The size of live records in bytes, including padding, without shared strings and indexes.
  public let liveByteCount: Int
  /// The size of replaced or deleted records in bytes.
  public let deadByteCount: Int
  /// The number of replaced or deleted rows that are still in the file.
  public let deadRowCount: Int
  /// The number of rows put since the base was written.
  public let tailRowCount: Int
  /// The size of all commits after the base, in bytes.
  public let tailByteCount: Int
  /// The time when the base was written, in microseconds since 1970 UTC.
  public let baseTime: Int64
  /// The indexes of each table, in the order of the schema: first those of its key spaces, then the ordered ones.
  public let indexes: [Index]
}

extension Snapshot {
  /// The size of live rows in bytes.
  ///
  /// - Complexity: Linear in the number of tables.
  public var liveByteCount: Int { manifest.tables.reduce(0) { $0 + Int(clamping: $1.liveBytes) } }
  /// The size of dead rows that are still in the file, in bytes.
  public var deadByteCount: Int { Int(clamping: manifest.deadBytes) }
  /// The size of all commits after the base, in bytes.
  public var tailByteCount: Int { end - baseEnd }

  /// Returns counters and sizes.
  ///
  /// - Complexity: One read for each commit of the generation.
  public func statistics() throws(StoreError) -> StoreStatistics {
    var indexes: [StoreStatistics.Index] = []
    for (number, table) in manifest.tables.enumerated() {
      for (space, described) in table.keySpaces.enumerated() {
        let list = blocks[blocks(of: KeySpaceID(table: number, index: space)).all]
        let slots = list.reduce(0) { $0 + Int($1.bucketCount) * Bucket.indexCapacity }
        let entries = list.reduce(0) { $0 + $1.entryCount }
        indexes.append(
          StoreStatistics.Index(
            name: table.name + "." + described.name, kind: .hash, blockCount: list.count,
            entryCount: entries, byteCount: described.blocks.reduce(0) { $0 + $1.byteCount },
            load: slots == 0 ? 0 : Double(entries) / Double(slots),
            longestProbe: list.map(\.longestDisplacement).max() ?? 0, keyLengths: described.lengths.lengths))
      }
      indexes += table.orderedIndexes.map { index in
        StoreStatistics.Index(
          name: table.name + "." + index.name, kind: .ordered, blockCount: index.blocks.count,
          entryCount: index.blocks.reduce(0) { $0 + Int($1.entryCount) }, byteCount: index.byteCount, load: 0,
          longestProbe: 0, keyLengths: [])
      }
    }
    return StoreStatistics(
      fileByteCount: end,
      liveByteCount: liveByteCount, deadByteCount: deadByteCount, deadRowCount: Int(clamping: manifest.deadRows),
      tailRowCount: Int(clamping: manifest.tailRows), tailByteCount: tailByteCount,
      baseTime: try segments()[0].time, indexes: indexes)
  }
}
