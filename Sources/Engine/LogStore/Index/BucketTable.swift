import Bytes
import RecordFormat

/// The buckets of a block under construction, for index blocks and dead blocks.
///
/// Invariants: an entry is in its home bucket or, if that was full, in the next bucket with a free slot; each full
/// bucket that it passed has the entry's filter bit set; no entry is further from its home bucket than
/// `longestDisplacement`.
struct BucketTable {
  /// The target load factor: the share of filled slots if the keys are spread evenly over the buckets.
  static let load = 0.75
  /// The displacement above which the table is rebuilt with more buckets. A longer one is bad luck of the hash.
  static let displacementLimit = 64
  /// The number of times that the table may grow. After that, any displacement is accepted: keys with the same hash
  /// stay together however many buckets there are.
  static let growthLimit = 3

  let kind: BlockHeader.Kind
  private(set) var bucketCount: Int
  private(set) var longestDisplacement = 0
  /// Whether every entry has a slot. `false` if an entry would be further from its home bucket than the format can
  /// express, which takes more than 589,824 keys with the same home bucket.
  private(set) var isComplete = true
  private(set) var bytes: [UInt8]
  private let entryCount: Int
  private let rowCount: Int

  private var isIndex: Bool { kind == .index }

  /// Builds the buckets for `entries`, which refer to `rowCount` rows.
  ///
  /// - Throws: `StoreError.io`, if the entries are in a temporary file.
  init(_ kind: BlockHeader.Kind, _ entries: NewEntries, rowCount: Int) throws(StoreError) {
    self.kind = kind
    entryCount = entries.count
    self.rowCount = rowCount
    bucketCount = 0
    bytes = []
    let perBucket = Double(isIndex ? Bucket.indexCapacity : Bucket.deadCapacity) * Self.load
    let usual = max(1, Int((Double(entries.count) / perBucket).rounded(.up)))
    var candidate = usual
    for _ in 0...Self.growthLimit {
      if try fill(entries, bucketCount: candidate, displacementLimit: Self.displacementLimit) { return }
      candidate += candidate / 2 + 1
    }
    isComplete = try fill(entries, bucketCount: usual, displacementLimit: Int(UInt16.max))
  }

  /// Fills so many buckets. Returns whether no entry is further from its home bucket than the limit.
  private mutating func fill(
    _ entries: NewEntries, bucketCount: Int, displacementLimit: Int
  ) throws(StoreError) -> Bool {
    self.bucketCount = bucketCount
    longestDisplacement = 0
    bytes = [UInt8](repeating: 0, count: bucketCount * Bucket.byteCount)
    var isComplete = true
    try entries.forEachPart { part in
      if isComplete { isComplete = enter(part, displacementLimit: displacementLimit) }
    }
    return isComplete
  }

  /// Enters a part of the entries. Returns whether each of them found a bucket within the limit.
  private mutating func enter(_ entries: [IndexEntry], displacementLimit: Int) -> Bool {
    let bucketCount = bucketCount
    let isIndex = isIndex
    let capacity = UInt32(isIndex ? Bucket.indexCapacity : Bucket.deadCapacity)
    var longest = longestDisplacement
    var isComplete = true
    // Borrowed once for all entries: an exclusivity check for each would cost more than the entry.
    bytes.change(0, bytes.count) { bytes in
      var previous: (hash: UInt64, bucket: Int, displacement: Int)?
      for entry in entries {
        var bucket = Bucket.home(entry.hash, bucketCount: UInt32(bucketCount))
        var displacement = 0
        if let previous, previous.hash == entry.hash {
          // All buckets between the home bucket and this one are full and have the filter bit set.
          bucket = previous.bucket
          displacement = previous.displacement
        }
        // The low bits are the filter, the high bits the number of entries.
        var word = bytes.bytes.u32(at: bucket &* Bucket.byteCount &+ 4)
        while word &>> 24 == capacity {
          bytes.put(word | Bucket.filterBit(entry.hash), at: bucket &* Bucket.byteCount &+ 4)
          displacement += 1
          if displacement > displacementLimit {
            isComplete = false
            return
          }
          bucket += 1
          if bucket == bucketCount { bucket = 0 }
          word = bytes.bytes.u32(at: bucket &* Bucket.byteCount &+ 4)
        }
        let start = bucket &* Bucket.byteCount
        let slot = Int(word &>> 24)
        bytes.put(word &+ 1 &<< 24, at: start &+ 4)
        if isIndex {
          bytes.put(Bucket.tag(entry.hash), at: start &+ Bucket.tags &+ 2 &* slot)
          bytes.put(entry.offset, at: start &+ Bucket.indexOffsets &+ 4 &* slot)
        } else {
          bytes.put(entry.offset, at: start &+ Bucket.deadOffsets &+ 4 &* slot)
        }
        previous = (entry.hash, bucket, displacement)
        longest = max(longest, displacement)
      }
    }
    longestDisplacement = longest
    return isComplete
  }

  /// Returns the header and the buckets with their checksums, for a block at `offset`, and the block's entry in the
  /// manifest.
  mutating func seal(at offset: Int, keySpace: Int) -> (header: [UInt8], block: Manifest.Block) {
    let first = offset + BlockHeader.byteCount
    for bucket in 0..<bucketCount {
      let start = bucket * Bucket.byteCount
      let salt = Checksum.salt(UnitOffset(byteOffset: first + start))
      bytes.store(Checksum.of(bytes.rawSpan.slice(start + 4, 60), from: salt), at: start)
    }
    let header = BlockHeader(
      kind: kind, keySpace: UInt8(keySpace), longestDisplacement: UInt16(longestDisplacement),
      bucketCount: UInt32(bucketCount), entryCount: UInt32(entryCount))
    let block = Manifest.Block(
      offset: UInt64(offset), bucketCount: UInt32(bucketCount), entryCount: UInt32(entryCount),
      rowCount: UInt32(rowCount), longestDisplacement: UInt16(longestDisplacement))
    return (header.encoded(at: UnitOffset(byteOffset: offset)), block)
  }
}
