import Bytes
import Platform
import RecordFormat

/// Acknowledgement slots. The two slots record the last acknowledged commit.
extension StoreWriter {
  /// Records in a slot that `footer` is durable. The slot is not part of the commit: if it cannot be written, the
  /// commit still counts, but the file rejects writes, so this writer is poisoned.
  func acknowledge(_ footer: SegmentFooter, in log: LogFile) {
    do {
      try writeSlot(nextSlot, footer, in: log)
      nextSlot = 1 - nextSlot
    } catch {
      poison = "\(error)"
    }
  }

  /// Rewrites damaged slots durably. A reader that sees a damaged slot next to a commit that is being written would
  /// report damage.
  func rewriteSlots(_ corrupt: [Int], _ footer: SegmentFooter, in log: LogFile) throws(StoreError) {
    if corrupt.isEmpty { return }
    for (index, offset) in AcknowledgementSlot.offsets.enumerated() where corrupt.contains(offset) {
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

  /// Announces the new generation to processes that still map the old file. They also find it by its name, so a failure
  /// has no effect.
  func announceReplacement(of old: LogFile, _ last: SegmentFooter) {
    var slot = slot(for: last, in: old)
    slot.isSuperseded = true
    try? old.file.write(slot.encoded().rawSpan, at: AcknowledgementSlot.offsets[0])
  }
}
