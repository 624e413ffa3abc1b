import Bytes
import CChecksum

/// One cache line of an index block or a dead block.
///
///     0 crc of bytes 4…63, salted · 4 filter in bits 0–23, entries in bits 24–31
///     index: 8 nine tags · 26 zero · 28 nine offsets        dead: 8 fourteen offsets
///
/// | layout | entries | bytes per key at load 0.75 |
/// |---|---|---|
/// | ten entries, no checksum | 10 | 8.5 |
/// | nine entries, checksum | 9 | 9.5 |
///
/// The checksum costs a byte per key and some nanoseconds per probe; without it a flipped tag would turn a product
/// that is there into one that is not, and nobody would know.
public enum Bucket {
  @inlinable @inline(__always)
  public static var byteCount: Int { 64 }
  @inlinable @inline(__always)
  public static var indexCapacity: Int { 9 }
  @inlinable @inline(__always)
  public static var deadCapacity: Int { 14 }
  @inlinable @inline(__always)
  public static var tags: Int { 8 }
  @inlinable @inline(__always)
  public static var indexOffsets: Int { 28 }
  @inlinable @inline(__always)
  public static var deadOffsets: Int { 8 }

  /// The bucket in which a key with hash `hash` belongs.
  @inlinable @inline(__always)
  public static func home(_ hash: UInt64, bucketCount: UInt32) -> Int {
    // The multiply-shift of Lemire: the bucket is the high half of the product.
    Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(bucketCount)) >> 32)
  }

  @inlinable @inline(__always)
  public static func tag(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash) }

  /// The filter bit that a full bucket sets for a key that had to go on.
  @inlinable @inline(__always)
  public static func filterBit(_ hash: UInt64) -> UInt32 {
    1 << UInt32(truncatingIfNeeded: (hash >> 16 & 0xFF) % 24)
  }

  /// Entries in the bucket whose second word is `word`.
  @inlinable @inline(__always)
  public static func count(_ word: UInt32) -> Int { Int(word >> 24) }

  /// Where the row of entry `entry` of an index bucket stands.
  @inlinable @inline(__always)
  public static func offset(_ line: RawSpan, _ entry: Int) -> UnitOffset {
    UnitOffset(rawValue: line.u32(at: indexOffsets &+ 4 &* entry))
  }

  /// Whether all bytes are zero in which a bucket with its number of entries stores nothing.
  public static func hasZeroPadding(_ line: RawSpan, isIndex: Bool) -> Bool {
    let entries = count(line.u32(at: 4))
    guard isIndex else { return line.isZero(from: deadOffsets + 4 * entries) }
    let free = tags + 2 * entries
    return line.slice(free, indexOffsets - free).isZero(from: 0) && line.isZero(from: indexOffsets + 4 * entries)
  }

  /// Which of the nine tags of an index bucket are `tag`, a bit each; of those behind its entries, too.
  @inlinable @inline(__always)
  public static func matches(_ line: RawSpan, _ tag: UInt16) -> UInt32 {
    precondition(line.byteCount == byteCount, "a bucket is one cache line")
    // Nine tags and the two bytes behind them lie inside the 64 of the bucket.
    return unsafe line.withUnsafeBytes { unsafe shelfmark_match_tags($0.baseAddress! + tags, tag) }
  }

  /// What a checked index bucket says about a key.
  public struct Answer: Sendable {
    /// The entries whose tag fits, a bit each, in the lower half, the bucket's second word in the upper one.
    @usableFromInline
    var bits: UInt64

    @inlinable @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    /// That of no bucket yet: the search goes on.
    @inlinable @inline(__always)
    public static var unasked: Answer { Answer(bits: .max << 32) }

    /// Whether there are entries whose tag fits.
    @inlinable @inline(__always)
    public var hasMatch: Bool { UInt32(truncatingIfNeeded: bits) != 0 }

    /// Takes out the first of those entries, which has to be there.
    @inlinable @inline(__always)
    public mutating func takeMatch() -> Int {
      let entry = bits.trailingZeroBitCount
      bits &= bits &- 1
      return entry
    }

    /// Whether a key with hash `hash` may stand in the next bucket.
    @inlinable @inline(__always)
    public func goesOn(_ hash: UInt64) -> Bool { UInt32(truncatingIfNeeded: bits >> 32) & filterBit(hash) != 0 }
  }

  /// Asks the index bucket that stands at `unit` for a key with hash `hash`; `nil` if it does not pass its check.
  @inlinable @inline(__always)
  public static func search(_ line: RawSpan, at unit: UnitOffset, _ hash: UInt64) -> Answer? {
    precondition(line.byteCount == byteCount, "a bucket is one cache line")
    // Nothing beyond the bucket's 64 bytes is read.
    let bits = unsafe line.withUnsafeBytes { bytes in
      unsafe shelfmark_search_bucket(bytes.baseAddress.unsafelyUnwrapped, unit.rawValue, tag(hash))
    }
    return bits == .max ? nil : Answer(bits: bits)
  }
}
