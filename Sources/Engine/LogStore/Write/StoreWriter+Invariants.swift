import RecordFormat

extension StoreWriter {
  /// Reports each violated invariant of a writer.
  package func checkInvariants(_ report: (String) -> Void) {
    if (log == nil) != (snapshot == nil) { report("a log without its last commit, or a commit without its log") }
    if let log, let snapshot {
      if snapshot.log !== log { report("the last commit belongs to another log than \(log.path)") }
      if poison == nil, namedFile != log.file.identity { report("the log does not have the store's name") }
      snapshot.checkInvariants(report)
    }
    if nextSlot != 0, nextSlot != 1 { report("slot \(nextSlot) is next, and there are two") }
    if let slotToRewrite, slotToRewrite != AcknowledgementSlot.pages[1 - nextSlot] {
      report("slot \(nextSlot) is both written next and the newest one")
    }
    if let openTransaction {
      if !openTransaction.isOpen { report("the open transaction is closed") }
      if poison != nil { report("a transaction is open in a writer that cannot write") }
      if let base = openTransaction.base, base !== snapshot {
        report("the open transaction continues commit \(base.sequence), not the last one")
      }
    }
  }

  /// Checks the invariants in debug builds, including tests.
  func assertInvariants() { assertHolds(checkInvariants) }
}

extension Snapshot {
  /// Reports each violated invariant of a snapshot, regardless of the contents of the file.
  package func checkInvariants(_ report: (String) -> Void) {
    if end > mapping.byteCount { report("commit \(sequence) ends at \(end), its mapping at \(mapping.byteCount)") }
    if end != Int(footer.end) { report("commit \(sequence) ends at \(footer.end), its snapshot at \(end)") }
    if !(SegmentHeader.firstOffset...end).contains(baseEnd) {
      report("the base ends at \(baseEnd), the commit at \(end)")
    }
    if baseEnd % SegmentHeader.alignment != 0 { report("the base ends at \(baseEnd), which is not the end of a page") }
    if manifest.largestCounter > footer.end { report("the manifest counts \(manifest.largestCounter) of \(end) bytes") }
    let described = manifest.tables.reduce(0) { sum, table in sum + table.keySpaces.reduce(0) { $0 + $1.blocks.count } }
    if blocks.count != described { report("\(blocks.count) index blocks, the manifest has \(described)") }
    for block in blocks + deadBlocks where block.end > end {
      report("an index block ends at \(block.end), the commit at \(end)")
    }
  }

  /// Checks the invariants in debug builds, including tests.
  func assertInvariants() { assertHolds(checkInvariants) }
}

/// Asserts that `check` reports nothing. `check` is not called in release builds.
@inline(__always)
func assertHolds(_ check: ((String) -> Void) -> Void, file: StaticString = #file, line: UInt = #line) {
  assert(
    {
      check { broken in assertionFailure(broken, file: file, line: line) }
      return true
    }())
}
