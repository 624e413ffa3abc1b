/// Where the parts of a record stand, read from its own bytes.
///
///     8 shared count s · 9 key count k · 10 key ends, 2·k · pad to 4 · shared strings, 4·s · keys · body
///
/// The initialiser checks every length against the record's own, so that what it hands out lies inside.
public struct RecordLayout: Sendable {
  /// The longest key: its end has 16 bits.
  @inlinable @inline(__always)
  public static var maximumKeyLength: Int { Int(UInt16.max) }

  // Counts have eight bits and an object's length 24, and the layout travels with every record that is lent.
  @usableFromInline
  let shared: UInt8
  @usableFromInline
  let keys: UInt8
  @usableFromInline
  let firstKey: UInt32
  @usableFromInline
  let body: UInt32

  @inlinable @inline(__always)
  public var sharedCount: Int { Int(shared) }
  @inlinable @inline(__always)
  public var keyCount: Int { Int(keys) }
  @inlinable @inline(__always)
  var keyStart: Int { Int(firstKey) }
  @inlinable @inline(__always)
  public var bodyStart: Int { Int(body) }

  /// Reads the layout of a record whose checksum was checked; `nil` where the lengths contradict each other.
  @inlinable @inline(__always)
  public init?(_ record: RawSpan) {
    let byteCount = record.byteCount
    guard byteCount >= 10, byteCount <= ObjectHeader.maximumLength else { return nil }
    shared = record.u8(at: 8)
    keys = record.u8(at: 9)
    let start = Self.keyStart(sharedCount: Int(shared), keyCount: Int(keys))
    guard start <= byteCount else { return nil }
    let end = keys == 0 ? start : start &+ Int(record.u16(at: 8 &+ 2 &* Int(keys)))
    guard end <= byteCount else { return nil }
    firstKey = UInt32(truncatingIfNeeded: start)
    body = UInt32(truncatingIfNeeded: end)
  }

  @inlinable @inline(__always)
  public static func keyStart(sharedCount: Int, keyCount: Int) -> Int {
    ((10 &+ 2 &* keyCount &+ 3) & ~3) &+ 4 &* sharedCount
  }

  /// The bytes of key `index`, relative to the record; empty where the ends contradict each other.
  @inlinable @inline(__always)
  public func keyRange(_ index: Int, in record: RawSpan) -> Range<Int> {
    let start = index == 0 ? 0 : Int(record.u16(at: 8 &+ 2 &* index))
    let end = Int(record.u16(at: 10 &+ 2 &* index))
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
