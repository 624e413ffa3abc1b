import Bytes
import RecordFormat

/// The rule that decides when to compact a store: when a compaction would free more than a floor, and more than a share
/// of what it would leave.
///
/// Call ``isDue(in:)`` after each commit and compact when it returns `true`. The size of the file is then bounded:
///
///     file ≤ compacted + max(floor, share · compacted)
///
/// regardless of what the commits replace, delete or index again. The bound is exact up to one commit and the estimate
/// for shared strings, which are assumed to die in proportion to rows. A compaction needs additional space for the file
/// that it writes.
///
/// In a store with a shared base, a compaction frees at most the store's own file, because other stores keep the base,
/// and it writes out the shared data. So it is not due until that file exceeds the ``allowance(for:)`` of the base,
/// however much of the base is dead. Until then the disk holds the base once, and
///
///     own file ≤ max(floor, share · base)
///
/// A base that no other store uses any more counts as the store's own.
///
/// The cost is amortized: with a share of one half, a compaction writes at most two bytes for each byte that commits
/// have written since the previous one.
public struct CompactionPolicy: Sendable, Equatable {
  /// The permitted waste for each byte that a compaction would leave.
  public var share: Double
  /// The permitted waste of any store in bytes. It keeps small stores from being compacted at every commit.
  public var floor: Int

  /// Creates a policy. Neither value may be negative.
  ///
  /// - Parameters:
  ///   - share: The permitted waste for each byte that a compaction would leave.
  ///   - floor: The permitted waste of any store in bytes.
  public init(share: Double = 0.5, floor: Int = 4 << 20) {
    precondition(share >= 0 && floor >= 0, "share and floor must not be negative")
    self.share = share
    self.floor = floor
  }

  /// At most half as much again as the compacted size, or 4 MiB more.
  public static let standard = CompactionPolicy()
  /// A policy under which a compaction is never due; the application decides when to compact.
  public static let never = CompactionPolicy(share: 0, floor: .max)

  /// Returns the permitted waste, in bytes, of a store whose compacted size is `compactedByteCount`.
  public func allowance(for compactedByteCount: Int) -> Int {
    // The product may exceed the range of `Int`.
    max(floor, Int(exactly: (share * Double(compactedByteCount)).rounded()) ?? .max)
  }

  /// Returns whether this commit should be compacted.
  ///
  /// - Throws: `StoreError` if the end of the base cannot be read.
  /// - Complexity: Two reads, regardless of the size of the store; one more system call with a shared base.
  public func isDue(in snapshot: Snapshot) throws(StoreError) -> Bool {
    // A file that is no larger than the floor cannot waste more than the floor.
    if snapshot.end <= floor { return false }
    if let (own, base) = try snapshot.ownAndSharedByteCounts(), own <= allowance(for: base) { return false }
    let freed = try snapshot.reclaimableByteCount()
    return freed > allowance(for: snapshot.end - freed)
  }
}

extension Snapshot {
  /// Returns an estimate of the bytes that a compaction of this commit would free.
  ///
  /// The compacted size is estimated as the base as it was written, without its dead rows and their index entries, plus
  /// what became live in the tail. Shared strings are assumed to be those of the base, scaled down if there are fewer
  /// rows. Shared strings of the tail count as free space, because only a compaction finds out how many of them are
  /// new.
  ///
  /// - Throws: `StoreError` if the end of the base cannot be read.
  /// - Complexity: Two reads.
  package func reclaimableByteCount() throws(StoreError) -> Int {
    let (base, footer) = try baseManifest()
    let deadBytes = Int(clamping: base.deadBytes)
    var left = baseEnd - deadBytes
    var rows = (base: 0, now: 0)
    var texts = Int(footer.objectEnd) - SegmentHeader.firstOffset - SegmentHeader.byteCount - deadBytes
    for (number, table) in manifest.tables.enumerated() {
      let before = number < base.tables.count ? base.tables[number] : nil
      rows.now += Int(clamping: table.liveRows)
      rows.base += Int(clamping: before?.liveRows ?? 0)
      texts -= Int(clamping: before?.liveBytes ?? 0)
      left += Int(clamping: table.liveBytes) - Int(clamping: before?.liveBytes ?? 0)
      for (index, space) in table.keySpaces.enumerated() {
        let old = before.flatMap { index < $0.keySpaces.count ? $0.keySpaces[index].blocks : nil } ?? []
        left += growth(of: old, to: rowLimit(of: space, in: table))
      }
      left += orderedGrowth(of: table, since: before)
    }
    if rows.now < rows.base { left -= share(max(0, texts), rows.base - rows.now, of: rows.base) }
    return max(0, end - max(0, left))
  }

  /// Returns by how many bytes the ordered indexes of a table would be larger than in the base. They are taken to grow
  /// with the number of rows.
  private func orderedGrowth(of table: Manifest.Table, since base: Manifest.Table?) -> Int {
    let rows = Int(clamping: base?.liveRows ?? 0)
    var growth = 0
    for index in table.orderedIndexes {
      let old = base?.orderedIndexes.first { $0.name == index.name }?.byteCount ?? 0
      growth += rows == 0 || old == 0 ? index.byteCount : share(old, Int(clamping: table.liveRows), of: rows) - old
    }
    // The base's blocks of an index that was removed are gone after a compaction.
    for old in base?.orderedIndexes ?? [] where !table.orderedIndexes.contains(where: { $0.name == old.name }) {
      growth -= old.byteCount
    }
    return growth
  }

  /// Returns by how many bytes an index of `rows` rows is larger than `blocks`, the blocks of its key space in the
  /// base.
  private func growth(of blocks: [Manifest.Block], to rows: Int) -> Int {
    let found = blocks.reduce(0) { $0 + Int($1.rowCount) }
    if rows >= found { return (19 * (rows - found) + 1) / 2 }
    return -share(blocks.reduce(0) { $0 + $1.byteCount }, found - rows, of: found)
  }

  /// Returns `byteCount * part / whole`. `whole` is not 0.
  private func share(_ byteCount: Int, _ part: Int, of whole: Int) -> Int {
    Int(Double(byteCount) * Double(part) / Double(whole))
  }

  /// Returns the manifest and footer of the base.
  private func baseManifest() throws(StoreError) -> (Manifest, SegmentFooter) {
    if footer.previousFooterOffset == 0 { return (manifest, footer) }
    let base = try log.footer(at: baseEnd - SegmentFooter.byteCount) {
      $0.previousFooterOffset == 0 && $0.end == UInt64(baseEnd)
    }
    return (try log.checkedManifest(of: base), base)
  }
}
