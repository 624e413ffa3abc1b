import RecordFormat

/// The location of a block's buckets, checked against the committed end of the log.
struct IndexBlock: Sendable {
  /// The offset of the first bucket.
  let buckets: Int
  let bucketCount: UInt32
  let longestDisplacement: Int
  let entryCount: Int

  /// Checks the location of a block.
  ///
  /// - Throws: `StoreError.damaged` if the block is not between the header and `end`.
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

  /// A null object for a key space without blocks: it contains no bucket.
  static let none = IndexBlock()

  private init() {
    buckets = 0
    bucketCount = 0
    longestDisplacement = -1
    entryCount = 0
  }

  /// The offset of the block's header, which precedes the buckets.
  var offset: Int { buckets - BlockHeader.byteCount }

  /// The offset after the last bucket.
  var end: Int { buckets + Int(bucketCount) * Bucket.byteCount }

  /// Returns the offset of bucket `index`.
  @inline(__always)
  func line(_ index: Int) -> UnitOffset {
    Self.line(index, of: buckets)
  }

  /// Returns the offset of bucket `index` of the block whose first bucket is at `buckets`.
  @inline(__always)
  static func line(_ index: Int, of buckets: Int) -> UnitOffset {
    // A multiple of eight within the commit, as checked by the initializer.
    UnitOffset(rawValue: UInt32(truncatingIfNeeded: (buckets &+ index &* Bucket.byteCount) >> 3))
  }

  /// Returns the index of the home bucket of a key with hash `hash`.
  @inline(__always)
  func home(_ hash: UInt64) -> Int { Bucket.home(hash, bucketCount: bucketCount) }

  /// Returns the index of the next bucket. The first bucket follows the last one.
  @inline(__always)
  func bucket(after index: Int) -> Int { index &+ 1 == Int(bucketCount) ? 0 : index &+ 1 }

  /// The maximum number of buckets, starting with its home bucket, that can contain a key.
  @inline(__always)
  var longestProbe: Int { longestDisplacement &+ 1 }
}

/// The index blocks of one key space.
struct KeySpaceBlocks: Sendable {
  /// The block that a lookup searches first, or ``IndexBlock/none``.
  let newest: IndexBlock
  /// The older blocks, newest first and the base's last, as a range of ``Snapshot/blocks``.
  let older: Range<Int>

  /// Selects the blocks in `range`, which are those of the key space, newest first.
  init(_ range: Range<Int>, of blocks: [IndexBlock]) {
    newest = range.isEmpty ? .none : blocks[range.lowerBound]
    older = range.dropFirst()
  }

  /// Whether the key space has only one block, so no tail.
  @inline(__always)
  var isSingle: Bool { older.isEmpty && newest.bucketCount != 0 }

  /// The range of all blocks.
  var all: Range<Int> { newest.bucketCount == 0 ? older : (older.lowerBound - 1)..<older.upperBound }
}
