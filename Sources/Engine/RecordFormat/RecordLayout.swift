public import Bytes

/// The offsets of the parts of a record, decoded from its bytes.
///
///     8 shared count s · 9 key count k · 10 key ends, 2·k · pad to 4 · shared strings, 4·s · keys · body
///
/// The initializer checks every length against the size of the record, so that all returned ranges are in bounds.
public struct RecordLayout: BitwiseCopyable, Sendable {
  /// The maximum length of a key. The end of a key has 16 bits.
  @inlinable @inline(__always)
  public static var maximumKeyLength: Int { Int(UInt16.max) }

  /// The start of the body in bits 0–31, the number of shared strings in bits 32–39, and the number of keys in bits
  /// 40–47. It is a single word because the layout is passed along with every lent record.
  @usableFromInline
  let bits: UInt64

  /// The offset of the body in the record, in bytes.
  @inlinable @inline(__always)
  public var bodyStart: Int { Int(bits & 0xFFFF_FFFF) }
  /// The number of shared strings that the record names; at most 255.
  @inlinable @inline(__always)
  public var sharedCount: Int { Int(bits >> 32 & 0xFF) }
  /// The number of keys, or lists of keys, that the record has; at most 255.
  @inlinable @inline(__always)
  public var keyCount: Int { Int(bits >> 40) }
  @inlinable @inline(__always)
  var keyStart: Int { Self.keyStart(sharedCount: sharedCount, keyCount: keyCount) }

  /// Decodes the layout of a record whose checksum is valid; `nil` if its lengths are inconsistent.
  @inlinable @inline(__always)
  public init?(_ record: RawSpan) {
    let byteCount = record.byteCount
    guard byteCount >= 10, byteCount <= ObjectHeader.maximumLength else { return nil }
    let shared = Int(record.u8(at: 8))
    let keys = Int(record.u8(at: 9))
    let start = Self.keyStart(sharedCount: shared, keyCount: keys)
    guard start <= byteCount else { return nil }
    // The ends are before `start`. Without keys this reads the two counts instead and ignores them.
    let last = Int(unsafe record.u16(unchecked: 8 &+ 2 &* keys))
    let end = start &+ (keys == 0 ? 0 : last)
    guard end <= byteCount else { return nil }
    bits = UInt64(truncatingIfNeeded: end | shared << 32 | keys << 40)
  }

  /// Returns whether the ends of the keys are in ascending order.
  public func hasOrderedKeys(_ record: RawSpan) -> Bool {
    var previous: UInt16 = 0
    for index in 0..<keyCount {
      let end = record.u16(at: 10 + 2 * index)
      if end < previous { return false }
      previous = end
    }
    return true
  }

  /// Returns whether the bytes between the ends of the keys and the shared strings are zero.
  public func hasZeroPadding(_ record: RawSpan) -> Bool {
    let start = 10 + 2 * keyCount
    return record.slice(start, keyStart - 4 * sharedCount - start).isZero(from: 0)
  }

  /// Returns the offset of the first key in a record with these counts, in bytes.
  @inlinable @inline(__always)
  public static func keyStart(sharedCount: Int, keyCount: Int) -> Int {
    ((10 &+ 2 &* keyCount &+ 3) & ~3) &+ 4 &* sharedCount
  }

  /// Returns the range of key `index` in the record; empty if the ends are inconsistent.
  @inlinable @inline(__always)
  public func keyRange(_ index: Int, in record: RawSpan) -> Range<Int> {
    precondition(index >= 0 && index < keyCount && bodyStart <= record.byteCount, "a key of this record")
    // The ends are before the keys, and so before the body. Before the first end are the two counts.
    let previous = Int(unsafe record.u16(unchecked: 8 &+ 2 &* index))
    let start = index == 0 ? 0 : previous
    let end = Int(unsafe record.u16(unchecked: 10 &+ 2 &* index))
    guard start <= end, keyStart &+ end <= bodyStart else { return bodyStart..<bodyStart }
    return (keyStart &+ start)..<(keyStart &+ end)
  }

  /// Returns the offset of shared string `index`; `nil` for the empty string.
  @inlinable @inline(__always)
  public func shared(_ index: Int, in record: RawSpan) -> UnitOffset? {
    let raw = record.u32(at: keyStart - 4 * (sharedCount - index))
    return raw == 0 ? nil : UnitOffset(rawValue: raw)
  }
}
