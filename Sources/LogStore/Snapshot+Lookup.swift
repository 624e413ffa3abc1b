import RecordFormat

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
    var probe = probe(space, KeyHash.of(key, seed))
    if isList(space) {
      while let record = try next(&probe, space, key, inLists: true) {
        if try !body(record) { return }
      }
    } else {
      while let record = try next(&probe, space, key) {
        if try !body(record) { return }
      }
    }
  }

  /// The live record with `key` in `space`: the only one in a key space of unique keys, any of them in another;
  /// `nil` for none. A key space of lists is asked with ``forEachRecord(_:_:_:)``.
  ///
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check.
  /// - Complexity: as ``forEachRecord(_:_:_:)`` for one hit.
  @_lifetime(borrow self)
  public func record(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> RecordView? {
    var probe = probe(space, KeyHash.of(key, seed))
    return try next(&probe, space, key)
  }

  /// The record at `offset`, which a view of this snapshot told; `nil` if it is no live row of `table`.
  @_lifetime(borrow self)
  public func record(at offset: UnitOffset, table: Int) throws(StoreError) -> RecordView? {
    let object = try self.object(offset)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else { return nil }
    if try isDead(offset) { return nil }
    return try RecordView(object, offset, self)
  }

  /// The hint for a lookup that will follow soon: asks for the bucket in which `key` stands in the base.
  public func prefetch(_ space: KeySpaceID, _ key: RawSpan) { _ = probe(space, KeyHash.of(key, seed)) }

  /// The checked bytes of a bucket.
  @inline(__always)
  @_lifetime(borrow self)
  func bucket(_ block: IndexBlock, _ index: Int) throws(StoreError) -> RawSpan {
    let offset = block.buckets &+ index &* Bucket.byteCount
    let line = mapped(offset, Bucket.byteCount)
    guard Checksum.isWhole(line, at: UnitOffset(byteOffset: offset)) else { throw damagedBucket(block, index) }
    return line
  }

  @inline(never)
  func damagedBucket(_ block: IndexBlock, _ index: Int) -> StoreError {
    log.damage(block.buckets + index * Bucket.byteCount, "index bucket")
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
    guard offset >= SegmentHeader.firstOffset, offset <= end &- ObjectHeader.byteCount else {
      throw damagedObject(unit, "an offset outside the commit")
    }
    let length = ObjectHeader.length(mapped(offset, ObjectHeader.byteCount).u32(at: 4))
    guard length >= ObjectHeader.byteCount, length <= end &- offset else {
      throw damagedObject(unit, "length \(length)")
    }
    let object = mapped(offset, length)
    guard Checksum.isWhole(object, at: unit) else { throw damagedObject(unit, "checksum") }
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
    return try isListed(unit)
  }

  private func isListed(_ unit: UnitOffset) throws(StoreError) -> Bool {
    let hash = KeyHash.of(unit, seed)
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
