import Bytes
import RecordFormat

/// The state of a lookup of one key, which proceeds block by block, bucket by bucket and entry by entry.
struct Probe {
  let hash: UInt64
  /// The block that is being searched.
  var block: IndexBlock
  /// The older blocks to search after it, as a range of ``Snapshot/blocks``.
  var older: Range<Int>
  /// The index of the bucket of the block to read next.
  var bucket: Int
  /// The number of buckets, from that one on, that may contain the key according to the block's header.
  var left: Int
  /// The result of searching the last bucket, without the entries already visited. Initially it continues the search.
  var answer = Bucket.Answer.unasked
  /// The offset of that bucket.
  var line = UnitOffset(rawValue: 0)
  /// The posting list that the search has reached but not yet read; unit 0 if it has reached no list.
  var postings = UnitOffset(rawValue: 0)

  @inline(__always)
  init(_ hash: UInt64, _ blocks: KeySpaceBlocks) {
    self.hash = hash
    block = blocks.newest
    older = blocks.older
    bucket = block.home(hash)
    left = block.longestProbe
  }
}

// The hot path. A hit in the base costs two cache misses: one bucket and the first line of the record; the rest of the
// record arrives during the second miss. Nothing here allocates, retains or copies, and rare cases are in separate
// functions. That way the next lookup overlaps with this one as far as both fit the processor's reorder window. Data is
// prefetched as soon as its address is known: the buckets of the older blocks before the newest one is searched, and
// the record before it is looked up in the set of dead rows.

extension Snapshot {
  /// Starts a search for the key with this hash.
  @inline(__always)
  func probe(_ space: KeySpaceID, _ hash: UInt64) -> Probe {
    let blocks = blocks(of: space)
    for index in blocks.older { mapping.prefetch(self.blocks[index].line(self.blocks[index].home(hash)).byteOffset) }
    return Probe(hash, blocks)
  }

  /// Returns the first live record with `key`; `nil` if no record has `key`.
  ///
  /// This is a straight path for the most common lookups: the log is clear, there is no tail, and a single bucket either
  /// contains the key in its first matching entry or shows that the key does not exist. It keeps no state for the other
  /// cases, which start over.
  ///
  /// - Parameter inLists: Whether the keys of `space` are lists.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  @inline(__always)
  @_lifetime(borrow self)
  func first(_ space: KeySpaceID, _ key: RawSpan, inLists: Bool = false) throws(StoreError) -> RecordView? {
    let blocks = blocks(of: space)
    if blocks.isSingle, !isSealed {
      let hash = KeyHash.ofClear(key, seed)
      let bucket = blocks.newest.line(blocks.newest.home(hash))
      guard var answer = Bucket.search(line(bucket), at: bucket, hash) else { throw damagedBucket(bucket) }
      if answer.hasMatch {
        var list = UnitOffset(rawValue: 0)
        if let unit = try liveMatch(&answer, bucket) {
          let (object, kind) = try storedObject(unit)
          if let record = try record(object, kind, unit, space, key, &list, inLists: inLists) { return record }
        }
      } else if !answer.continues(hash) {
        return nil
      }
    }
    return try search(space, key, inLists: inLists)
  }

  /// Returns whether one bucket shows that no record has `key`. If it does not, a lookup finds out.
  ///
  /// - Throws: `StoreError.damaged` if the bucket fails its check.
  @inline(never)
  package func isAbsent(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> Bool {
    let blocks = blocks(of: space)
    guard blocks.isSingle else { return false }
    let hash = KeyHash.of(key, seed)
    let bucket = blocks.newest.line(blocks.newest.home(hash))
    guard let answer = Bucket.search(line(bucket), at: bucket, hash) else { throw damagedBucket(bucket) }
    return !answer.hasMatch && !answer.continues(hash)
  }

  /// Returns the same for any key.
  @inline(never)
  @_lifetime(borrow self)
  private func search(_ space: KeySpaceID, _ key: RawSpan, inLists: Bool) throws(StoreError) -> RecordView? {
    let hash = KeyHash.of(key, seed)
    let blocks = blocks(of: space)
    if isSealed, blocks.isSingle {
      // The same straight path. Here, not above, because opening costs more than the call, and because it would make every
      // caller larger.
      let bucket = blocks.newest.line(blocks.newest.home(hash))
      guard var answer = Bucket.search(line(bucket), at: bucket, hash) else { throw damagedBucket(bucket) }
      if answer.hasMatch {
        var list = UnitOffset(rawValue: 0)
        if let record = try match(&answer, bucket, space, key, &list, inLists: inLists) { return record }
      } else if !answer.continues(hash) {
        return nil
      }
    }
    var probe = probe(space, hash)
    while true {
      if let record = try nextEntry(&probe, space, key, inLists: inLists) { return record }
      if probe.postings.rawValue == 0 { return nil }
      guard let postings = try takePostings(&probe, space, key) else { continue }
      var first: UnitOffset?
      _ = try forEachLiveRow(of: postings, prefetches: false) { (row) throws(StoreError) in
        first = row
        return false
      }
      if let first { return try record(first, table: space.table) }
    }
  }

  /// Returns the next live record with `key` that has its own index entry; `nil` after the last one, and before a
  /// posting list, whose offset is then in `probe`.
  ///
  /// - Parameter inLists: Whether the keys of `space` are lists.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  @inline(__always)
  @_lifetime(borrow self)
  func nextEntry(
    _ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan, inLists: Bool = false
  ) throws(StoreError) -> RecordView? {
    while true {
      while !probe.answer.hasMatch {
        if try !advance(&probe) { return nil }
      }
      if let record = try match(&probe.answer, probe.line, space, key, &probe.postings, inLists: inLists) {
        return record
      }
      if probe.postings.rawValue != 0 { return nil }
    }
  }

  /// Reads the posting list that `probe` has reached. The list is checked once for all of its rows. Returns `nil` if it
  /// belongs to another key.
  ///
  /// - Throws: `StoreError.damaged` if it belongs to another key space. In a sealed log, entries of buckets can be changed
  ///   by somebody who cannot read the lists.
  @_lifetime(borrow self)
  func takePostings(_ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> PostingList? {
    let unit = probe.postings
    probe.postings = UnitOffset(rawValue: 0)
    guard let postings = PostingList(try object(unit)) else { throw damagedObject(unit, "posting list") }
    guard postings.keySpace == space.index else {
      throw damagedObject(unit, "an index names it, but it is the list of another key space")
    }
    return postings.key.hasSameBytes(as: key) ? postings : nil
  }

  /// Returns the record of the next entry of a bucket with a matching tag; `nil` if that is not a live record with
  /// `key`, or if it is a posting list, which is stored in `list`.
  @inline(__always)
  @_lifetime(borrow self)
  private func match(
    _ answer: inout Bucket.Answer, _ bucket: UnitOffset, _ space: KeySpaceID, _ key: RawSpan, _ list: inout UnitOffset,
    inLists: Bool = false
  ) throws(StoreError) -> RecordView? {
    guard let unit = try liveMatch(&answer, bucket) else { return nil }
    let (object, kind) = try objectAndKind(unit)
    return try record(object, kind, unit, space, key, &list, inLists: inLists)
  }

  /// Takes the next entry of a bucket with a matching tag; `nil` if its row is dead.
  @inline(__always)
  private func liveMatch(_ answer: inout Bucket.Answer, _ bucket: UnitOffset) throws(StoreError) -> UnitOffset? {
    let unit = Bucket.offset(line(bucket), answer.takeMatch())
    prefetch(unit)
    return try isDead(unit) ? nil : unit
  }

  /// Returns the record that an entry names; `nil` if it has not `key`, or if it is a posting list, which is stored in
  /// `list`.
  @inline(__always)
  @_lifetime(borrow self)
  private func record(
    _ object: RawSpan, _ kind: ObjectKind, _ unit: UnitOffset, _ space: KeySpaceID, _ key: RawSpan,
    _ list: inout UnitOffset, inLists: Bool
  ) throws(StoreError) -> RecordView? {
    if Int(kind.rawValue) == space.table {
      let record = try RecordView(object, self)
      let own = record.key(space.index)
      guard inLists ? KeyList.contains(key, in: own) : own.hasSameBytes(as: key) else { return nil }
      return unsafe _overrideLifetime(record, borrowing: self)
    }
    guard kind == .postingList else { throw damagedObject(unit, "an index names it, but it is no row") }
    list = unit
    return nil
  }

  /// Reads the next bucket that may contain the key. Returns `false` if there is no such bucket.
  @inline(__always)
  private func advance(_ probe: inout Probe) throws(StoreError) -> Bool {
    if probe.left == 0 || !probe.answer.continues(probe.hash) {
      if probe.older.isEmpty { return false }
      probe.block = blocks[probe.older.lowerBound]
      probe.older = (probe.older.lowerBound &+ 1)..<probe.older.upperBound
      probe.bucket = probe.block.home(probe.hash)
      probe.left = probe.block.longestProbe
    }
    probe.line = probe.block.line(probe.bucket)
    guard let answer = Bucket.search(line(probe.line), at: probe.line, probe.hash) else {
      throw damagedBucket(probe.line)
    }
    probe.answer = answer
    probe.left &-= 1
    probe.bucket = probe.block.bucket(after: probe.bucket)
    return true
  }

  /// Prefetches the first three lines of a record: the first two arrive in the burst of one miss, and the third
  /// follows.
  @inline(__always)
  func prefetch(_ unit: UnitOffset) {
    mapping.prefetch(unit.byteOffset)
    mapping.prefetch(unit.byteOffset &+ 64)
    mapping.prefetch(unit.byteOffset &+ 128)
  }
}
