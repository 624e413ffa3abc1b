import Bytes
import RecordFormat

/// What a store costs and how well its indexes do.
public struct StoreStatistics: Sendable {
  public struct Index: Sendable {
    /// Table and key space, as `table.keySpace`.
    public let name: String
    /// Blocks that a lookup asks, the base's included.
    public let blockCount: Int
    /// Entries in the buckets: a row or the list of the rows of one key; dead rows too, until a compaction.
    public let entryCount: Int
    public let byteCount: Int
    /// Entries per slot over all blocks, 0 … 1.
    public let load: Double
    /// The furthest that an entry stands from its home bucket, in buckets.
    public let longestProbe: Int
    public let keyLengths: [Int]
  }

  public let fileByteCount: Int
  /// Bytes of live records, padding included; shared strings and indexes not.
  public let liveByteCount: Int
  /// Bytes of records that were replaced or deleted.
  public let deadByteCount: Int
  public let deadRowCount: Int
  /// Rows put since the base was written, and the bytes of their segments.
  public let tailRowCount: Int
  public let tailByteCount: Int
  /// When the base was written, in microseconds since 1970 UTC.
  public let baseTime: Int64
  public let indexes: [Index]
}

extension Snapshot {
  /// Bytes of live rows. Complexity: in the number of tables, as of the two below.
  public var liveByteCount: Int { manifest.tables.reduce(0) { $0 + Int(clamping: $1.liveBytes) } }
  /// Bytes of rows that are dead and still in the file.
  public var deadByteCount: Int { Int(clamping: manifest.deadBytes) }
  /// Bytes of all commits behind the base.
  public var tailByteCount: Int { end - baseEnd }

  /// Counters and sizes. Complexity: one read for each commit of the generation.
  public func statistics() throws(StoreError) -> StoreStatistics {
    var indexes: [StoreStatistics.Index] = []
    for (number, table) in manifest.tables.enumerated() {
      for (space, described) in table.keySpaces.enumerated() {
        let list = blocks[blocks(of: KeySpaceID(table: number, index: space)).all]
        let slots = list.reduce(0) { $0 + Int($1.bucketCount) * Bucket.indexCapacity }
        let entries = list.reduce(0) { $0 + $1.entryCount }
        indexes.append(
          StoreStatistics.Index(
            name: table.name + "." + described.name, blockCount: list.count,
            entryCount: entries, byteCount: described.blocks.reduce(0) { $0 + $1.byteCount },
            load: slots == 0 ? 0 : Double(entries) / Double(slots),
            longestProbe: list.map(\.longestDisplacement).max() ?? 0, keyLengths: described.lengths.lengths))
      }
    }
    return StoreStatistics(
      fileByteCount: end,
      liveByteCount: liveByteCount, deadByteCount: deadByteCount, deadRowCount: Int(clamping: manifest.deadRows),
      tailRowCount: Int(clamping: manifest.tailRows), tailByteCount: tailByteCount,
      baseTime: try segments()[0].time, indexes: indexes)
  }
}
