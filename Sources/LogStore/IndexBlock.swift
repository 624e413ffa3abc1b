import RecordFormat

/// Where the buckets of a block stand, checked against the committed end of the log.
struct IndexBlock: Sendable {
  /// First bucket.
  let buckets: Int
  let bucketCount: UInt32
  let longestDisplacement: Int
  let entryCount: Int

  /// - Throws: `StoreError.damaged` if the block does not lie between header and `end`.
  init(_ block: Manifest.Block, end: Int, log: LogFile) throws(StoreError) {
    let start = Int(clamping: block.offset)
    guard start % Bucket.byteCount == 0, start >= SegmentHeader.firstOffset, block.bucketCount > 0,
      start <= end - block.byteCount
    else { throw log.damage(start, "a block of \(block.bucketCount) buckets lies outside the commit") }
    buckets = start + BlockHeader.byteCount
    bucketCount = block.bucketCount
    longestDisplacement = Int(block.longestDisplacement)
    entryCount = Int(block.entryCount)
  }

  /// What a key space without blocks has in place of one: no key has a bucket in it.
  static let none = IndexBlock()

  private init() {
    buckets = 0
    bucketCount = 0
    longestDisplacement = -1
    entryCount = 0
  }

  /// The offset of the block's header, which the buckets follow.
  var offset: Int { buckets - BlockHeader.byteCount }

  /// The end of the last bucket.
  var end: Int { buckets + Int(bucketCount) * Bucket.byteCount }

  /// Where bucket `index` stands.
  @inline(__always)
  func line(_ index: Int) -> UnitOffset {
    // A multiple of eight, and inside the commit, as checked at first.
    UnitOffset(rawValue: UInt32(truncatingIfNeeded: (buckets &+ index &* Bucket.byteCount) >> 3))
  }

  /// The bucket in which a key with hash `hash` belongs.
  @inline(__always)
  func home(_ hash: UInt64) -> Int { Bucket.home(hash, bucketCount: bucketCount) }

  /// The bucket behind `index`: behind the last one stands the first.
  @inline(__always)
  func bucket(after index: Int) -> Int { index &+ 1 == Int(bucketCount) ? 0 : index &+ 1 }

  /// The most buckets, from its home on, in which a key may stand.
  @inline(__always)
  var longestProbe: Int { longestDisplacement &+ 1 }
}

/// The index blocks of one key space.
struct KeySpaceBlocks: Sendable {
  /// The one that is asked first, or ``IndexBlock/none``.
  let newest: IndexBlock
  /// Those behind it, newest first and the base's last, as positions in ``Snapshot/blocks``.
  let older: Range<Int>

  /// The blocks of which `range` are those of the key space, newest first.
  init(_ range: Range<Int>, of blocks: [IndexBlock]) {
    newest = range.isEmpty ? .none : blocks[range.lowerBound]
    older = range.dropFirst()
  }

  /// Whether there is one block: no tail.
  @inline(__always)
  var isSingle: Bool { older.isEmpty && newest.bucketCount != 0 }

  /// All of them.
  var all: Range<Int> { newest.bucketCount == 0 ? older : (older.lowerBound - 1)..<older.upperBound }
}
