import RecordFormat

/// The buckets of a block while it is being built, for index and dead blocks alike.
///
/// Invariants: an entry stands in its home bucket or, where that was full, in the next with room; each full bucket
/// that it passed has the entry's filter bit set; no entry stands further than `longestDisplacement`.
struct BucketTable {
  /// Share of the slots that is filled when every bucket is home to its share of the keys.
  static let load = 0.75
  /// A longer way than this is bad luck of the hash; the table is built again with more buckets.
  static let displacementLimit = 64
  /// So often, then the way may be as long as it gets: keys of one hash stay together in any number of buckets.
  static let growthLimit = 3

  let kind: BlockHeader.Kind
  private(set) var bucketCount: Int
  private(set) var longestDisplacement = 0
  /// False where an entry would stand further from its home than the format can say. It takes more than 589,824 keys that
  /// all want one bucket.
  private(set) var isComplete = true
  private(set) var bytes: [UInt8]
  private let entryCount: Int
  private let rowCount: Int

  private var capacity: Int { kind == .index ? Bucket.indexCapacity : Bucket.deadCapacity }

  /// Builds the buckets of `entries`, which lead to `rowCount` rows.
  init(_ kind: BlockHeader.Kind, _ entries: [IndexEntry], rowCount: Int) {
    self.kind = kind
    entryCount = entries.count
    self.rowCount = rowCount
    bucketCount = 0
    bytes = []
    let perBucket = Double(kind == .index ? Bucket.indexCapacity : Bucket.deadCapacity) * Self.load
    let usual = max(1, Int((Double(entries.count) / perBucket).rounded(.up)))
    var wanted = usual
    for _ in 0...Self.growthLimit {
      if fill(entries, bucketCount: wanted, displacementLimit: Self.displacementLimit) { return }
      wanted += wanted / 2 + 1
    }
    isComplete = fill(entries, bucketCount: usual, displacementLimit: Int(UInt16.max))
  }

  private mutating func fill(_ entries: [IndexEntry], bucketCount: Int, displacementLimit: Int) -> Bool {
    self.bucketCount = bucketCount
    longestDisplacement = 0
    bytes = [UInt8](repeating: 0, count: bucketCount * Bucket.byteCount)
    var previous: (hash: UInt64, bucket: Int, displacement: Int)?
    for entry in entries {
      var bucket = Bucket.home(entry.hash, bucketCount: UInt32(bucketCount))
      var displacement = 0
      if let previous, previous.hash == entry.hash {
        // All buckets on the way there are full, and have the filter bit.
        bucket = previous.bucket
        displacement = previous.displacement
      }
      while Int(bytes[bucket * Bucket.byteCount + 7]) == capacity {
        setFilter(bucket, entry.hash)
        displacement += 1
        if displacement > displacementLimit { return false }
        bucket += 1
        if bucket == bucketCount { bucket = 0 }
      }
      put(entry, in: bucket)
      previous = (entry.hash, bucket, displacement)
      longestDisplacement = max(longestDisplacement, displacement)
    }
    return true
  }

  private mutating func setFilter(_ bucket: Int, _ hash: UInt64) {
    let bit = Bucket.filterBit(hash)
    for byte in 0..<3 {
      bytes[bucket * Bucket.byteCount + 4 + byte] |= UInt8(truncatingIfNeeded: bit >> UInt32(8 * byte))
    }
  }

  private mutating func put(_ entry: IndexEntry, in bucket: Int) {
    let kind = kind
    bytes.change(bucket * Bucket.byteCount, Bucket.byteCount) { bytes in
      let slot = Int(bytes.bytes.u8(at: 7))
      bytes.put(UInt8(truncatingIfNeeded: slot + 1), at: 7)
      if kind == .index {
        bytes.put(Bucket.tag(entry.hash), at: Bucket.tags + 2 * slot)
        bytes.put(entry.offset, at: Bucket.indexOffsets + 4 * slot)
      } else {
        bytes.put(entry.offset, at: Bucket.deadOffsets + 4 * slot)
      }
    }
  }

  /// Header and buckets with their checksums, for a block that begins at `offset`; and its line in the manifest.
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
