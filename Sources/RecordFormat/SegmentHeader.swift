/// The first 64 bytes of a segment: they let a reader walk forward from one commit to the next.
///
///     0 magic · 8 store id · 24 sequence · 32 offset · 40 length · 48 previous chain · 52 reserved · 60 crc
public struct SegmentHeader: Equatable, Sendable {
  package static let byteCount = 64
  package static let magic = "SHELFSEG"
  /// Segments begin and end on pages, so that no page holds bytes of two commits.
  package static let alignment = 4096
  /// Where the base begins.
  @inlinable @inline(__always)
  public static var firstOffset: Int { 12288 }

  package var storeID: StoreID
  package var sequence: UInt64
  package var offset: UInt64
  /// Header to footer, both included.
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
    writer.put(storeID.words.0)
    writer.put(storeID.words.1)
    writer.put(sequence)
    writer.put(offset)
    writer.put(length)
    writer.put(previousChain)
    writer.fill(to: Self.byteCount - 4)
    writer.putChecksum()
    return writer.bytes
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    try span.check(Self.magic, byteCount: Self.byteCount)
    try span.checkReserved(52..<60)
    storeID = StoreID(span.u64(at: 8), span.u64(at: 16))
    sequence = span.u64(at: 24)
    offset = span.u64(at: 32)
    length = span.u64(at: 40)
    previousChain = span.u32(at: 48)
  }
}
