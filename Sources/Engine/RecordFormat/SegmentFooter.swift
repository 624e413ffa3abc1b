import Bytes

/// The last 128 bytes of a segment. A valid footer makes the segment a commit.
///
///       0 magic · 8 store id · 24 sequence · 32 generation · 40 segment offset · 48 segment length
///      56 manifest offset · 64 manifest length · 68 manifest crc · 72 previous footer · 80 previous chain
///      84 flags · 88 time · 96 body crc · 100 object end · 108 reserved · 124 chain
package struct SegmentFooter: Equatable, Sendable {
  package static let byteCount = 128
  package static let magic = "SHELFEND"

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let storeID = 8
    static let sequence = storeID + 16
    static let generation = sequence + 8
    static let segmentOffset = generation + 8
    static let segmentLength = segmentOffset + 8
    static let manifestOffset = segmentLength + 8
    static let manifestLength = manifestOffset + 8
    static let manifestChecksum = manifestLength + 4
    static let previousFooterOffset = manifestChecksum + 4
    static let previousChain = previousFooterOffset + 8
    static let flags = previousChain + 4
    static let time = flags + 4
    static let bodyChecksum = time + 8
    static let objectEnd = bodyChecksum + 4
    static let reserved = objectEnd + 8
    static let chain = reserved + 16
    static let total = chain + 4
  }

  package var storeID: StoreID
  package var sequence: UInt64
  package var generation: UInt64
  package var segmentOffset: UInt64
  package var segmentLength: UInt64
  package var manifestOffset: UInt64
  package var manifestLength: UInt32
  /// The checksum of the manifest and the padding after it, up to the footer.
  package var manifestChecksum: UInt32
  /// The offset of the previous footer; 0 in the base.
  package var previousFooterOffset: UInt64
  package var previousChain: UInt32
  /// Whether everything before the footer was durable before the footer was written. Opening then need not read it
  /// again.
  package var bodyWasSynced: Bool
  /// The time of the commit, in microseconds since 1970 UTC.
  package var time: Int64
  /// The checksum of everything between the segment's header and its manifest.
  package var bodyChecksum: UInt32
  /// The offset after the object area.
  package var objectEnd: UInt64
  /// The checksum of this footer. It covers the previous chain and so the complete history.
  package var chain: UInt32 = 0

  package init(
    storeID: StoreID, sequence: UInt64, generation: UInt64, segmentOffset: UInt64, segmentLength: UInt64,
    manifestOffset: UInt64, manifestLength: UInt32, manifestChecksum: UInt32, previousFooterOffset: UInt64,
    previousChain: UInt32, bodyWasSynced: Bool, time: Int64, bodyChecksum: UInt32, objectEnd: UInt64
  ) {
    self.storeID = storeID
    self.sequence = sequence
    self.generation = generation
    self.segmentOffset = segmentOffset
    self.segmentLength = segmentLength
    self.manifestOffset = manifestOffset
    self.manifestLength = manifestLength
    self.manifestChecksum = manifestChecksum
    self.previousFooterOffset = previousFooterOffset
    self.previousChain = previousChain
    self.bodyWasSynced = bodyWasSynced
    self.time = time
    self.bodyChecksum = bodyChecksum
    self.objectEnd = objectEnd
    chain = Checksum.of(encoded().rawSpan.slice(0, Self.byteCount - 4))
  }

  /// The offset of the footer.
  package var offset: UInt64 { segmentOffset + segmentLength - UInt64(Self.byteCount) }
  /// The offset after the segment.
  package var end: UInt64 { segmentOffset + segmentLength }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(storeID.words.0, at: Offset.storeID)
    writer.put(storeID.words.1)
    writer.put(sequence, at: Offset.sequence)
    writer.put(generation, at: Offset.generation)
    writer.put(segmentOffset, at: Offset.segmentOffset)
    writer.put(segmentLength, at: Offset.segmentLength)
    writer.put(manifestOffset, at: Offset.manifestOffset)
    writer.put(manifestLength, at: Offset.manifestLength)
    writer.put(manifestChecksum, at: Offset.manifestChecksum)
    writer.put(previousFooterOffset, at: Offset.previousFooterOffset)
    writer.put(previousChain, at: Offset.previousChain)
    writer.put(UInt32(bodyWasSynced ? 1 : 0), at: Offset.flags)
    writer.put(time, at: Offset.time)
    writer.put(bodyChecksum, at: Offset.bodyChecksum)
    writer.put(objectEnd, at: Offset.objectEnd)
    writer.putChecksum(at: Offset.chain)
    assert(Offset.total == Self.byteCount, "the fields fill the layout")
    return writer.bytes(ofLayout: Self.byteCount)
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    try span.check(Self.magic, byteCount: Self.byteCount)
    guard span.u32(at: Offset.flags) <= 1 else { throw .reserved }
    try span.checkReserved(Offset.reserved..<Offset.chain)
    storeID = StoreID(span, at: Offset.storeID)
    sequence = span.u64(at: Offset.sequence)
    generation = span.u64(at: Offset.generation)
    segmentOffset = span.u64(at: Offset.segmentOffset)
    segmentLength = span.u64(at: Offset.segmentLength)
    manifestOffset = span.u64(at: Offset.manifestOffset)
    manifestLength = span.u32(at: Offset.manifestLength)
    manifestChecksum = span.u32(at: Offset.manifestChecksum)
    previousFooterOffset = span.u64(at: Offset.previousFooterOffset)
    previousChain = span.u32(at: Offset.previousChain)
    bodyWasSynced = span.u32(at: Offset.flags) & 1 != 0
    time = Int64(bitPattern: span.u64(at: Offset.time))
    bodyChecksum = span.u32(at: Offset.bodyChecksum)
    objectEnd = span.u64(at: Offset.objectEnd)
    chain = span.u32(at: Offset.chain)
    try checkOrder()
  }

  /// Checks that header, objects, blocks, manifest and footer are in this order within the segment.
  private func checkOrder() throws(FormatFault) {
    let alignment = UInt64(SegmentHeader.alignment)
    // Incrementing either number must not overflow.
    guard sequence > 0, sequence < 1 << 62 else { throw .field("sequence", sequence) }
    guard generation > 0, generation < 1 << 62 else { throw .field("generation", generation) }
    guard segmentOffset % alignment == 0, segmentOffset >= UInt64(SegmentHeader.firstOffset),
      segmentOffset <= UInt64(UnitOffset.fileLimit)
    else {
      throw .field("segment offset", segmentOffset)
    }
    guard segmentLength % alignment == 0, segmentLength > 0,
      segmentLength <= UInt64(UnitOffset.fileLimit) - segmentOffset
    else { throw .field("segment length", segmentLength) }
    guard objectEnd % UInt64(UnitOffset.byteCount) == 0,
      objectEnd >= segmentOffset + UInt64(SegmentHeader.byteCount), objectEnd <= manifestOffset
    else {
      throw .field("object end", objectEnd)
    }
    guard manifestOffset <= offset, UInt64(manifestLength) <= offset - manifestOffset else {
      throw .field("manifest offset", manifestOffset)
    }
  }
}
