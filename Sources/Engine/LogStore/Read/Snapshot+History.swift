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
    try history(of: segments().reversed())
  }

  /// Returns this commit and the earlier ones of this generation whose number is greater than `sequence`, newest first.
  ///
  /// - Complexity: Two reads for each of them.
  public func history(after sequence: UInt64) throws(StoreError) -> [CommitRecord] {
    var footers: [SegmentFooter] = []
    var next: SegmentFooter? = footer
    while let commit = next, commit.sequence > sequence {
      footers.append(commit)
      next = commit.previousFooterOffset == 0 ? nil : try log.footer(before: commit)
    }
    return try history(of: footers)
  }

  private func history(of footers: [SegmentFooter]) throws(StoreError) -> [CommitRecord] {
    var records: [CommitRecord] = []
    for footer in footers {
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

  /// Returns the last commit of the file that contains this snapshot. Another file may have replaced that file since:
  /// then no later commit will follow.
  ///
  /// - Throws: `StoreError.damaged`, `.unreadable`, `.io`.
  /// - Complexity: A few small reads, whatever the number of commits.
  package func lastOfFile() throws(StoreError) -> Snapshot {
    guard let last = try log.recover().footer else { throw log.noCommit }
    // On a file system that copies a file when it is first written, this descriptor cannot map the later commits.
    guard last.sequence > sequence, try log.isShown(by: mapping) else { return self }
    return try Snapshot(log, log.mapping(reaching: Int(last.end), reusing: mapping), last)
  }

  /// Checks that the file is still long enough to contain this commit: that nobody has truncated it.
  ///
  /// - Throws: `StoreError.damaged` if it is not; `.io`.
  /// - Complexity: One system call.
  package func checkLength() throws(StoreError) {
    let size = try log.size()
    if size < end { throw log.damage(size, "the file ends here") }
  }

  /// Returns whether `earlier` is this commit or an earlier one of this file, or of a copy that had the same commits up
  /// to there. If it is, ``changes(since:)`` can compare the two.
  ///
  /// Two files of one generation may have grown apart, for example if a backup was put back and written to. Commits
  /// with the same number then differ.
  ///
  /// - Complexity: One read for each commit between the two.
  package func descends(from earlier: Snapshot) throws(StoreError) -> Bool {
    guard isSameGeneration(as: earlier) else { return false }
    var commit = footer
    while commit.sequence > earlier.sequence, commit.previousFooterOffset != 0 {
      commit = try log.footer(before: commit)
    }
    return commit.sequence == earlier.sequence && commit.chain == earlier.footer.chain
  }
}
