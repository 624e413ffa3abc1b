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

  /// The unit in front of the buckets: where the block's header stands.
  var offset: Int { buckets - BlockHeader.byteCount }
}
