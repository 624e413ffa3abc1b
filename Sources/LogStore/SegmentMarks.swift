import Bytes
import RecordFormat

/// What one page of a log says of the segments of a store: the header of one that begins there, the footer of one that ends
/// there.
///
/// Segments begin and end on pages. So a search for commits reads two places of each page, and needs neither the file's
/// header nor an intact segment before the one it finds.
struct SegmentMarks {
  private(set) var header: SegmentHeader?
  private(set) var footer: SegmentFooter?

  /// Reads the page that stands at `offset`.
  ///
  /// A header or footer that says of itself that it stands elsewhere was copied there, with the bytes of a document for
  /// example, and does not count.
  ///
  /// - Parameters:
  ///   - page: up to 4096 bytes; fewer at the end of a file that was cut.
  ///   - offset: a multiple of 4096.
  ///   - storeID: the store whose segments count; `nil` if it is not known.
  init(_ page: RawSpan, at offset: Int, of storeID: StoreID?) {
    let alignment = SegmentHeader.alignment
    if page.byteCount >= SegmentHeader.byteCount,
      let header = try? SegmentHeader(page.slice(0, SegmentHeader.byteCount)), header.offset == UInt64(offset),
      header.length > 0, header.length % UInt64(alignment) == 0, header.length <= UInt64(UnitOffset.fileLimit),
      storeID == nil || header.storeID == storeID
    {
      self.header = header
    }
    let place = alignment - SegmentFooter.byteCount
    if page.byteCount == alignment, let footer = try? SegmentFooter(page.slice(place, SegmentFooter.byteCount)),
      footer.offset == UInt64(offset + place), storeID == nil || footer.storeID == storeID
    {
      self.footer = footer
    }
  }
}
