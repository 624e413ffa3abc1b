import Bytes

/// A reference to the shared base in the header of a tail log: the end of the base, and the commit that ends there.
///
///     0 end · 8 sequence · 16 chain
///
/// Together with the header's store id, a 128-bit random number, this identifies the base: the chain covers the
/// checksums of that commit's bytes and the previous chain, back to the first commit of the file.
package struct BaseReference: Equatable, Sendable {
  package static let byteCount = 20

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let end = 0
    static let sequence = end + 8
    static let chain = sequence + 8
    static let total = chain + 4
  }

  /// The end of the last commit of the base: the offset at which the tail log's own segments begin.
  package var end: UInt64
  /// The sequence number of that commit.
  package var sequence: UInt64
  /// The chain in its footer.
  package var chain: UInt32

  /// Creates a reference to everything up to the commit that `footer` ends.
  package init(_ footer: SegmentFooter) {
    end = footer.end
    sequence = footer.sequence
    chain = footer.chain
  }

  /// Creates a reference to any commit that ends at `end`, for a repair without a readable header; `nil` if no tail log
  /// can begin there.
  package init?(endingAt end: UInt64) {
    guard end % UInt64(SegmentHeader.alignment) == 0, end > UInt64(SegmentHeader.firstOffset),
      end <= UInt64(UnitOffset.fileLimit)
    else { return nil }
    self.end = end
    sequence = 0
    chain = 0
  }

  /// Returns whether `footer` is the footer at the end of the base.
  package func names(_ footer: SegmentFooter) -> Bool { self == BaseReference(footer) }

  func encode(to writer: inout ByteWriter) {
    let start = writer.bytes.count
    writer.put(end, at: start + Offset.end)
    writer.put(sequence, at: start + Offset.sequence)
    writer.put(chain, at: start + Offset.chain)
    assert(Offset.total == Self.byteCount, "a layout has its declared size")
  }

  init(_ span: RawSpan) throws(FormatFault) {
    end = span.u64(at: Offset.end)
    sequence = span.u64(at: Offset.sequence)
    chain = span.u32(at: Offset.chain)
    guard end % UInt64(SegmentHeader.alignment) == 0, end > UInt64(SegmentHeader.firstOffset),
      end <= UInt64(UnitOffset.fileLimit)
    else { throw .field("end of the base", end) }
    guard sequence > 0, sequence < 1 << 62 else { throw .field("sequence of the base", sequence) }
  }
}
