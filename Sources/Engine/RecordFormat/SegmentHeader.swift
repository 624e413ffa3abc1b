import Bytes

/// The first 64 bytes of a segment, with which a reader moves forward from one commit to the next.
///
///     0 magic · 8 store id · 24 sequence · 32 offset · 40 length · 48 previous chain · 52 reserved · 60 crc
public struct SegmentHeader: Equatable, Sendable {
  package static let byteCount = 64
  package static let magic = "SHELFSEG"

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let storeID = 8
    static let sequence = storeID + 16
    static let offset = sequence + 8
    static let length = offset + 8
    static let previousChain = length + 8
    static let reserved = previousChain + 4
    static let checksum = reserved + 8
    static let total = checksum + 4
  }

  /// Segments start and end on page boundaries, so that no page contains bytes of two commits.
  package static let alignment = 4096
  /// The offset of the base.
  @inlinable @inline(__always)
  public static var firstOffset: Int { 12288 }

  package var storeID: StoreID
  package var sequence: UInt64
  package var offset: UInt64
  /// The length of the segment, including header and footer.
  package var length: UInt64
  package var previousChain: UInt32

  package init(storeID: StoreID, sequence: UInt64, offset: UInt64, length: UInt64, previousChain: UInt32) {
    self.storeID = storeID
    self.sequence = sequence
    self.offset = offset
    self.length = length
    self.previousChain = previousChain
  }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(storeID.words.0, at: Offset.storeID)
    writer.put(storeID.words.1)
    writer.put(sequence, at: Offset.sequence)
    writer.put(offset, at: Offset.offset)
    writer.put(length, at: Offset.length)
    writer.put(previousChain, at: Offset.previousChain)
    writer.putChecksum(at: Offset.checksum)
    assert(Offset.total == Self.byteCount, "the fields fill the layout")
    return writer.bytes(ofLayout: Self.byteCount)
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    try span.check(Self.magic, byteCount: Self.byteCount)
    try span.checkReserved(Offset.reserved..<Offset.checksum)
    storeID = StoreID(span, at: Offset.storeID)
    sequence = span.u64(at: Offset.sequence)
    offset = span.u64(at: Offset.offset)
    length = span.u64(at: Offset.length)
    previousChain = span.u32(at: Offset.previousChain)
  }
}
