import Bytes
import RecordFormat

/// When a store is worth compacting: as soon as what a compaction would free exceeds a share of what it would leave, and a
/// floor.
///
/// Who asks ``isDue(in:)`` after each commit, and compacts when it says so, keeps a bound on the file:
///
///     file ≤ compacted + max(floor, share · compacted)
///
/// whatever the commits replace, delete or index again, give or take one commit and what is estimated of shared strings:
/// they are taken to die in proportion to rows. A compaction needs as much room beside that as it leaves.
///
/// Of a store with a shared base a compaction frees no more than the file of its own, as the others keep the base, and writes out
/// what was shared until then. So it is not due before that file has grown past ``allowance(for:)`` of the base, whatever is
/// dead in the base or became dead: until then the disk holds the base once, and
///
///     own file ≤ max(floor, share · base)
///
/// A base that nobody else has any more is the store's own, and counts as such.
///
/// It pays for itself: with a share of one half, a compaction writes at most two bytes for each that commits wrote since the
/// one before.
public struct CompactionPolicy: Sendable, Equatable {
  /// What may be wasted for each byte that a compaction would leave.
  public var share: Double
  /// What may be wasted in any store, in bytes: small ones need not be compacted at every commit.
  public var floor: Int

  public init(share: Double = 0.5, floor: Int = 4 << 20) {
    precondition(share >= 0 && floor >= 0, "a store wastes no less than nothing")
    self.share = share
    self.floor = floor
  }

  /// At most half as much again as compacted, or 4 MiB more.
  public static let standard = CompactionPolicy()
  /// Leaves it to whoever calls for a compaction.
  public static let never = CompactionPolicy(share: 0, floor: .max)

  /// The most bytes that a store may waste which a compaction would bring to `compactedByteCount`.
  public func allowance(for compactedByteCount: Int) -> Int {
    // A share of anything may be more than an integer holds.
    max(floor, Int(exactly: (share * Double(compactedByteCount)).rounded()) ?? .max)
  }

  /// Whether a compaction of this commit is worth it.
  ///
  /// - Throws: `StoreError` where the end of the base cannot be read.
  /// - Complexity: two reads, whatever the size of the store; a system call more with a shared base.
  public func isDue(in snapshot: Snapshot) throws(StoreError) -> Bool {
    // What is no larger than the floor has no more than that to give.
    if snapshot.end <= floor { return false }
    if let (own, base) = try snapshot.ownAndSharedByteCounts(), own <= allowance(for: base) { return false }
    let freed = try snapshot.reclaimableByteCount()
    return freed > allowance(for: snapshot.end - freed)
  }
}

extension Snapshot {
  /// About how many bytes a compaction of this commit would free.
  ///
  /// What it would leave is the base as it was written, less what of its rows and indexes is no longer live, and more what
  /// became live in the tail. Shared strings are taken to be those of the base, fewer where rows are fewer: what the tail
  /// wrote of them is counted as free, until a compaction finds how many of them are new.
  ///
  /// - Throws: `StoreError` where the end of the base cannot be read.
  /// - Complexity: two reads.
  public func reclaimableByteCount() throws(StoreError) -> Int {
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
    }
    if rows.now < rows.base { left -= share(max(0, texts), rows.base - rows.now, of: rows.base) }
    return max(0, end - max(0, left))
  }

  /// How much larger than `blocks`, those of a key space in the base, an index of `rows` rows is.
  private func growth(of blocks: [Manifest.Block], to rows: Int) -> Int {
    let found = blocks.reduce(0) { $0 + Int($1.rowCount) }
    if rows >= found { return (19 * (rows - found) + 1) / 2 }
    return -share(blocks.reduce(0) { $0 + $1.byteCount }, found - rows, of: found)
  }

  /// `part` of `whole` parts of `byteCount`. `whole` is not 0.
  private func share(_ byteCount: Int, _ part: Int, of whole: Int) -> Int {
    Int(Double(byteCount) * Double(part) / Double(whole))
  }

  /// The manifest and footer of the base.
  private func baseManifest() throws(StoreError) -> (Manifest, SegmentFooter) {
    if footer.previousFooterOffset == 0 { return (manifest, footer) }
    let base = try log.footer(at: baseEnd - SegmentFooter.byteCount) {
      $0.previousFooterOffset == 0 && $0.end == UInt64(baseEnd)
    }
    return (try log.checkedManifest(of: base), base)
  }
}
