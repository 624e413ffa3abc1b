/// One of two pages that say which commit was acknowledged last.
///
///     0 magic · 8 store id · 24 sequence · 32 generation · 40 footer offset · 48 end · 56 chain · 60 flags · 4092 crc
package struct AcknowledgementSlot: Equatable, Sendable {
  package static let byteCount = 4096
  package static let magic = "SHELFACK"
  /// Where the two slots stand in the file.
  package static let offsets = [4096, 8192]
  /// The bytes of the two slots.
  package static let pages = offsets.map { $0..<$0 + byteCount }

  package var storeID: StoreID
  package var sequence: UInt64
  package var generation: UInt64
  package var footerOffset: UInt64
  /// First byte after the acknowledged footer.
  package var end: UInt64
  package var chain: UInt32
  /// A newer generation has taken this file's name; set in the file that lost it, for readers that still map it.
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

  /// Whether the bytes of a slot say that a newer generation has taken the file's name. Nothing else of them is checked.
  package static func isSuperseded(_ slot: RawSpan) -> Bool { slot.u32(at: 60) & 1 != 0 }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(storeID.words.0)
    writer.put(storeID.words.1)
    writer.put(sequence)
    writer.put(generation)
    writer.put(footerOffset)
    writer.put(end)
    writer.put(chain)
    writer.put(UInt32(isSuperseded ? 1 : 0))
    writer.fill(to: Self.byteCount - 4)
    writer.putChecksum()
    return writer.bytes
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    try span.check(Self.magic, byteCount: Self.byteCount)
    guard span.u32(at: 60) <= 1 else { throw .reserved }
    try span.checkReserved(64..<4092)
    storeID = StoreID(span.u64(at: 8), span.u64(at: 16))
    sequence = span.u64(at: 24)
    generation = span.u64(at: 32)
    footerOffset = span.u64(at: 40)
    end = span.u64(at: 48)
    chain = span.u32(at: 56)
    isSuperseded = span.u32(at: 60) & 1 != 0
  }
}
