import Bytes
import RecordFormat

/// Reading footers that must exist. A footer that is missing, damaged or of another commit is damage of the log.
extension LogFile {
  /// Reads the footer at `offset`.
  ///
  /// - Parameters:
  ///   - offset: The offset of the footer in the log, in bytes.
  ///   - sequence: The sequence number of the commit, for the error message; `nil` if it is not known.
  ///   - isExpected: A predicate that accepts a valid footer of this log as the expected one.
  /// - Throws: `StoreError.damaged` if there is no valid footer of this log at `offset`, or not the expected one;
  ///   `.unreadable`, `.io`.
  func footer(
    at offset: Int, of sequence: UInt64? = nil, where isExpected: (SegmentFooter) -> Bool
  ) throws(StoreError) -> SegmentFooter {
    let name = sequence.map { "footer of commit \($0)" } ?? "footer"
    let bytes = try read(SegmentFooter.byteCount, at: offset)
    let footer: SegmentFooter
    do { footer = try SegmentFooter(bytes.rawSpan) } catch { throw damage(offset, "\(name): \(error)") }
    guard footer.storeID == header.storeID, footer.generation == header.generation, footer.offset == UInt64(offset),
      isExpected(footer)
    else { throw damage(offset, "\(name) belongs to another commit") }
    return footer
  }

  /// Reads the footer that `slot` names, in a file of `size` bytes. The commit was acknowledged, so a missing footer is
  /// damage.
  func footer(of slot: AcknowledgementSlot, size: Int) throws(StoreError) -> SegmentFooter {
    guard slot.end <= UInt64(size), slot.footerOffset <= slot.end else {
      throw damage(size, "the file ends here, \(slot.end) bytes were acknowledged")
    }
    return try footer(at: Int(slot.footerOffset), of: slot.sequence) {
      $0.sequence == slot.sequence && $0.chain == slot.chain && $0.end == slot.end
    }
  }

  /// Reads the footer at the end of the shared base.
  func footer(of base: BaseReference) throws(StoreError) -> SegmentFooter {
    try footer(at: Int(base.end) - SegmentFooter.byteCount, of: base.sequence, where: base.names)
  }

  /// Reads the footer of the commit before the one that `next` ends, which is not the first commit of its file.
  func footer(before next: SegmentFooter) throws(StoreError) -> SegmentFooter {
    let offset = Int(clamping: next.previousFooterOffset)
    guard offset < Int(next.segmentOffset) else {
      throw damage(Int(next.offset), "footer names a previous one that is not before it")
    }
    return try footer(at: offset, of: next.sequence - 1) {
      $0.chain == next.previousChain && $0.sequence == next.sequence - 1 && $0.end == next.segmentOffset
    }
  }
}
