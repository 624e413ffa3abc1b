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

  /// Calls `body` with the live records of `table` that are in one of the commit's ``parts(_:of:)``, in file order,
  /// until it returns `false`.
  ///
  /// - Throws: As ``scan(_:_:)``; also if the part does not end where an object does.
  package func forEachRecord(
    of table: Int, in part: ScanPart, _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachLiveRow(in: part) { (own, record) throws(StoreError) in
      if own != table { return true }
      return try body(record)
    }
  }

  /// Divides the commit into at most `count` parts with about the same number of rows of `table`, in file order.
  /// Several threads can scan them at the same time.
  ///
  /// The parts begin at rows that the index of the table's first key space names, so at objects.
  ///
  /// - Throws: `StoreError.damaged` if a bucket of the index fails its check.
  /// - Complexity: Reads about a thousand buckets, evenly distributed.
  package func parts(_ count: Int, of table: Int) throws(StoreError) -> [ScanPart] {
    let blocks = self.blocks[self.blocks(of: KeySpaceID(table: table, index: 0)).all]
    let step = max(1, blocks.reduce(0) { $0 + Int($1.bucketCount) } / 1024)
    // A hash decides on the bucket of a row, so the rows of some buckets are a random sample of all.
    var rows: [Int] = []
    for block in blocks {
      for bucket in stride(from: 0, to: Int(block.bucketCount), by: step) {
        let line = try self.bucket(block.line(bucket), capacity: Bucket.indexCapacity)
        for entry in 0..<Bucket.count(line.u32(at: 4)) { rows.append(Bucket.offset(line, entry).byteOffset) }
      }
    }
    rows.sort()
    var parts: [ScanPart] = []
    var start = 0
    for number in 1..<max(1, count) where !rows.isEmpty {
      let end = rows[number * rows.count / count]
      if end > start { parts.append(ScanPart(offsets: start..<end)) }
      start = max(start, end)
    }
    return parts + [ScanPart(offsets: start..<Int.max)]
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
    in part: ScanPart = .all, _ body: (Int, borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let tableCount = manifest.tables.count
    let dead = try deadRows(in: part)
    // Rows come in ascending order, as do the dead ones, so each dead row is passed once.
    var next = 0
    for segment in try segments() {
      let isFinished = try forEachObject(segment, in: part) { (object, unit) throws(StoreError) in
        guard let table = ObjectHeader.kind(object.u32(at: 4)).table, table < tableCount else { return true }
        while next < dead.count, dead[next] < unit.rawValue { next += 1 }
        if next < dead.count, dead[next] == unit.rawValue { return true }
        return try body(table, try RecordView(object, self))
      }
      if !isFinished { return }
    }
  }

  /// Returns the rows of a part that died in this commit or an earlier one of this file, in ascending order.
  private func deadRows(in part: ScanPart) throws(StoreError) -> [UInt32] {
    var dead: [UInt32] = []
    for block in deadBlocks {
      try forEachDead(block) { if part.offsets.contains($0.byteOffset) { dead.append($0.rawValue) } }
    }
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

  /// Calls `body` with each checked object of a segment that begins in `part`, until it returns `false`. Returns
  /// whether it never did.
  func forEachObject(
    _ segment: SegmentFooter, in part: ScanPart = .all, _ body: (RawSpan, UnitOffset) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var offset = max(Int(segment.segmentOffset) + SegmentHeader.byteCount, part.offsets.lowerBound)
    let end = min(Int(segment.objectEnd), part.offsets.upperBound)
    var expected = offset
    var advised = offset
    while offset < end {
      if offset >= expected {
        // Always one to two read-aheads ahead. Each page is named once: the kernel looks for every page that is named.
        let next = min(expected + 2 * Self.readAhead, end)
        mapping.adviseWillNeed(advised, next - advised)
        advised = next
        expected += Self.readAhead
      }
      let unit = UnitOffset(byteOffset: offset)
      let scope = ScratchScope(self)
      defer { scope.end() }
      let object = try self.object(unit)
      let byteCount = isSealed ? storedByteCount(unit) : object.byteCount
      guard offset + byteCount <= end else {
        throw damagedObject(
          unit, end < segment.objectEnd ? "an index names a row inside it" : "it reaches beyond the object area")
      }
      if try !body(object, unit) { return false }
      offset += ObjectHeader.padded(byteCount)
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
        let scope = ScratchScope(self)
        defer { scope.end() }
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

/// A part of a commit, to be scanned by one of several threads: the objects that begin at these offsets.
package struct ScanPart: Sendable {
  let offsets: Range<Int>

  /// All objects.
  static let all = ScanPart(offsets: 0..<Int.max)
}
