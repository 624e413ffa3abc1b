import Bytes
import RecordFormat

extension Snapshot {
  /// The number of bytes to prefetch ahead of a scan.
  private static let readAhead = 4 << 20

  /// Calls `body` with every live record of `table`, in file order.
  ///
  /// - Throws: `StoreError.damaged` at the first object that fails its check; any error that `body` throws.
  /// - Complexity: Reads every object of the generation once, and every dead block; memory for 4 bytes for each dead
  ///   row.
  public func scan(
    _ table: Int, _ body: (borrowing RecordView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachRecord(of: table) { (record) throws(StoreError) in
      try body(record)
      return true
    }
  }

  /// Calls `body` with the live records of `table`, in file order, until it returns `false`.
  ///
  /// - Throws, complexity: As ``scan(_:_:)``, up to the last record.
  public func forEachRecord(
    of table: Int, _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachLiveRow { (own, record) throws(StoreError) in
      if own != table { return true }
      return try body(record)
    }
  }

  /// Calls `body` with every live record and its table, in file order.
  func forEachLiveRow(
    _ body: (Int, borrowing RecordView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachLiveRow { (table, record) throws(StoreError) in
      try body(table, record)
      return true
    }
  }

  private func forEachLiveRow(
    _ body: (Int, borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let tableCount = manifest.tables.count
    let dead = try deadRows()
    // Rows come in ascending order, as do the dead ones, so each dead row is passed once.
    var next = 0
    for segment in try segments() {
      let isFinished = try forEachObject(segment) { (object, unit) throws(StoreError) in
        guard let table = ObjectHeader.kind(object.u32(at: 4)).table, table < tableCount else { return true }
        while next < dead.count, dead[next] < unit.rawValue { next += 1 }
        if next < dead.count, dead[next] == unit.rawValue { return true }
        return try body(table, try RecordView(object, self))
      }
      if !isFinished { return }
    }
  }

  /// Returns the rows that died in this commit or an earlier one of this file, in ascending order.
  private func deadRows() throws(StoreError) -> [UInt32] {
    var dead: [UInt32] = []
    for block in deadBlocks { try forEachDead(block) { dead.append($0.rawValue) } }
    dead.sort()
    return dead
  }

  /// Returns the footers of this commit and all earlier ones of this generation, oldest first.
  func segments() throws(StoreError) -> [SegmentFooter] {
    var footers = [footer]
    while let first = footers.last, first.previousFooterOffset != 0 {
      footers.append(try log.footer(before: first))
    }
    return footers.reversed()
  }

  /// Calls `body` with each checked object of a segment until it returns `false`. Returns whether it never did.
  func forEachObject(
    _ segment: SegmentFooter, _ body: (RawSpan, UnitOffset) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var offset = Int(segment.segmentOffset) + SegmentHeader.byteCount
    let end = Int(segment.objectEnd)
    var expected = offset
    while offset < end {
      if offset >= expected {
        // By now, half of the previous read-ahead should have arrived.
        mapping.adviseWillNeed(expected, min(2 * Self.readAhead, end - expected))
        expected += Self.readAhead
      }
      let unit = UnitOffset(byteOffset: offset)
      let object = try self.object(unit)
      guard offset + object.byteCount <= end else {
        throw damagedObject(unit, "it reaches beyond the object area")
      }
      if try !body(object, unit) { return false }
      offset += ObjectHeader.padded(object.byteCount)
    }
    return true
  }

  /// Calls `body` with the hash and offset of each live row that `block` contains. In a key space of lists, it is
  /// called once for each key of a row, and for some keys more than once.
  func forEachEntry(
    _ block: IndexBlock, _ space: KeySpaceID, _ body: (UInt64, UnitOffset) -> Void
  ) throws(StoreError) {
    for bucket in 0..<Int(block.bucketCount) {
      let line = try self.bucket(block.line(bucket), capacity: Bucket.indexCapacity)
      for entry in 0..<Bucket.count(line.u32(at: 4)) {
        let unit = Bucket.offset(line, entry)
        let object = try self.object(unit)
        if ObjectHeader.kind(object.u32(at: 4)) == .postingList {
          guard let postings = PostingList(object) else { throw damagedObject(unit, "posting list") }
          let hash = KeyHash.of(postings.key, seed)
          _ = try forEachLiveRow(of: postings, prefetches: false) { (row) throws(StoreError) in
            guard row.byteOffset < end else { throw damagedObject(unit, "it lists a row outside the commit") }
            body(hash, row)
            return true
          }
        } else if try !isDead(unit) {
          let key = try record(unit, table: space.table).key(space.index)
          guard isList(space) else {
            body(KeyHash.of(key, seed), unit)
            continue
          }
          // All keys of a row are in one block, so it does not matter which of its keys with this tag belongs to this
          // entry.
          let tag = line.u16(at: Bucket.tags + 2 * entry)
          var list = KeyList(key)
          while let key = list.next() {
            let hash = KeyHash.of(key, seed)
            if Bucket.tag(hash) == tag { body(hash, unit) }
          }
        }
      }
    }
  }

  /// Calls `body` with each dead row that `block` contains.
  func forEachDead(
    _ block: IndexBlock, _ body: (UnitOffset) throws(StoreError) -> Void
  ) throws(StoreError) {
    for bucket in 0..<Int(block.bucketCount) {
      let line = try self.bucket(block.line(bucket), capacity: Bucket.deadCapacity)
      for entry in 0..<Bucket.count(line.u32(at: 4)) {
        try body(UnitOffset(rawValue: line.u32(at: Bucket.deadOffsets + 4 * entry)))
      }
    }
  }
}
