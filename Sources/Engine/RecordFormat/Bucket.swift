public import Bytes
public import CChecksum

/// A bucket: one cache line of an index block or a dead block.
///
///     0 crc of bytes 4…63, salted · 4 filter in bits 0–23, entries in bits 24–31
///     index: 8 nine tags · 26 zero · 28 nine offsets        dead: 8 fourteen offsets
///
/// | layout | entries | bytes per key at load 0.75 |
/// |---|---|---|
/// | ten entries, no checksum | 10 | 8.5 |
/// | nine entries, checksum | 9 | 9.5 |
///
/// The checksum costs a byte per key and a few nanoseconds per probe. Without it, a flipped tag would silently turn an
/// existing product into a missing one.
public enum Bucket {
  /// The size of a bucket in bytes: one cache line.
  @inlinable @inline(__always)
  public static var byteCount: Int { 64 }
  /// The maximum number of entries in a bucket of an index block.
  @inlinable @inline(__always)
  public static var indexCapacity: Int { 9 }
  /// The maximum number of offsets in a bucket of a dead block.
  @inlinable @inline(__always)
  public static var deadCapacity: Int { 14 }
  /// The offset of the first tag in an index bucket. Each tag has two bytes.
  @inlinable @inline(__always)
  public static var tags: Int { 8 }
  /// The offset of the first row offset in an index bucket. Each offset has four bytes.
  @inlinable @inline(__always)
  public static var indexOffsets: Int { 28 }
  /// The offset of the first row offset in a dead bucket. Each offset has four bytes.
  @inlinable @inline(__always)
  public static var deadOffsets: Int { 8 }

  /// Returns the index of the home bucket of a key with hash `hash`.
  @inlinable @inline(__always)
  public static func home(_ hash: UInt64, bucketCount: UInt32) -> Int {
    // Lemire's multiply-shift: the bucket is the high half of the product.
    Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(bucketCount)) >> 32)
  }

  /// Returns the tag of a key with hash `hash`: its lowest 16 bits, which the choice of the bucket does not use.
  @inlinable @inline(__always)
  public static func tag(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash) }

  /// Returns the filter bit that a full bucket sets for a key that was stored in a later bucket.
  @inlinable @inline(__always)
  public static func filterBit(_ hash: UInt64) -> UInt32 {
    1 << UInt32(truncatingIfNeeded: (hash >> 16 & 0xFF) % 24)
  }

  /// Returns the number of entries in the bucket whose second word is `word`.
  @inlinable @inline(__always)
  public static func count(_ word: UInt32) -> Int { Int(word >> 24) }

  /// Returns the offset of the row of entry `entry` of an index bucket.
  @inlinable @inline(__always)
  public static func offset(_ line: RawSpan, _ entry: Int) -> UnitOffset {
    UnitOffset(rawValue: line.u32(at: indexOffsets &+ 4 &* entry))
  }

  /// Returns whether all unused bytes of a bucket, given its number of entries, are zero.
  public static func hasZeroPadding(_ line: RawSpan, isIndex: Bool) -> Bool {
    let entries = count(line.u32(at: 4))
    guard isIndex else { return line.isZero(from: deadOffsets + 4 * entries) }
    let free = tags + 2 * entries
    return line.slice(free, indexOffsets - free).isZero(from: 0) && line.isZero(from: indexOffsets + 4 * entries)
  }

  /// Returns a bit mask of the tags of an index bucket that are equal to `tag`. All nine tags are compared, including
  /// those after the last entry.
  @inlinable @inline(__always)
  public static func matches(_ line: RawSpan, _ tag: UInt16) -> UInt32 {
    precondition(line.byteCount == byteCount, "a bucket is one cache line")
    // Nine tags and the two bytes after them are within the 64 bytes of the bucket.
    return unsafe line.withUnsafeBytes { unsafe shelfmark_match_tags($0.baseAddress! + tags, tag) }
  }

  /// The result of searching a checked index bucket for a key.
  public struct Answer: Sendable {
    /// The entries with a matching tag, one bit each, in the lower half, and the bucket's second word in the upper
    /// half.
    @usableFromInline
    var bits: UInt64

    @inlinable @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    /// The initial value, before any bucket is searched: the search continues.
    @inlinable @inline(__always)
    public static var unasked: Answer { Answer(bits: .max << 32) }

    /// Whether there are entries with a matching tag.
    @inlinable @inline(__always)
    public var hasMatch: Bool { UInt32(truncatingIfNeeded: bits) != 0 }

    /// Removes and returns the first of these entries, which must exist.
    @inlinable @inline(__always)
    public mutating func takeMatch() -> Int {
      let entry = bits.trailingZeroBitCount
      bits &= bits &- 1
      return entry
    }

    /// Returns whether a key with hash `hash` may be in the next bucket.
    @inlinable @inline(__always)
    public func continues(_ hash: UInt64) -> Bool { UInt32(truncatingIfNeeded: bits >> 32) & filterBit(hash) != 0 }
  }

  /// Searches the index bucket at `unit` for a key with hash `hash`; returns `nil` if the bucket fails its check.
  @inlinable @inline(__always)
  public static func search(_ line: RawSpan, at unit: UnitOffset, _ hash: UInt64) -> Answer? {
    precondition(line.byteCount == byteCount, "a bucket is one cache line")
    // Only the bucket's 64 bytes are read.
    let bits = unsafe line.withUnsafeBytes { bytes in
      unsafe shelfmark_search_bucket(bytes.baseAddress.unsafelyUnwrapped, unit.rawValue, tag(hash))
    }
    return bits == .max ? nil : Answer(bits: bits)
  }

  /// Searches the dead bucket at `unit` for `row`; returns `nil` if the bucket fails its check.
  ///
  /// - Parameters:
  ///   - line: The bytes of the bucket.
  ///   - unit: The position of the bucket in the file.
  ///   - hash: The hash of `row`.
  ///   - row: The row to look for.
  /// - Returns: Whether the bucket lists `row`, and whether the next bucket may.
  @inlinable @inline(__always)
  public static func searchDead(
    _ line: RawSpan, at unit: UnitOffset, _ hash: UInt64, _ row: UnitOffset
  ) -> (isListed: Bool, continues: Bool)? {
    precondition(line.byteCount == byteCount, "a bucket is one cache line")
    // Only the bucket's 64 bytes are read.
    let bits = unsafe line.withUnsafeBytes { bytes in
      unsafe shelfmark_search_dead_bucket(bytes.baseAddress.unsafelyUnwrapped, unit.rawValue, row.rawValue)
    }
    if bits == .max { return nil }
    return (bits & 1 != 0, UInt32(truncatingIfNeeded: bits >> 32) & filterBit(hash) != 0)
  }
}
