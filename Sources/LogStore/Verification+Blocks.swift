import RecordFormat

extension Verification {
  /// Verifies the blocks that a segment holds, and that the bytes between objects, blocks, manifest and footer are zero.
  mutating func verifyBlocks(_ footer: SegmentFooter, _ manifest: Manifest) throws(StoreError) {
    var blocks: [(block: Manifest.Block, kind: BlockHeader.Kind, space: Int)] = []
    for table in manifest.tables {
      for (index, space) in table.keySpaces.enumerated() { blocks += space.blocks.map { ($0, .index, index) } }
    }
    blocks += manifest.deadBlocks.map { ($0, .dead, 0) }
    blocks.removeAll { $0.block.offset < footer.segmentOffset }
    blocks.sort { $0.block.offset < $1.block.offset }
    var window = LogWindow(log)
    var position = Int(footer.objectEnd)
    for (block, kind, space) in blocks {
      let place: IndexBlock
      do { place = try IndexBlock(block, end: Int(footer.manifestOffset), log: log) } catch {
        guard let finding = Finding(error, lost: "lookups through it") else { throw error }
        findings.append(finding)
        return
      }
      guard place.offset >= position else {
        add(place.offset, "a block begins before the end of what stands before it", lost: "lookups through it")
        return
      }
      try verifyZeros(position..<place.offset, &window)
      try verify(place, block, kind, space)
      position = place.offset + block.byteCount
    }
    try verifyZeros(position..<Int(footer.manifestOffset), &window)
    try verifyZeros(Int(footer.manifestOffset) + Int(footer.manifestLength)..<Int(footer.offset), &window)
  }

  private mutating func verifyZeros(_ range: Range<Int>, _ window: inout LogWindow) throws(StoreError) {
    // Where objects, blocks and manifest leave more than this free, something is missing in between.
    guard range.count <= SegmentHeader.alignment else {
      return add(range.lowerBound, "\(range.count) bytes that belong to nothing", lost: "")
    }
    if try !window.isZero(range) { add(range.lowerBound, "\(range.count) bytes of padding are not zero", lost: "") }
  }

  private mutating func verify(
    _ block: IndexBlock, _ described: Manifest.Block, _ kind: BlockHeader.Kind, _ space: Int
  ) throws(StoreError) {
    let unit = UnitOffset(byteOffset: block.offset)
    let bytes = try log.read(BlockHeader.byteCount, at: block.offset)
    let expected = BlockHeader(
      kind: kind, keySpace: UInt8(space), longestDisplacement: described.longestDisplacement,
      bucketCount: described.bucketCount, entryCount: described.entryCount)
    if (try? BlockHeader(bytes.rawSpan, at: unit)) != expected { add(block.offset, "header of a block", lost: "") }
    if kind == .dead, described.rowCount != described.entryCount {
      add(block.offset, "\(described.rowCount) rows in a dead block of \(described.entryCount) entries", lost: "")
    }
    var window = LogWindow(log)
    let capacity = kind == .index ? Bucket.indexCapacity : Bucket.deadCapacity
    var entries = 0
    for bucket in 0..<Int(block.bucketCount) {
      let offset = block.buckets + bucket * Bucket.byteCount
      let line = try window.read(Bucket.byteCount, at: offset)
      let count = Bucket.count(line.rawSpan.u32(at: 4))
      if !Checksum.isWhole(line.rawSpan, at: UnitOffset(byteOffset: offset)) {
        add(offset, "bucket: checksum", lost: "the way to up to \(capacity) rows, until repaired")
      } else if count > capacity {
        add(offset, "bucket: \(count) entries", lost: "the way to up to \(capacity) rows, until repaired")
      } else if !Bucket.hasZeroPadding(line.rawSpan, isIndex: kind == .index) {
        add(offset, "bucket: reserved bytes are not zero", lost: "")
      }
      entries += count
    }
    if entries != block.entryCount {
      add(block.offset, "\(entries) entries in a block that says \(block.entryCount)", lost: "")
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

  /// Verifies that each entry of a block leads to rows which have its key.
  mutating func verifyEntries(
    of block: IndexBlock, _ described: Manifest.Block, _ space: KeySpaceID, in snapshot: Snapshot
  ) throws(StoreError) {
    var rows = 0
    for bucket in 0..<Int(block.bucketCount) {
      let place = block.line(bucket)
      let line = try snapshot.bucket(place, capacity: Bucket.indexCapacity)
      for entry in 0..<Bucket.count(line.u32(at: 4)) {
        let tag = line.u16(at: Bucket.tags + 2 * entry)
        let unit = Bucket.offset(line, entry)
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
        if let fault { add(place.byteOffset, "bucket: entry \(entry) \(fault)", lost: "lookups through it") }
      }
    }
    if rows != described.rowCount {
      add(block.offset, "\(rows) rows in a block for which the manifest counts \(described.rowCount)", lost: "")
    }
  }

  /// How many rows a posting list has, and what is wrong with it.
  private func verifyPostings(
    _ object: RawSpan, _ unit: UnitOffset, _ tag: UInt16, _ space: KeySpaceID, in snapshot: Snapshot
  ) throws(StoreError) -> (count: Int, fault: String?) {
    guard let list = PostingList(object) else { return (0, "names a posting list that is none") }
    let offset = unit.byteOffset
    guard list.keySpace == space.index else { return (list.count, "names the list of another key space, at \(offset)") }
    guard Bucket.tag(KeyHash.of(list.key, snapshot.seed)) == tag else {
      return (list.count, "names the list of another key, at offset \(offset)")
    }
    for index in 0..<list.count {
      let row = list.offset(index)
      guard row < unit, try snapshot.has(list.key, try snapshot.object(row), space) else {
        return (list.count, "names a list, at offset \(offset), of which row \(index) has not its key")
      }
    }
    return (list.count, nil)
  }
}

extension Snapshot {
  /// Whether `object` is a row of the table of `space` that has `key` there.
  fileprivate func has(_ key: RawSpan, _ object: RawSpan, _ space: KeySpaceID) throws(StoreError) -> Bool {
    guard ObjectHeader.kind(object.u32(at: 4)).table == space.table else { return false }
    let own = try RecordView(object, self).key(space.index)
    return isList(space) ? KeyList.contains(key, in: own) : own.hasSameBytes(as: key)
  }

  /// Whether `object` is a row of the table of `space` that has a key with `tag` there.
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
