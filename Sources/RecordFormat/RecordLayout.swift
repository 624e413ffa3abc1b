import Bytes

/// Where the parts of a record stand, read from its own bytes.
///
///     8 shared count s · 9 key count k · 10 key ends, 2·k · pad to 4 · shared strings, 4·s · keys · body
///
/// The initialiser checks every length against the record's own, so that what it hands out lies inside.
public struct RecordLayout: BitwiseCopyable, Sendable {
  /// The longest key: its end has 16 bits.
  @inlinable @inline(__always)
  public static var maximumKeyLength: Int { Int(UInt16.max) }

  /// Where the body begins in bits 0–31, shared strings in bits 32–39, keys in bits 40–47: one word, for the layout travels
  /// with every record that is lent.
  @usableFromInline
  let bits: UInt64

  @inlinable @inline(__always)
  public var bodyStart: Int { Int(bits & 0xFFFF_FFFF) }
  @inlinable @inline(__always)
  public var sharedCount: Int { Int(bits >> 32 & 0xFF) }
  @inlinable @inline(__always)
  public var keyCount: Int { Int(bits >> 40) }
  @inlinable @inline(__always)
  var keyStart: Int { Self.keyStart(sharedCount: sharedCount, keyCount: keyCount) }

  /// Reads the layout of a record whose checksum was checked; `nil` where the lengths contradict each other.
  @inlinable @inline(__always)
  public init?(_ record: RawSpan) {
    let byteCount = record.byteCount
    guard byteCount >= 10, byteCount <= ObjectHeader.maximumLength else { return nil }
    let shared = Int(record.u8(at: 8))
    let keys = Int(record.u8(at: 9))
    let start = Self.keyStart(sharedCount: shared, keyCount: keys)
    guard start <= byteCount else { return nil }
    // The ends stand before `start`. Without keys it is the two counts that are read, and left.
    let last = Int(unsafe record.u16(unchecked: 8 &+ 2 &* keys))
    let end = start &+ (keys == 0 ? 0 : last)
    guard end <= byteCount else { return nil }
    bits = UInt64(truncatingIfNeeded: end | shared << 32 | keys << 40)
  }

  /// Whether the keys end in their order: no end before the one of the key before it.
  public func hasOrderedKeys(_ record: RawSpan) -> Bool {
    var previous: UInt16 = 0
    for index in 0..<keyCount {
      let end = record.u16(at: 10 + 2 * index)
      if end < previous { return false }
      previous = end
    }
    return true
  }

  /// Whether the bytes between the ends of the keys and the shared strings are zero.
  public func hasZeroPadding(_ record: RawSpan) -> Bool {
    let start = 10 + 2 * keyCount
    return record.slice(start, keyStart - 4 * sharedCount - start).isZero(from: 0)
  }

  @inlinable @inline(__always)
  public static func keyStart(sharedCount: Int, keyCount: Int) -> Int {
    ((10 &+ 2 &* keyCount &+ 3) & ~3) &+ 4 &* sharedCount
  }

  /// The bytes of key `index`, relative to the record; empty where the ends contradict each other.
  @inlinable @inline(__always)
  public func keyRange(_ index: Int, in record: RawSpan) -> Range<Int> {
    precondition(index >= 0 && index < keyCount && bodyStart <= record.byteCount, "a key of this record")
    // The ends stand before the keys, and so before the body. Before the first one stand the two counts.
    let previous = Int(unsafe record.u16(unchecked: 8 &+ 2 &* index))
    let start = index == 0 ? 0 : previous
    let end = Int(unsafe record.u16(unchecked: 10 &+ 2 &* index))
    guard start <= end, keyStart &+ end <= bodyStart else { return bodyStart..<bodyStart }
    return (keyStart &+ start)..<(keyStart &+ end)
  }

  /// The offset of shared string `index`; `nil` for the empty string.
  @inlinable @inline(__always)
  public func shared(_ index: Int, in record: RawSpan) -> UnitOffset? {
    let raw = record.u32(at: keyStart - 4 * (sharedCount - index))
    return raw == 0 ? nil : UnitOffset(rawValue: raw)
  }
}
