/// The 64 bytes before a block's buckets.
///
///     0 magic · 8 kind · 9 key space · 10 longest displacement · 12 bucket count · 16 entry count · 60 crc, salted
package struct BlockHeader: Equatable, Sendable {
  package static let byteCount = 64
  package static let magic = "SHELFIDX"

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

  /// The header's bytes for a block that begins at `unit`.
  package func encoded(at unit: UnitOffset) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(kind.rawValue)
    writer.put(keySpace)
    writer.put(longestDisplacement)
    writer.put(bucketCount)
    writer.put(entryCount)
    writer.fill(to: Self.byteCount - 4)
    writer.putChecksum(salt: Checksum.salt(unit))
    return writer.bytes
  }

  package init(_ span: RawSpan, at unit: UnitOffset) throws(FormatFault) {
    guard span.byteCount >= Self.byteCount else {
      throw .short(expected: Self.byteCount, found: span.byteCount)
    }
    for (offset, byte) in Self.magic.utf8.enumerated() where span.u8(at: offset) != byte {
      throw .magic(expected: Self.magic)
    }
    let stored = span.u32(at: 60)
    let computed = Checksum.of(span.slice(0, 60), from: Checksum.salt(unit))
    guard stored == computed else { throw .checksum(stored: stored, computed: computed) }
    try span.checkReserved(20..<60)
    guard let kind = Kind(rawValue: span.u8(at: 8)) else {
      throw .field("block kind", UInt64(span.u8(at: 8)))
    }
    self.kind = kind
    keySpace = span.u8(at: 9)
    longestDisplacement = span.u16(at: 10)
    bucketCount = span.u32(at: 12)
    entryCount = span.u32(at: 16)
  }
}
