import Bytes
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

  private var isIndex: Bool { kind == .index }

  /// Builds the buckets of `entries`, which lead to `rowCount` rows.
  init(_ kind: BlockHeader.Kind, _ entries: [IndexEntry], rowCount: Int) {
    self.kind = kind
    entryCount = entries.count
    self.rowCount = rowCount
    bucketCount = 0
    bytes = []
    let perBucket = Double(isIndex ? Bucket.indexCapacity : Bucket.deadCapacity) * Self.load
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
    let isIndex = isIndex
    let capacity = UInt32(isIndex ? Bucket.indexCapacity : Bucket.deadCapacity)
    var longest = 0
    var isComplete = true
    // Lent once for all entries: asking for leave at each would cost more than the entry.
    bytes.change(0, bytes.count) { bytes in
      var previous: (hash: UInt64, bucket: Int, displacement: Int)?
      for entry in entries {
        var bucket = Bucket.home(entry.hash, bucketCount: UInt32(bucketCount))
        var displacement = 0
        if let previous, previous.hash == entry.hash {
          // All buckets on the way there are full, and have the filter bit.
          bucket = previous.bucket
          displacement = previous.displacement
        }
        // The filter below, the number of entries above.
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
