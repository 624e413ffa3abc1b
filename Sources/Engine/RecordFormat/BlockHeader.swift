import Bytes

/// The 64 bytes before a block's buckets.
///
///     0 magic · 8 kind · 9 key space · 10 longest displacement · 12 bucket count · 16 entry count · 60 crc, salted
package struct BlockHeader: Equatable, Sendable {
  package static let byteCount = 64
  package static let magic = "SHELFIDX"

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let kind = 8
    static let keySpace = kind + 1
    static let longestDisplacement = keySpace + 1
    static let bucketCount = longestDisplacement + 2
    static let entryCount = bucketCount + 4
    static let reserved = entryCount + 4
    static let checksum = reserved + 40
    static let total = checksum + 4
  }

  package enum Kind: UInt8, Sendable {
    case index = 0
    case dead = 1
  }

  package var kind: Kind
  package var keySpace: UInt8
  package var longestDisplacement: UInt16
  package var bucketCount: UInt32
  package var entryCount: UInt32

  package init(
    kind: Kind, keySpace: UInt8, longestDisplacement: UInt16, bucketCount: UInt32, entryCount: UInt32
  ) {
    self.kind = kind
    self.keySpace = keySpace
    self.longestDisplacement = longestDisplacement
    self.bucketCount = bucketCount
    self.entryCount = entryCount
  }

  /// Returns the header's bytes for a block at `unit`.
  package func encoded(at unit: UnitOffset) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(kind.rawValue, at: Offset.kind)
    writer.put(keySpace, at: Offset.keySpace)
    writer.put(longestDisplacement, at: Offset.longestDisplacement)
    writer.put(bucketCount, at: Offset.bucketCount)
    writer.put(entryCount, at: Offset.entryCount)
    writer.putChecksum(at: Offset.checksum, salt: Checksum.salt(unit))
    assert(Offset.total == Self.byteCount, "the fields fill the layout")
    return writer.bytes(ofLayout: Self.byteCount)
  }

  package init(_ span: RawSpan, at unit: UnitOffset) throws(FormatFault) {
    try span.check(Self.magic, byteCount: Self.byteCount, salt: Checksum.salt(unit))
    try span.checkReserved(Offset.reserved..<Offset.checksum)
    guard let kind = Kind(rawValue: span.u8(at: Offset.kind)) else {
      throw .field("block kind", UInt64(span.u8(at: Offset.kind)))
    }
    self.kind = kind
    keySpace = span.u8(at: Offset.keySpace)
    longestDisplacement = span.u16(at: Offset.longestDisplacement)
    bucketCount = span.u32(at: Offset.bucketCount)
    entryCount = span.u32(at: Offset.entryCount)
  }
}
