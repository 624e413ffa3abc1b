import Bytes
import RecordFormat

/// A commit of a generation, as listed in its history.
public struct CommitRecord: Sendable {
  /// The number of the commit. It grows by one with each commit, also across generations.
  public let sequence: UInt64
  /// The number of the generation that contains the commit. A compaction or a full update writes a new generation.
  public let generation: UInt64
  /// The time of the commit, in microseconds since 1970 UTC.
  public let time: Int64
  /// The number of bytes that the commit added to the file.
  public let byteCount: Int
  /// The application's state that is stored with the commit.
  public let state: [UInt8]
  /// The number of live rows, by table.
  public let rowCounts: [Int]
}

extension Snapshot {
  /// Returns this commit and the earlier ones of this generation, newest first.
  ///
  /// - Complexity: Two reads for each commit.
  public func history() throws(StoreError) -> [CommitRecord] {
    var records: [CommitRecord] = []
    for footer in try segments().reversed() {
      let manifest = try log.manifest(of: footer)
      records.append(
        CommitRecord(
          sequence: footer.sequence, generation: footer.generation, time: footer.time,
          byteCount: Int(footer.segmentLength), state: manifest.state,
          rowCounts: manifest.tables.map { Int(clamping: $0.liveRows) }))
    }
    return records
  }

  /// Returns the store at commit `sequence`; `nil` if this generation does not contain that commit.
  public func snapshot(at sequence: UInt64) throws(StoreError) -> Snapshot? {
    if sequence == self.sequence { return self }
    guard let footer = try segments().first(where: { $0.sequence == sequence }) else { return nil }
    return try Snapshot(log, mapping, footer)
  }
}
