import Bytes
import Platform
import RecordFormat

/// The result of finding the last commit of a log.
///
/// Invariants: `end` is where `footer` ends, and never before the commit that the newest valid slot names: a log that lacks
/// it is damaged, and nobody goes back silently. `acknowledgedEnd` is not beyond `end`.
struct Recovery {
  /// The last valid footer; `nil` in a log without a commit.
  var footer: SegmentFooter?
  /// The offset of the first byte that belongs to no commit.
  var end: Int
  /// The size of the file before the search for the last commit.
  var size = 0
  /// The offset of the first byte that no slot covers; equal to `end` if the last commit was acknowledged.
  var acknowledgedEnd = SegmentHeader.firstOffset
  /// The newest valid slot.
  var slot: AcknowledgementSlot?
  /// The index of the newest valid slot.
  var newestSlot: Int?
  /// Slots A and B; `nil` for an invalid slot.
  var slots: [AcknowledgementSlot?] = [nil, nil]
  /// Whether the file contains only the commit with which it was published.
  var isFirst = false
  /// The offsets of slot pages that contain only zeros, as before their first write.
  var untouchedSlots: [Int] = []
  /// The offsets of slot pages that are neither valid nor untouched.
  var damagedSlots: [Int] = []

  /// Whether a slot acknowledges the last commit. If not, the commit may not be durable.
  var isAcknowledged: Bool {
    guard let footer, let slot else { return false }
    return slot.sequence >= footer.sequence && slot.generation == footer.generation
  }

  /// The offsets of slot pages in a state that a power failure cannot explain.
  ///
  /// Slot A was written before the file got its name. While one slot is being written, the other is valid and durable,
  /// and so is the commit that the new slot will name. So a torn slot always goes with a valid other slot and with a
  /// commit that is newer than the one in that slot.
  var corruptSlots: [Int] {
    let slotA = AcknowledgementSlot.offsets[0]
    return untouchedSlots.filter { $0 == slotA } + (slot == nil || isAcknowledged ? damagedSlots : [])
  }

  /// Whether no commit was added since the file got its name. The process that named the file may have crashed before
  /// the name was durable.
  ///
  /// A file that was copied from another store has a history, but only one slot.
  var mayBeUnnamed: Bool { isFirst || !untouchedSlots.isEmpty }

  /// Whether a newer generation has taken the file's name.
  var isSuperseded: Bool { slot?.isSuperseded ?? false }
}

extension LogFile {
  /// Finds the last commit: starts at the newest slot's footer and moves forward as long as valid segments follow.
  ///
  /// - Throws: `StoreError.damaged` if the commit that a slot names does not exist, or if a commit that may have been
  ///   acknowledged follows the last one that can be read; see FORMAT.md, *What a slot guarantees*.
  /// - Complexity: A few small reads, regardless of the size of the log, and one segment header for each commit that no
  ///   slot names, which is one after a crash. If bytes follow the last commit, all of them are read once.
  func recover() throws(StoreError) -> Recovery {
    var recovery = try findLastCommit()
    while let loss = try findLoss(after: recovery) {
      // A writer may have truncated a torn tail in the meantime and added commits. It writes a slot for each of them
      // before it starts the next one.
      let again = try findLastCommit()
      if again.end == recovery.end, again.slot == recovery.slot, again.corruptSlots == recovery.corruptSlots {
        throw damage(recovery.end, loss)
      }
      recovery = again
    }
    return recovery
  }

  /// Finds the last commit without examining the bytes after it.
  private func findLastCommit() throws(StoreError) -> Recovery {
    var recovery = Recovery(footer: nil, end: SegmentHeader.firstOffset)
    try readSlots(into: &recovery)
    let size = try size()
    if let slot = recovery.slot {
      let footer = try footer(of: slot, size: size)
      recovery.footer = footer
      recovery.end = Int(footer.end)
      recovery.acknowledgedEnd = recovery.end
    } else if let base = header.base {
      // The header names the last commit of the base.
      let footer = try footer(of: base)
      recovery.footer = footer
      recovery.end = Int(footer.end)
      recovery.acknowledgedEnd = recovery.end
    }
    while let next = try segment(after: recovery.footer, at: recovery.end, size: size) {
      recovery.footer = next
      recovery.end = Int(next.end)
    }
    recovery.isFirst = recovery.footer?.previousFooterOffset == 0 || recovery.footer?.end == header.base?.end
    recovery.size = size
    return recovery
  }

  private func readSlots(into recovery: inout Recovery) throws(StoreError) {
    let pages = try read(2 * AcknowledgementSlot.byteCount, at: AcknowledgementSlot.offsets[0])
    for (index, offset) in AcknowledgementSlot.offsets.enumerated() {
      let start = index * AcknowledgementSlot.byteCount
      guard pages.count >= start + AcknowledgementSlot.byteCount else {
        recovery.damagedSlots.append(offset)
        continue
      }
      let page = pages.rawSpan.slice(start, AcknowledgementSlot.byteCount)
      if page.isZero(from: 0) {
        recovery.untouchedSlots.append(offset)
        continue
      }
      guard let slot = try? AcknowledgementSlot(page), slot.storeID == header.storeID,
        slot.generation == header.generation, slot.end >= header.base?.end ?? 0
      else {
        recovery.damagedSlots.append(offset)
        continue
      }
      recovery.slots[index] = slot
      let best = recovery.slot
      if best == nil || slot.sequence > best!.sequence
        || slot.sequence == best!.sequence && slot.isSuperseded
      {
        recovery.slot = slot
        recovery.newestSlot = index
      }
    }
  }

  /// Returns the footer of the valid segment at `start` that follows `previous`; `nil` if there is no such segment.
  private func segment(
    after previous: SegmentFooter?, at start: Int, size: Int
  ) throws(StoreError) -> SegmentFooter? {
    guard start + SegmentHeader.byteCount <= size else { return nil }
    let bytes = try read(SegmentHeader.byteCount, at: start)
    guard let segment = try? SegmentHeader(bytes.rawSpan), segment.storeID == header.storeID,
      segment.offset == UInt64(start), segment.previousChain == previous?.chain ?? 0,
      segment.length >= UInt64(SegmentHeader.alignment), segment.length <= UInt64(size - start)
    else { return nil }
    if let previous, segment.sequence != previous.sequence &+ 1 { return nil }
    let footerOffset = start + Int(segment.length) - SegmentFooter.byteCount
    let footerBytes = try read(SegmentFooter.byteCount, at: footerOffset)
    guard let footer = try? SegmentFooter(footerBytes.rawSpan), footer.storeID == header.storeID,
      footer.sequence == segment.sequence, footer.segmentOffset == segment.offset,
      footer.segmentLength == segment.length, footer.generation == header.generation,
      footer.previousChain == segment.previousChain,
      footer.previousFooterOffset == previous?.offset ?? 0
    else { return nil }
    if !footer.bodyWasSynced {
      guard
        try checksum(of: start + SegmentHeader.byteCount, to: Int(footer.manifestOffset))
          == footer.bodyChecksum
      else { return nil }
    }
    guard try checksum(of: Int(footer.manifestOffset), to: footerOffset) == footer.manifestChecksum else {
      return nil
    }
    return footer
  }

  /// Returns the checksum of the bytes from `start` to `end`, read in chunks; `nil` if the file ends before `end`. That
  /// can happen if a writer truncates a torn tail during the read.
  func checksum(of start: Int, to end: Int) throws(StoreError) -> UInt32? {
    var checksum: UInt32 = 0
    var offset = start
    while offset < end {
      let bytes = try read(min(1 << 20, end - offset), at: offset)
      if bytes.isEmpty { return nil }
      checksum = Checksum.of(bytes, from: checksum)
      offset += bytes.count
    }
    return checksum
  }

  /// Rewrites the bytes of `ranges`, unchanged and in place, and syncs them.
  ///
  /// A failed sync may have left pages in memory that the system considers durable although they are not. Only a page
  /// that is written again is certain to be part of the next sync.
  func writeAgain(_ ranges: [Range<Int>]) throws(StoreError) {
    for range in ranges { try rewrite(range) }
    try storage { () throws(StorageError) in try file.sync() }
  }

  /// Rewrites the bytes of `range`, unchanged and in place. The next sync makes them durable.
  func rewrite(_ range: Range<Int>) throws(StoreError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let bytes = try read(min(1 << 20, range.upperBound - offset), at: offset)
      if bytes.isEmpty { throw damage(offset, "the file ends inside a commit") }
      try storage { () throws(StorageError) in try file.write(bytes.rawSpan, at: offset) }
      offset += bytes.count
    }
  }

  /// Returns the manifest of a commit after checking that its counters fit the size of the file.
  func checkedManifest(of footer: SegmentFooter) throws(StoreError) -> Manifest {
    let manifest = try manifest(of: footer)
    guard manifest.largestCounter <= footer.end else {
      throw damage(Int(footer.manifestOffset), "manifest: it counts more than the file has bytes")
    }
    return manifest
  }

  /// Reads and decodes the manifest of a commit.
  func manifest(of footer: SegmentFooter) throws(StoreError) -> Manifest {
    let start = Int(footer.manifestOffset)
    let bytes = try read(Int(footer.offset) - start, at: start)
    let stored = footer.manifestChecksum
    let computed = Checksum.of(bytes)
    guard stored == computed, bytes.count >= Int(footer.manifestLength) else {
      throw damage(start, "manifest: \(FormatFault.checksum(stored: stored, computed: computed))")
    }
    var manifest: Manifest
    let encoded = bytes.rawSpan.slice(0, Int(footer.manifestLength))
    do { manifest = try Manifest(encoded) } catch { throw damage(start, "manifest: \(error)") }
    try unseal(&manifest, encoded, of: footer)
    return manifest
  }
}
