import Bytes
import RecordFormat

extension Verification {
  /// Verifies the blocks of a segment, and that the bytes between objects, blocks, manifest and footer are zero.
  mutating func verifyBlocks(_ footer: SegmentFooter, _ manifest: Manifest) throws(StoreError) {
    var blocks: [DescribedBlock] = []
    for table in manifest.tables {
      for (index, space) in table.keySpaces.enumerated() {
        let name = "the index over \(space.name) of \(table.name)"
        blocks += space.blocks.map { DescribedBlock(block: $0, shape: .hash(.index, space: index), name: name) }
      }
      for index in table.orderedIndexes {
        let name = "the ordered index \(index.name) of \(table.name)"
        blocks += index.blocks.map {
          DescribedBlock(block: $0, shape: .ordered(hasFragments: index.hasFragments), name: name)
        }
      }
    }
    blocks += manifest.deadBlocks.map {
      DescribedBlock(block: $0, shape: .hash(.dead, space: 0), name: "the dead rows")
    }
    blocks.removeAll { $0.block.offset < footer.segmentOffset }
    blocks.sort { $0.block.offset < $1.block.offset }
    var window = LogWindow(log, upTo: Int(footer.objectEnd))
    var position = Int(footer.objectEnd)
    for block in blocks {
      let indexBlock: IndexBlock
      do { indexBlock = try IndexBlock(block.block, end: Int(footer.manifestOffset), log: log) } catch {
        guard let finding = Finding(error, lost: "lookups through it") else { throw error }
        findings.append(finding)
        return
      }
      guard indexBlock.offset >= position else {
        add(
          indexBlock.offset, "a block of \(block.name) overlaps the structure before it", lost: "lookups through it")
        return
      }
      try verifyZeros(position..<indexBlock.offset, &window)
      switch block.shape {
      case .hash(let kind, let space): try verify(indexBlock, block.block, kind, space, block.name)
      case .ordered(let hasFragments): try verifyOrdered(block.block, hasFragments: hasFragments, block.name)
      }
      position = indexBlock.offset + block.block.byteCount
    }
    try verifyZeros(position..<Int(footer.manifestOffset), &window)
    try verifyZeros(Int(footer.manifestOffset) + Int(footer.manifestLength)..<Int(footer.offset), &window)
  }

  private mutating func verifyZeros(_ range: Range<Int>, _ window: inout LogWindow) throws(StoreError) {
    // A gap larger than this between objects, blocks and manifest means that something is missing.
    guard range.count <= SegmentHeader.alignment else {
      return add(range.lowerBound, "\(range.count) bytes that belong to nothing", lost: "")
    }
    if try !window.isZero(range) { add(range.lowerBound, "\(range.count) bytes of padding are not zero", lost: "") }
  }

  /// A block as described in a manifest.
  private struct DescribedBlock {
    let block: Manifest.Block
    let shape: Shape
    /// The name used in messages.
    let name: String

    /// What the block consists of.
    enum Shape {
      /// A hash table over a key space, or over dead rows.
      case hash(BlockHeader.Kind, space: Int)
      /// Sorted trees.
      case ordered(hasFragments: Bool)
    }
  }

  private mutating func verify(
    _ indexBlock: IndexBlock, _ block: Manifest.Block, _ kind: BlockHeader.Kind, _ space: Int, _ name: String
  ) throws(StoreError) {
    let isIndex = kind == .index
    let bytes = try log.read(BlockHeader.byteCount, at: indexBlock.offset)
    let expected = BlockHeader(
      kind: kind, keySpace: UInt8(space), longestDisplacement: block.longestDisplacement,
      bucketCount: block.bucketCount, entryCount: block.entryCount)
    if (try? BlockHeader(bytes.rawSpan, at: UnitOffset(byteOffset: indexBlock.offset))) != expected {
      add(indexBlock.offset, "header of a block of \(name)", lost: "")
    }
    if !isIndex, block.rowCount != block.entryCount {
      add(indexBlock.offset, "\(block.rowCount) rows in a dead block of \(block.entryCount) entries", lost: "")
    }
    var window = LogWindow(log, upTo: indexBlock.offset + block.byteCount)
    let capacity = isIndex ? Bucket.indexCapacity : Bucket.deadCapacity
    var entries = 0
    for bucket in 0..<Int(block.bucketCount) {
      let offset = indexBlock.buckets + bucket * Bucket.byteCount
      let line = try window.read(Bucket.byteCount, at: offset)
      let count = Bucket.count(line.rawSpan.u32(at: 4))
      entries += count
      let lost = "the way to up to \(capacity) rows, until repaired"
      if !Checksum.isValid(line.rawSpan, at: UnitOffset(byteOffset: offset)) {
        add(offset, "bucket: checksum, in \(name)", lost: lost)
      } else if count > capacity {
        add(offset, "bucket: \(count) entries, in \(name)", lost: lost)
      } else if !Bucket.hasZeroPadding(line.rawSpan, isIndex: isIndex) {
        add(offset, "bucket: reserved bytes are not zero, in \(name)", lost: "")
      }
    }
    if entries != block.entryCount {
      add(
        indexBlock.offset, "\(entries) entries in a block that says \(block.entryCount), of \(name)",
        lost: "")
    }
  }

  /// Compares the dead rows of the last commit with the tombstones of all commits.
  mutating func verifyDead(in snapshot: Snapshot) throws(StoreError) {
    var listed: Set<UInt32> = []
    for block in snapshot.deadBlocks {
      var wrong: String?
      try snapshot.forEachDead(block) { (unit) throws(StoreError) in
        if !listed.insert(unit.rawValue).inserted {
          wrong = wrong ?? "a dead block lists the row at offset \(unit.byteOffset), which is listed already"
        } else if !ledger.dead.contains(unit.rawValue) {
          wrong = wrong ?? "a dead block lists the row at offset \(unit.byteOffset), which no tombstone names"
        } else if try !snapshot.isDead(unit) {
          wrong = wrong ?? "the row at offset \(unit.byteOffset) is not found in its dead block"
        }
      }
      if let wrong { add(block.offset, wrong, lost: "which rows live") }
    }
    if let missing = ledger.dead.subtracting(listed).min() {
      let offset = UnitOffset(rawValue: missing).byteOffset
      add(offset, "a tombstone names this row, and no dead block lists it", lost: "which rows live")
    }
  }

  /// Verifies that each entry of a block refers to rows with its key.
  mutating func verifyEntries(
    of block: IndexBlock, _ described: Manifest.Block, _ space: KeySpaceID, in snapshot: Snapshot
  ) throws(StoreError) {
    var rows = 0
    let table = snapshot.manifest.tables[space.table]
    let name = "the index over \(table.keySpaces[space.index].name) of \(table.name)"
    for bucket in 0..<Int(block.bucketCount) {
      let bucketUnit = block.line(bucket)
      let line = try snapshot.bucket(bucketUnit, capacity: Bucket.indexCapacity)
      for entry in 0..<Bucket.count(line.u32(at: 4)) {
        let tag = line.u16(at: Bucket.tags + 2 * entry)
        let unit = Bucket.offset(line, entry)
        let scope = ScratchScope(snapshot)
        defer { scope.end() }
        let object = try snapshot.object(unit)
        let fault: String?
        if ObjectHeader.kind(object.u32(at: 4)) == .postingList {
          let list = try verifyPostings(object, unit, tag, space, in: snapshot)
          rows += list.count
          fault = list.fault
        } else {
          rows += 1
          fault =
            try snapshot.hasKey(withTag: tag, object, space)
            ? nil : "names a row that has not its key, at offset \(unit.byteOffset)"
        }
        if let fault {
          add(bucketUnit.byteOffset, "bucket: entry \(entry) of \(name) \(fault)", lost: "lookups through it")
        }
      }
    }
    if rows != described.rowCount {
      add(
        block.offset, "\(rows) rows in a block of \(name) for which the manifest counts \(described.rowCount)", lost: ""
      )
    }
  }

  /// Returns the number of rows of a posting list, and a description of what is wrong with it.
  private func verifyPostings(
    _ object: RawSpan, _ unit: UnitOffset, _ tag: UInt16, _ space: KeySpaceID, in snapshot: Snapshot
  ) throws(StoreError) -> (count: Int, fault: String?) {
    guard let list = PostingList(object) else { return (0, "names a posting list whose lengths contradict each other") }
    let offset = unit.byteOffset
    guard list.keySpace == space.index else { return (list.count, "names the list of another key space, at \(offset)") }
    guard Bucket.tag(KeyHash.of(list.key, snapshot.seed)) == tag else {
      return (list.count, "names the list of another key, at offset \(offset)")
    }
    for index in 0..<list.count {
      let row = list.offset(index)
      let scope = ScratchScope(snapshot)
      defer { scope.end() }
      guard row < unit, try snapshot.has(list.key, try snapshot.object(row), space) else {
        return (list.count, "names a list, at offset \(offset), of which row \(index) has not its key")
      }
    }
    return (list.count, nil)
  }
}

extension Snapshot {
  /// Returns whether `object` is a row of the table of `space` that has `key` in that key space.
  fileprivate func has(_ key: RawSpan, _ object: RawSpan, _ space: KeySpaceID) throws(StoreError) -> Bool {
    guard ObjectHeader.kind(object.u32(at: 4)).table == space.table else { return false }
    let own = try RecordView(object, self).key(space.index)
    return isList(space) ? KeyList.contains(key, in: own) : own.hasSameBytes(as: key)
  }

  /// Returns whether `object` is a row of the table of `space` that has a key with `tag` in that key space.
  fileprivate func hasKey(withTag tag: UInt16, _ object: RawSpan, _ space: KeySpaceID) throws(StoreError) -> Bool {
    guard ObjectHeader.kind(object.u32(at: 4)).table == space.table else { return false }
    let own = try RecordView(object, self).key(space.index)
    guard isList(space) else { return Bucket.tag(KeyHash.of(own, seed)) == tag }
    var list = KeyList(own)
    while let key = list.next() {
      if Bucket.tag(KeyHash.of(key, seed)) == tag { return true }
    }
    return false
  }
}
