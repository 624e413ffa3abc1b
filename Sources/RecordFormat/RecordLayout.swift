/// Where the parts of a record stand, read from its own bytes.
///
///     8 shared count s · 9 key count k · 10 key ends, 2·k · pad to 4 · shared strings, 4·s · keys · body
///
/// The initialiser checks every length against the record's own, so that what it hands out lies inside.
package struct RecordLayout: Sendable {
  /// The longest key: its end has 16 bits.
  package static let maximumKeyLength = Int(UInt16.max)

  package let sharedCount: Int
  package let keyCount: Int
  @usableFromInline
  let keyStart: Int
  package let bodyStart: Int

  /// Reads the layout of a record whose checksum was checked; `nil` where the lengths contradict each other.
  @inlinable
  package init?(_ record: RawSpan) {
    let byteCount = record.byteCount
    guard byteCount >= 10 else { return nil }
    sharedCount = Int(record.u8(at: 8))
    keyCount = Int(record.u8(at: 9))
    keyStart = Self.keyStart(sharedCount: sharedCount, keyCount: keyCount)
    guard keyStart <= byteCount else { return nil }
    bodyStart = keyCount == 0 ? keyStart : keyStart + Int(record.u16(at: 10 + 2 * (keyCount - 1)))
    guard bodyStart <= byteCount else { return nil }
  }

  @inlinable @inline(__always)
  package static func keyStart(sharedCount: Int, keyCount: Int) -> Int {
    ((10 + 2 * keyCount + 3) & ~3) + 4 * sharedCount
  }

  /// The bytes of key `index`, relative to the record; empty where the ends contradict each other.
  @inlinable @inline(__always)
  package func keyRange(_ index: Int, in record: RawSpan) -> Range<Int> {
    let start = index == 0 ? 0 : Int(record.u16(at: 10 + 2 * (index - 1)))
    let end = Int(record.u16(at: 10 + 2 * index))
    guard start <= end, keyStart + end <= bodyStart else { return bodyStart..<bodyStart }
    return (keyStart + start)..<(keyStart + end)
  }

  /// The offset of shared string `index`; `nil` for the empty string.
  @inlinable @inline(__always)
  package func shared(_ index: Int, in record: RawSpan) -> UnitOffset? {
    let raw = record.u32(at: keyStart - 4 * (sharedCount - index))
    return raw == 0 ? nil : UnitOffset(rawValue: raw)
  }
}
