import Bytes
import RecordFormat

/// One commit of a generation, as history tells it.
public struct CommitRecord: Sendable {
  public let sequence: UInt64
  public let generation: UInt64
  /// Microseconds since 1970 UTC.
  public let time: Int64
  /// Bytes that the commit added to the file.
  public let byteCount: Int
  /// What the application stored with it.
  public let state: [UInt8]
  /// Live rows by table.
  public let rowCounts: [Int]
}

extension Snapshot {
  /// This commit and those before it in this generation, newest first.
  ///
  /// - Complexity: two reads for each commit.
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

  /// The store as it was at commit `sequence`; `nil` if this generation does not hold that commit.
  public func snapshot(at sequence: UInt64) throws(StoreError) -> Snapshot? {
    if sequence == self.sequence { return self }
    guard let footer = try segments().first(where: { $0.sequence == sequence }) else { return nil }
    return try Snapshot(log, mapping, footer)
  }
}
