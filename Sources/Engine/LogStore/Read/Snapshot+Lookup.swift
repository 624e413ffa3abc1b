import Bytes
import RecordFormat

extension Snapshot {
  /// Calls `body` with each live record that has `key` in `space`, until it returns `false`.
  ///
  /// Records come newest block first and otherwise in no particular order.
  ///
  /// - Parameters:
  ///   - space: The key space to search.
  ///   - key: The key to look up. A key longer than any in the store is not found.
  ///   - body: A closure that may use the record only during the call.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check; any error that `body`
  ///   throws.
  /// - Complexity: One bucket for the base and for each block of the tail (their number is logarithmic in the number of
  ///   rows of the tail), and one record for each hit.
  public func forEachRecord(
    _ space: KeySpaceID, _ key: RawSpan, _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var probe = probe(space, KeyHash.of(key, seed))
    try forEachRecord(&probe, space, key, inLists: isList(space), body)
  }

  /// Calls `body` with each live record that the search for `key` in `probe` finds, until it returns `false`.
  ///
  /// A posting list is checked once, however many rows it has.
  ///
  /// - Parameter inLists: Whether the keys of `space` are lists.
  @inline(__always)
  func forEachRecord(
    _ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan, inLists: Bool,
    _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if isSealed { return try forEachOpenedRecord(&probe, space, key, inLists: inLists, body) }
    while true {
      if let record = try nextEntry(&probe, space, key, inLists: inLists) {
        if try !body(record) { return }
        continue
      }
      if probe.postings.rawValue == 0 { return }
      guard let postings = try takePostings(&probe, space, key) else { continue }
      let continues = try forEachLiveRow(of: postings) { (row) throws(StoreError) in
        try body(try record(row, table: space.table))
      }
      if !continues { return }
    }
  }

  /// The same in a sealed log, where each record is opened in a scope of its own.
  @inline(never)
  private func forEachOpenedRecord(
    _ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan, inLists: Bool,
    _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    while true {
      let scope = ScratchScope(self)
      defer { scope.end() }
      if let record = try nextEntry(&probe, space, key, inLists: inLists) {
        if try !body(record) { return }
        continue
      }
      if probe.postings.rawValue == 0 { return }
      guard let postings = try takePostings(&probe, space, key) else { continue }
      let continues = try forEachLiveRow(of: postings) { (row) throws(StoreError) in
        try body(try record(row, table: space.table))
      }
      if !continues { return }
    }
  }

  /// Calls `body` with each live row of a posting list, until it returns `false`. Returns whether it never did.
  ///
  /// - Parameter prefetches: Whether to prefetch the rows, because `body` will read them and they are far apart.
  @inline(__always)
  func forEachLiveRow(
    of postings: borrowing PostingList, prefetches: Bool = true, _ body: (UnitOffset) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    for index in 0..<postings.count {
      if prefetches, index &+ Self.prefetchDistance < postings.count {
        prefetchRecord(postings.offset(index &+ Self.prefetchDistance))
      }
      let row = postings.offset(index)
      if try isDead(row) { continue }
      let scope = ScratchScope(self)
      defer { scope.end() }
      if try !body(row) { return false }
    }
    return true
  }

  /// The prefetch distance in rows of a posting list. Cache misses of later rows overlap with the work on earlier ones.
  private static var prefetchDistance: Int { 6 }

  /// Prefetches as much of a record as most records have, since a check reads all of it.
  @inline(__always)
  private func prefetchRecord(_ unit: UnitOffset) {
    prefetch(unit)
    mapping.prefetch(unit.byteOffset &+ 192)
    mapping.prefetch(unit.byteOffset &+ 256)
    mapping.prefetch(unit.byteOffset &+ 320)
  }

  /// Returns the number of live rows with `key` in `space`, but at most `limit`.
  ///
  /// - Parameters:
  ///   - space: The key space to search.
  ///   - key: The key whose rows to count.
  ///   - limit: The number at which counting stops.
  ///   - withDead: Whether dead rows of posting lists may be included. That is enough to find out which of two keys has
  ///     more rows, and avoids looking up each row in the set of dead rows.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  /// - Complexity: As ``forEachRecord(_:_:_:)``, but rows of a posting list are not read, and if dead rows are included
  ///   they are only counted.
  public func rowCount(
    _ space: KeySpaceID, _ key: RawSpan, atMost limit: Int = .max, withDead: Bool = false
  ) throws(StoreError) -> Int {
    var probe = probe(space, KeyHash.of(key, seed))
    let inLists = isList(space)
    var count = 0
    while count < limit {
      let scope = ScratchScope(self)
      defer { scope.end() }
      if try nextEntry(&probe, space, key, inLists: inLists) != nil {
        count += 1
        continue
      }
      if probe.postings.rawValue == 0 { break }
      guard let postings = try takePostings(&probe, space, key) else { continue }
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

  /// Returns the live record with `key` in `space`: the only one in a key space of unique keys, any of them otherwise;
  /// `nil` if no record has `key`. For a key space of lists, use ``forEachRecord(_:_:_:)`` instead.
  ///
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  /// - Complexity: As ``forEachRecord(_:_:_:)`` for one hit.
  @_lifetime(borrow self)
  public func record(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> RecordView? {
    try first(space, key)
  }

  /// Returns one of the live records whose list of keys in `space` has `key`; `nil` if no record has it.
  ///
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  /// - Complexity: As ``forEachRecord(_:_:_:)`` for one hit.
  @_lifetime(borrow self)
  package func record(inLists space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> RecordView? {
    try first(space, key, inLists: true)
  }

  /// Returns the row with identifier `id`, which a snapshot of this generation returned; `nil` if it is not a live row
  /// of `table`.
  ///
  /// - Throws: `StoreError.damaged` if the row fails its check.
  @_lifetime(borrow self)
  public func record(_ id: RowID, table: Int) throws(StoreError) -> RecordView? {
    let object = try self.object(id.unit)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else { return nil }
    if try isDead(id.unit) { return nil }
    return try RecordView(object, self)
  }

  /// Prefetches the home bucket of `key` in the base, as a hint for a lookup that follows soon.
  public func prefetch(_ space: KeySpaceID, _ key: RawSpan) { prefetchBucket(space, KeyHash.of(key, seed)) }

  /// Returns the checked bytes of the bucket at `unit`, which has space for `capacity` entries.
  @_lifetime(borrow self)
  func bucket(_ unit: UnitOffset, capacity: Int) throws(StoreError) -> RawSpan {
    let line = line(unit)
    guard Checksum.isValid(line, at: unit), Bucket.count(line.u32(at: 4)) <= capacity else { throw damagedBucket(unit) }
    return line
  }

  @inline(never)
  func damagedBucket(_ line: UnitOffset) -> StoreError { log.damage(line.byteOffset, "index bucket") }

  /// Returns the record at `unit`, which must be a live row of `table`.
  @_lifetime(borrow self)
  func record(_ unit: UnitOffset, table: Int) throws(StoreError) -> RecordView {
    let object = try self.object(unit)
    guard ObjectHeader.kind(object.u32(at: 4)).table == table else {
      throw damagedObject(unit, "a list names it, but it is no row of its table")
    }
    return try RecordView(object, self)
  }

  /// Returns the checked bytes of the object at `unit`, without padding.
  @inline(__always)
  @_lifetime(borrow self)
  func object(_ unit: UnitOffset) throws(StoreError) -> RawSpan { try objectAndKind(unit).0 }

  /// Returns the checked bytes of the object at `unit` and its kind.
  @inline(__always)
  @_lifetime(borrow self)
  func objectAndKind(_ unit: UnitOffset) throws(StoreError) -> (RawSpan, ObjectKind) {
    let (stored, kind) = try storedObject(unit)
    return (isSealed ? try opened(stored, at: unit) : stored, kind)
  }

  /// Returns the checked bytes of the object at `unit` as they are in the file, and its kind. In a clear log, that is
  /// the object.
  @inline(__always)
  @_lifetime(borrow self)
  func storedObject(_ unit: UnitOffset) throws(StoreError) -> (RawSpan, ObjectKind) {
    let offset = unit.byteOffset
    guard offset >= SegmentHeader.firstOffset, offset <= end &- ObjectHeader.byteCount else {
      throw damagedObject(unit)
    }
    // Within the commit, as just checked.
    let rest = unsafe committed(offset, end &- offset)
    let word = Checksum.checkedHeader(rest, at: unit)
    if word == 0 { throw damagedObject(unit) }
    // Not longer than `rest`, as just checked.
    return (unsafe rest.extracting(unchecked: 0..<ObjectHeader.length(word)), ObjectHeader.kind(word))
  }

  /// Returns the number of bytes that the object at `unit`, which was checked, has in the file, without padding.
  @inline(__always)
  func storedByteCount(_ unit: UnitOffset) -> Int {
    // The header of an object that was checked is within the commit.
    ObjectHeader.length(unsafe committed(unit.byteOffset, ObjectHeader.byteCount).u32(at: 4))
  }

  /// Returns the error for the object at `unit`, which failed its check.
  @inline(never)
  private func damagedObject(_ unit: UnitOffset) -> StoreError {
    let offset = unit.byteOffset
    guard offset >= SegmentHeader.firstOffset, offset <= end - ObjectHeader.byteCount else {
      return damagedObject(unit, "an offset outside the commit")
    }
    // Within the commit, as just checked.
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

  /// Returns whether the row at `unit` died in this commit or an earlier one of this file.
  @inline(__always)
  func isDead(_ unit: UnitOffset) throws(StoreError) -> Bool {
    if deadBlocks.isEmpty { return false }
    return try isListed(unit)
  }

  @inline(never)
  private func isListed(_ unit: UnitOffset) throws(StoreError) -> Bool {
    let hash = KeyHash.of(unit, seed)
    // The last buckets of the loop are far away in memory, so their cache misses overlap with the first ones.
    for index in 1..<max(1, deadBlocks.count) {
      mapping.prefetch(deadBlocks[index].line(deadBlocks[index].home(hash)).byteOffset)
    }
    for index in 0..<deadBlocks.count {
      let bucketCount = deadBlocks[index].bucketCount
      let first = deadBlocks[index].buckets
      var bucket = Bucket.home(hash, bucketCount: bucketCount)
      var left = deadBlocks[index].longestProbe
      while left > 0 {
        let line = IndexBlock.line(bucket, of: first)
        guard let answer = Bucket.searchDead(self.line(line), at: line, hash, unit) else { throw damagedBucket(line) }
        if answer.isListed { return true }
        if !answer.continues { break }
        bucket = bucket &+ 1 == Int(bucketCount) ? 0 : bucket &+ 1
        left &-= 1
      }
    }
    return false
  }

  /// Returns the offset of the object with these bytes.
  func unit(of object: RawSpan) -> UnitOffset {
    // An opened object has its offset in place of the checksum.
    isSealed ? UnitOffset(rawValue: object.u32(at: 0)) : UnitOffset(byteOffset: mapping.offset(of: object))
  }

  /// Returns `count` bytes of the file from `offset` on, valid as long as this snapshot, which owns the mapping.
  @_lifetime(borrow self)
  func mapped(_ offset: Int, _ count: Int) -> RawSpan {
    // The mapping is a constant of this object and lives as long as it.
    unsafe _overrideLifetime(mapping.bytes(offset, count), borrowing: self)
  }

  /// Returns the bytes of the bucket at `unit`.
  @inline(__always)
  @_lifetime(borrow self)
  func line(_ unit: UnitOffset) -> RawSpan {
    // Buckets belong to an `IndexBlock`, which is within the commit.
    unsafe committed(unit.byteOffset, Bucket.byteCount)
  }

  /// Returns the same bytes without a check. Unsafe because the bytes must end at or before ``end``, which is within
  /// the mapping.
  @unsafe @inline(__always)
  @_lifetime(borrow self)
  func committed(_ offset: Int, _ count: Int) -> RawSpan {
    // Safe for the same reason as above.
    unsafe _overrideLifetime(mapping.bytes(unchecked: offset, count), borrowing: self)
  }
}
