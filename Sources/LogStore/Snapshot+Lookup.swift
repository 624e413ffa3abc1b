import CShims
import RecordFormat

// The hot path. Two cache misses for a hit in the base: one bucket, and the record's first line; the rest of the
// record follows in the shadow of the second. Nothing here allocates, retains or copies.

extension Snapshot {
  /// Calls `body` with each live record that has `key` in `space`, until it returns false.
  ///
  /// Records come newest block first; their order says nothing else.
  ///
  /// - Parameter body: may use the record only while it runs.
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check; what `body` throws.
  /// - Complexity: a bucket for the base and for each block of the tail (their number grows with the logarithm
  ///   of the tail's rows), a record for each hit.
  public func forEachRecord(
    _ space: KeySpaceID, _ key: RawSpan, _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard space.table < blocks.count, space.index < blocks[space.table].count else { return }
    let hash = KeyHash.of(key, log.header.seed)
    for block in blocks[space.table][space.index] {
      let goesOn = try probe(block, hash) { (unit) throws(StoreError) in
        try visit(unit, space, key, body)
      }
      if !goesOn { return }
    }
  }

  /// Lends the record at `offset`, which a view of this snapshot told; `nil` if it is no live row of `table`.
  public func withRecord<Result>(
    at offset: UnitOffset, table: Int, _ body: (borrowing RecordView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let object = try self.object(offset)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else { return nil }
    if try isDead(offset) { return nil }
    return try body(try RecordView(object, offset, self))
  }

  /// The hint for a lookup that will follow soon: asks for the bucket in which `key` stands in the base.
  public func prefetch(_ space: KeySpaceID, _ key: RawSpan) {
    guard space.table < blocks.count, space.index < blocks[space.table].count,
      let base = blocks[space.table][space.index].last
    else { return }
    let hash = KeyHash.of(key, log.header.seed)
    let offset = base.buckets + Bucket.home(hash, bucketCount: base.bucketCount) * Bucket.byteCount
    mapping.prefetch(offset)
  }

  /// Visits the entries of `block` whose tag fits `hash`; false if `body` stopped it.
  @inline(__always)
  func probe(
    _ block: IndexBlock, _ hash: UInt64, _ body: (UnitOffset) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let tag = Bucket.tag(hash)
    let filter = Bucket.filterBit(hash)
    var bucket = Bucket.home(hash, bucketCount: block.bucketCount)
    var left = block.longestDisplacement
    while true {
      let line = try self.bucket(block, bucket)
      let word = line.u32(at: 4)
      let count = Bucket.count(word)
      guard count <= Bucket.indexCapacity else { throw damagedBucket(block, bucket) }
      var matches = matchingTags(line, tag) & (1 << UInt32(count) - 1)
      while matches != 0 {
        let entry = matches.trailingZeroBitCount
        matches &= matches - 1
        let unit = UnitOffset(rawValue: line.u32(at: Bucket.indexOffsets + 4 * entry))
        if try !body(unit) { return false }
      }
      if word & filter == 0 || left == 0 { return true }
      left -= 1
      bucket += 1
      if bucket == Int(block.bucketCount) { bucket = 0 }
    }
  }

  /// The checked bytes of a bucket.
  @inline(__always)
  @_lifetime(borrow self)
  func bucket(_ block: IndexBlock, _ index: Int) throws(StoreError) -> RawSpan {
    let offset = block.buckets + index * Bucket.byteCount
    let line = mapped(offset, Bucket.byteCount)
    let computed = Checksum.of(line.slice(4, 60), from: Checksum.salt(UnitOffset(byteOffset: offset)))
    guard line.u32(at: 0) == computed else { throw damagedBucket(block, index) }
    return line
  }

  @inline(never)
  func damagedBucket(_ block: IndexBlock, _ index: Int) -> StoreError {
    log.damage(block.buckets + index * Bucket.byteCount, "index bucket")
  }

  @inline(__always)
  private func matchingTags(_ line: RawSpan, _ tag: UInt16) -> UInt32 {
    // Nine tags and the two bytes behind them lie inside the 64 of the bucket.
    unsafe line.withUnsafeBytes { unsafe shelfmark_match_tags($0.baseAddress! + Bucket.tags, tag) }
  }

  /// Hands the entry at `unit` to `body` if it is a live record with `key`, or a posting list of such records.
  @inline(__always)
  private func visit(
    _ unit: UnitOffset, _ space: KeySpaceID, _ key: RawSpan,
    _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let object = try self.object(unit)
    let kind = ObjectHeader.kind(object.u32(at: 4))
    if kind == .postingList { return try visitPostings(object, unit, key, space.table, body) }
    guard kind.table == space.table else { throw damagedObject(unit, "an index names it, but it is no row") }
    let record = try RecordView(object, unit, self)
    guard record.key(space.index).hasSameBytes(as: key) else { return true }
    if try isDead(unit) { return true }
    return try body(record)
  }

  private func visitPostings(
    _ object: RawSpan, _ unit: UnitOffset, _ key: RawSpan, _ table: Int,
    _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard let postings = PostingList(object) else { throw damagedObject(unit, "posting list") }
    guard postings.key.hasSameBytes(as: key) else { return true }
    for index in 0..<postings.count {
      let row = postings.offset(index)
      if try isDead(row) { continue }
      let record = try self.record(row, table: table)
      if try !body(record) { return false }
    }
    return true
  }

  /// The live record at `unit`, which has to be one of `table`.
  @_lifetime(borrow self)
  func record(_ unit: UnitOffset, table: Int) throws(StoreError) -> RecordView {
    let object = try self.object(unit)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else {
      throw damagedObject(unit, "a list names it, but it is no row of its table")
    }
    return try RecordView(object, unit, self)
  }

  /// The checked bytes of the object at `unit`, without padding.
  @inline(__always)
  @_lifetime(borrow self)
  func object(_ unit: UnitOffset) throws(StoreError) -> RawSpan {
    let offset = unit.byteOffset
    guard offset >= SegmentHeader.firstOffset, offset <= end - ObjectHeader.byteCount else {
      throw damagedObject(unit, "an offset outside the commit")
    }
    let length = ObjectHeader.length(mapped(offset, ObjectHeader.byteCount).u32(at: 4))
    guard length >= ObjectHeader.byteCount, length <= end - offset else {
      throw damagedObject(unit, "length \(length)")
    }
    let object = mapped(offset, length)
    let computed = Checksum.of(object.slice(4, length - 4), from: Checksum.salt(unit))
    guard object.u32(at: 0) == computed else { throw damagedObject(unit, "checksum") }
    return object
  }

  @inline(never)
  func damagedObject(_ unit: UnitOffset, _ what: String) -> StoreError {
    log.damage(unit.byteOffset, "object: \(what)")
  }

  /// Whether the row at `unit` died in this commit or an earlier one of this file.
  @inline(__always)
  func isDead(_ unit: UnitOffset) throws(StoreError) -> Bool {
    if deadBlocks.isEmpty { return false }
    let hash = KeyHash.of(unit, log.header.seed)
    for block in deadBlocks where try contains(block, hash, unit) { return true }
    return false
  }

  private func contains(_ block: IndexBlock, _ hash: UInt64, _ unit: UnitOffset) throws(StoreError) -> Bool {
    let filter = Bucket.filterBit(hash)
    var bucket = Bucket.home(hash, bucketCount: block.bucketCount)
    var left = block.longestDisplacement
    while true {
      let line = try self.bucket(block, bucket)
      let word = line.u32(at: 4)
      let count = Bucket.count(word)
      guard count <= Bucket.deadCapacity else { throw damagedBucket(block, bucket) }
      for entry in 0..<count where line.u32(at: Bucket.deadOffsets + 4 * entry) == unit.rawValue {
        return true
      }
      if word & filter == 0 || left == 0 { return false }
      left -= 1
      bucket += 1
      if bucket == Int(block.bucketCount) { bucket = 0 }
    }
  }

  /// `count` bytes of the file from `offset` on, valid as long as this snapshot, which holds the mapping.
  @inline(__always)
  @_lifetime(borrow self)
  func mapped(_ offset: Int, _ count: Int) -> RawSpan {
    // The mapping is a constant of this object, and lives as long as it does.
    let span = unsafe mapping.bytes(offset, count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }
}
