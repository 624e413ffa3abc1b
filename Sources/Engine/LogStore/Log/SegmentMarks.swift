import Bytes
import RecordFormat

/// The segment header and footer in one page of a log: the header if a segment of a store starts there, the footer if
/// one ends there.
///
/// Segments start and end on page boundaries. So a search for commits reads two offsets in each page, and needs neither
/// the file header nor an intact preceding segment.
struct SegmentMarks {
  private(set) var header: SegmentHeader?
  private(set) var footer: SegmentFooter?

  /// Reads the page at `offset`.
  ///
  /// A header or footer that contains a different offset was copied there, for example as part of a document, and does
  /// not count.
  ///
  /// - Parameters:
  ///   - page: The bytes of the page: up to 4096, fewer at the end of a truncated file.
  ///   - offset: The offset of the page, a multiple of 4096.
  ///   - storeID: The store whose segments count; `nil` if it is not known.
  init(_ page: RawSpan, at offset: Int, of storeID: StoreID?) {
    let alignment = SegmentHeader.alignment
    if page.byteCount >= SegmentHeader.byteCount,
      let header = try? SegmentHeader(page.slice(0, SegmentHeader.byteCount)), header.offset == UInt64(offset),
      header.length > 0, header.length % UInt64(alignment) == 0, header.length <= UInt64(UnitOffset.fileLimit),
      storeID == nil || header.storeID == storeID
    {
      self.header = header
    }
    let footerOffset = alignment - SegmentFooter.byteCount
    if page.byteCount == alignment, let footer = try? SegmentFooter(page.slice(footerOffset, SegmentFooter.byteCount)),
      footer.offset == UInt64(offset + footerOffset), storeID == nil || footer.storeID == storeID
    {
      self.footer = footer
    }
  }
}
