import Bytes
import RecordFormat

// The bytes after the last readable commit. Usually the file ends there; after a crash it has the torn rest of one
// commit, which the next writer truncates. Three signs show that it is more than that: see FORMAT.md, *What a slot
// guarantees*.

extension LogFile {
  /// The number of bytes to read at once.
  private static let pieceByteCount = 1 << 20

  /// Returns evidence that a commit which may have been acknowledged follows the last one that `recovery` found; `nil`
  /// if the bytes after it can only be the rest of a commit that was never acknowledged.
  ///
  /// - Complexity: None if the file ends with the last commit; otherwise reads the bytes after it once.
  func findLoss(after recovery: Recovery) throws(StoreError) -> String? {
    guard let last = recovery.footer, recovery.size > recovery.end else { return nil }
    let next = last.sequence + 1
    // A commit is started only once the previous one is complete and durable.
    if let later = try latestCommit(from: recovery.end, to: recovery.size), later.sequence > next {
      let offset = location(of: later.offset).offset
      return "commit \(next) cannot be read here, and commit \(later.sequence) stands after it, at offset \(offset)"
    }
    let rest = "\(recovery.size - recovery.end) bytes that are not a valid commit"
    if let slot = recovery.corruptSlots.first {
      return rest + ", and the acknowledgement slot at offset \(slot), which may have named one, cannot be read"
    }
    // The sync of each commit makes the slot of the previous commit durable.
    if let slot = recovery.slot, slot.sequence + 1 < last.sequence {
      return rest + ", and no acknowledgement slot names a commit after \(slot.sequence)"
    }
    return nil
  }

  /// Returns the highest sequence number in a segment header or footer of this store between `start` and `end`, and the
  /// offset of that header or footer.
  private func latestCommit(from start: Int, to end: Int) throws(StoreError) -> (sequence: UInt64, offset: Int)? {
    let page = SegmentHeader.alignment
    var latest: (sequence: UInt64, offset: Int)?
    var offset = start
    while offset < end {
      let count = min(Self.pieceByteCount, end - offset)
      let bytes = try read(count, at: offset)
      for first in stride(from: 0, to: bytes.count, by: page) {
        let marks = SegmentMarks(
          bytes.rawSpan.slice(first, min(page, bytes.count - first)), at: offset + first, of: header.storeID)
        if let header = marks.header, header.sequence > latest?.sequence ?? 0 {
          latest = (header.sequence, offset + first)
        }
        if let footer = marks.footer, footer.generation == header.generation, footer.sequence > latest?.sequence ?? 0 {
          latest = (footer.sequence, Int(footer.offset))
        }
      }
      // A writer may be truncating the file at this moment.
      if bytes.count < count { break }
      offset += count
    }
    return latest
  }
}
