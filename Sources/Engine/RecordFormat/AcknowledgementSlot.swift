import Bytes

/// One of two pages that record the last acknowledged commit.
///
///     0 magic · 8 store id · 24 sequence · 32 generation · 40 footer offset · 48 end · 56 chain · 60 flags · 4092 crc
package struct AcknowledgementSlot: Equatable, Sendable {
  package static let byteCount = 4096
  /// The number of bytes before the reserved ones.
  package static let headByteCount = 64
  package static let magic = "SHELFACK"

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let storeID = 8
    static let sequence = storeID + 16
    static let generation = sequence + 8
    static let footerOffset = generation + 8
    static let end = footerOffset + 8
    static let chain = end + 8
    static let flags = chain + 4
    static let reserved = flags + 4
    static let checksum = reserved + 4028
    static let total = checksum + 4
  }

  /// The offsets of the two slots in the file.
  package static let offsets = [4096, 8192]
  /// The byte ranges of the two slots.
  package static let pages = offsets.map { $0..<$0 + byteCount }

  package var storeID: StoreID
  package var sequence: UInt64
  package var generation: UInt64
  package var footerOffset: UInt64
  /// The offset after the acknowledged footer.
  package var end: UInt64
  package var chain: UInt32
  /// Whether a newer generation has taken this file's name. It is set in the replaced file, for readers that still map
  /// it.
  package var isSuperseded: Bool

  package init(
    storeID: StoreID, sequence: UInt64, generation: UInt64, footerOffset: UInt64, end: UInt64, chain: UInt32,
    isSuperseded: Bool = false
  ) {
    self.storeID = storeID
    self.sequence = sequence
    self.generation = generation
    self.footerOffset = footerOffset
    self.end = end
    self.chain = chain
    self.isSuperseded = isSuperseded
  }

  /// The fields of a slot that announce a commit, read without any check, as a hint to look closer.
  package struct Hint {
    package let storeID: StoreID
    /// The sequence number; 0 in a slot that was never written.
    package let sequence: UInt64
    package let chain: UInt32
    package let isSuperseded: Bool

    /// Reads the first ``AcknowledgementSlot/headByteCount`` bytes of a slot.
    package init(_ slot: RawSpan) {
      storeID = StoreID(slot, at: Offset.storeID)
      sequence = slot.u64(at: Offset.sequence)
      chain = slot.u32(at: Offset.chain)
      isSuperseded = slot.u32(at: Offset.flags) & 1 != 0
    }
  }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(storeID.words.0, at: Offset.storeID)
    writer.put(storeID.words.1)
    writer.put(sequence, at: Offset.sequence)
    writer.put(generation, at: Offset.generation)
    writer.put(footerOffset, at: Offset.footerOffset)
    writer.put(end, at: Offset.end)
    writer.put(chain, at: Offset.chain)
    writer.put(UInt32(isSuperseded ? 1 : 0), at: Offset.flags)
    writer.putChecksum(at: Offset.checksum)
    assert(Offset.total == Self.byteCount, "the fields fill the layout")
    return writer.bytes(ofLayout: Self.byteCount)
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    try span.check(Self.magic, byteCount: Self.byteCount)
    guard span.u32(at: Offset.flags) <= 1 else { throw .reserved }
    try span.checkReserved(Offset.reserved..<Offset.checksum)
    storeID = StoreID(span, at: Offset.storeID)
    sequence = span.u64(at: Offset.sequence)
    generation = span.u64(at: Offset.generation)
    footerOffset = span.u64(at: Offset.footerOffset)
    end = span.u64(at: Offset.end)
    chain = span.u32(at: Offset.chain)
    isSuperseded = span.u32(at: Offset.flags) & 1 != 0
  }
}
