import Bytes
import RecordFormat

extension Snapshot {
  /// Calls `body` with each live record that has `key` in `space`, until it returns false.
  ///
  /// Records come newest block first; their order says nothing else.
  ///
  /// - Parameters:
  ///   - space: where the key is looked up.
  ///   - key: one that is longer than any in the store finds nothing.
  ///   - body: may use the record only while it runs.
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check; what `body` throws.
  /// - Complexity: a bucket for the base and for each block of the tail (their number grows with the logarithm
  ///   of the tail's rows), a record for each hit.
  public func forEachRecord(
    _ space: KeySpaceID, _ key: RawSpan, _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var probe = probe(space, KeyHash.of(key, seed))
    try forEachRecord(&probe, space, key, inLists: isList(space), body)
  }

  /// Calls `body` with each live record that the search for `key`, which `probe` began, finds, until it returns false.
  ///
  /// A posting list is checked once, however many rows it has.
  ///
  /// - Parameter inLists: whether `space` is a key space of lists.
  @inline(__always)
  func forEachRecord(
    _ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan, inLists: Bool,
    _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    while true {
      if let record = try nextEntry(&probe, space, key, inLists: inLists) {
        if try !body(record) { return }
        continue
      }
      if probe.postings.rawValue == 0 { return }
      guard let postings = try takePostings(&probe, key) else { continue }
      let goesOn = try forEachLiveRow(of: postings) { (row) throws(StoreError) in
        try body(try record(row, table: space.table))
      }
      if !goesOn { return }
    }
  }

  /// Calls `body` with each live row of a posting list, until it returns false. Returns whether it never did.
  ///
  /// - Parameter prefetches: Whether `body` will read the rows, which lie far apart and are prefetched then.
  @inline(__always)
  func forEachLiveRow(
    of postings: borrowing PostingList, prefetches: Bool = true, _ body: (UnitOffset) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    for index in 0..<postings.count {
      if prefetches, index &+ Self.prefetchDistance < postings.count {
        prefetchWhole(postings.offset(index &+ Self.prefetchDistance))
      }
      let row = postings.offset(index)
      if try isDead(row) { continue }
      if try !body(row) { return false }
    }
    return true
  }

  /// How many rows of a posting list ahead a row is prefetched: its cache misses overlap with the work on those before it.
  private static var prefetchDistance: Int { 6 }

  /// Prefetches as much of a record as most have: a check reads all of it.
  @inline(__always)
  private func prefetchWhole(_ unit: UnitOffset) {
    prefetch(unit)
    mapping.prefetch(unit.byteOffset &+ 192)
    mapping.prefetch(unit.byteOffset &+ 256)
    mapping.prefetch(unit.byteOffset &+ 320)
  }

  /// How many live rows have `key` in `space`, or `limit` where they are no fewer.
  ///
  /// - Parameters:
  ///   - space: where the key is looked up.
  ///   - key: whose rows are counted.
  ///   - limit: how far.
  ///   - withDead: whether dead rows of posting lists may be counted, too: enough to tell which of two keys has
  ///     more, and then no row is looked up among the dead.
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check.
  /// - Complexity: as ``forEachRecord(_:_:_:)``, but rows that stand in a posting list are not looked at, and without dead
  ///   rows only counted.
  public func rowCount(
    _ space: KeySpaceID, _ key: RawSpan, atMost limit: Int = .max, withDead: Bool = false
  ) throws(StoreError) -> Int {
    var probe = probe(space, KeyHash.of(key, seed))
    let inLists = isList(space)
    var count = 0
    while count < limit {
      if try nextEntry(&probe, space, key, inLists: inLists) != nil {
        count += 1
        continue
      }
      if probe.postings.rawValue == 0 { break }
      guard let postings = try takePostings(&probe, key) else { continue }
      if withDead || deadBlocks.isEmpty {
        count += postings.count
        continue
      }
      _ = try forEachLiveRow(of: postings, prefetches: false) { (_) throws(StoreError) in
        count += 1
        return count < limit
      }
    }
    return min(count, limit)
  }

  /// The live record with `key` in `space`: the only one in a key space of unique keys, any of them in another;
  /// `nil` for none. A key space of lists is asked with ``forEachRecord(_:_:_:)``.
  ///
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check.
  /// - Complexity: as ``forEachRecord(_:_:_:)`` for one hit.
  @_lifetime(borrow self)
  public func record(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> RecordView? {
    try first(space, key)
  }

  /// The row with identifier `id`, which a snapshot of this generation gave; `nil` if it is not a live row of `table`.
  ///
  /// - Throws: `StoreError.damaged` if the row does not pass its check.
  @_lifetime(borrow self)
  public func record(_ id: RowID, table: Int) throws(StoreError) -> RecordView? {
    let object = try self.object(id.unit)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else { return nil }
    if try isDead(id.unit) { return nil }
    return try RecordView(object, self)
  }

  /// The hint for a lookup that will follow soon: asks for the bucket in which `key` stands in the base.
  public func prefetch(_ space: KeySpaceID, _ key: RawSpan) { prefetchBucket(space, KeyHash.of(key, seed)) }

  /// The checked bytes of the bucket at `unit`, which has room for `capacity` entries.
  @_lifetime(borrow self)
  func bucket(_ unit: UnitOffset, capacity: Int) throws(StoreError) -> RawSpan {
    let line = line(unit)
    guard Checksum.isValid(line, at: unit), Bucket.count(line.u32(at: 4)) <= capacity else { throw damagedBucket(unit) }
    return line
  }

  @inline(never)
  func damagedBucket(_ line: UnitOffset) -> StoreError { log.damage(line.byteOffset, "index bucket") }

  /// The live record at `unit`, which has to be one of `table`.
  @_lifetime(borrow self)
  func record(_ unit: UnitOffset, table: Int) throws(StoreError) -> RecordView {
    let object = try self.object(unit)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else {
      throw damagedObject(unit, "a list names it, but it is no row of its table")
    }
    return try RecordView(object, self)
  }

  /// The checked bytes of the object at `unit`, without padding.
  @inline(__always)
  @_lifetime(borrow self)
  func object(_ unit: UnitOffset) throws(StoreError) -> RawSpan { try objectAndKind(unit).0 }

  /// The same, and what the object is.
  @inline(__always)
  @_lifetime(borrow self)
  func objectAndKind(_ unit: UnitOffset) throws(StoreError) -> (RawSpan, ObjectKind) {
    let offset = unit.byteOffset
    guard offset >= SegmentHeader.firstOffset, offset <= end &- ObjectHeader.byteCount else {
      throw damagedObject(unit)
    }
    // Inside the commit, as just checked.
    let rest = unsafe committed(offset, end &- offset)
    let word = Checksum.checkedHeader(rest, at: unit)
    if word == 0 { throw damagedObject(unit) }
    // No longer than `rest`, as just checked.
    return (unsafe rest.extracting(unchecked: 0..<ObjectHeader.length(word)), ObjectHeader.kind(word))
  }

  /// What is wrong with the object at `unit`, which did not pass its check.
  @inline(never)
  private func damagedObject(_ unit: UnitOffset) -> StoreError {
    let offset = unit.byteOffset
    guard offset >= SegmentHeader.firstOffset, offset <= end - ObjectHeader.byteCount else {
      return damagedObject(unit, "an offset outside the commit")
    }
    // Inside the commit, as just checked.
    let length = ObjectHeader.length(unsafe committed(offset, ObjectHeader.byteCount).u32(at: 4))
    guard length >= ObjectHeader.byteCount, length <= end - offset else {
      return damagedObject(unit, "length \(length)")
    }
    return damagedObject(unit, "checksum")
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
    var bucket = block.home(hash)
    for _ in 0..<block.longestProbe {
      let line = try self.bucket(block.line(bucket), capacity: Bucket.deadCapacity)
      let word = line.u32(at: 4)
      for entry in 0..<Bucket.count(word) where line.u32(at: Bucket.deadOffsets + 4 * entry) == unit.rawValue {
        return true
      }
      if word & filter == 0 { return false }
      bucket = block.bucket(after: bucket)
    }
    return false
  }

  /// Where an object stands whose bytes these are.
  func unit(of object: RawSpan) -> UnitOffset { UnitOffset(byteOffset: mapping.offset(of: object)) }

  /// `count` bytes of the file from `offset` on, valid as long as this snapshot, which holds the mapping.
  @_lifetime(borrow self)
  func mapped(_ offset: Int, _ count: Int) -> RawSpan {
    // The mapping is a constant of this object, and lives as long as it does.
    unsafe _overrideLifetime(mapping.bytes(offset, count), borrowing: self)
  }

  /// The bytes of the bucket at `unit`.
  @inline(__always)
  @_lifetime(borrow self)
  func line(_ unit: UnitOffset) -> RawSpan {
    // Buckets are those of an `IndexBlock`, which lies inside the commit.
    unsafe committed(unit.byteOffset, Bucket.byteCount)
  }

  /// The same without a check: unsafe because the bytes have to end at ``end`` at the latest, which lies in the mapping.
  @unsafe @inline(__always)
  @_lifetime(borrow self)
  func committed(_ offset: Int, _ count: Int) -> RawSpan {
    // As above.
    unsafe _overrideLifetime(mapping.bytes(unchecked: offset, count), borrowing: self)
  }
}
