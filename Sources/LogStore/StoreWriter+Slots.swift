import Bytes
import RecordFormat
import Storage

/// The two slots say which commit was acknowledged last.
extension StoreWriter {
  /// Says in a slot that `footer` is durable. A slot is a note: where it cannot be written the commit still
  /// counts, but this writer, whose file refuses writes, ends here.
  func acknowledge(_ footer: SegmentFooter, in log: LogFile) {
    do {
      try writeSlot(nextSlot, footer, in: log)
      nextSlot = 1 - nextSlot
    } catch {
      poison = "\(error)"
    }
  }

  /// Writes slots that rotted anew, durably: a reader takes a rotten slot next to a commit that is just being written for
  /// damage.
  func healSlots(_ rotten: [Int], _ footer: SegmentFooter, in log: LogFile) throws(StoreError) {
    if rotten.isEmpty { return }
    for (index, offset) in AcknowledgementSlot.offsets.enumerated() where rotten.contains(offset) {
      try writeSlot(index, footer, in: log)
    }
    try storage { () throws(StorageError) in try log.file.sync() }
  }

  func writeSlot(_ index: Int, _ footer: SegmentFooter, in log: LogFile) throws(StoreError) {
    let bytes = slot(for: footer, in: log).encoded()
    try storage { () throws(StorageError) in
      try log.file.write(bytes.rawSpan, at: AcknowledgementSlot.offsets[index])
    }
  }

  func slot(for footer: SegmentFooter, in log: LogFile) -> AcknowledgementSlot {
    AcknowledgementSlot(
      storeID: log.header.storeID, sequence: footer.sequence, generation: footer.generation,
      footerOffset: footer.offset, end: footer.end, chain: footer.chain)
  }

  /// Tells those who still map the old file. They find out by its name as well, so a failure changes nothing.
  func announceReplacement(of old: LogFile, _ last: SegmentFooter) {
    var slot = slot(for: last, in: old)
    slot.isSuperseded = true
    try? old.file.write(slot.encoded().rawSpan, at: AcknowledgementSlot.offsets[0])
  }
}
