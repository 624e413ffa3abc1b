import Bytes
import RecordFormat

/// How far the search for one key has come: block by block, bucket by bucket, entry by entry.
struct Probe {
  let hash: UInt64
  /// The block that is being asked.
  var block: IndexBlock
  /// Those that are asked behind it, as positions in ``Snapshot/blocks``.
  var older: Range<Int>
  /// The bucket of the block that is asked next.
  var bucket: Int
  /// How many buckets from there on may hold the key, as far as the block's header tells.
  var left: Int
  /// What the last bucket said, without the entries that were looked at; at first that the search goes on.
  var answer = Bucket.Answer.unasked
  /// Where that bucket stands.
  var line = UnitOffset(rawValue: 0)
  /// The posting list that the search has come to and that was not read yet; unit 0 for none.
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

// The hot path. Two cache misses for a hit in the base: one bucket, and the record's first line; the rest of the record
// follows in the shadow of the second. Nothing here allocates, retains or copies, and what is rare stands in functions of
// its own: the next lookup begins in the shadow of this one, as far as both fit the processor's window. What is needed
// next is asked for as soon as its place is known: the base's bucket before the tail is searched, the record before it is
// looked up among the dead.

extension Snapshot {
  /// Begins a search for the key with this hash.
  @inline(__always)
  func probe(_ space: KeySpaceID, _ hash: UInt64) -> Probe {
    let blocks = blocks(of: space)
    if !blocks.older.isEmpty { prefetchBucket(space, hash) }
    return Probe(hash, blocks)
  }

  /// The first live record with `key`; `nil` if there is none.
  ///
  /// A straight line for what most lookups are: no tail, and a bucket that holds the key in its first fitting entry or tells
  /// that there is no such key. It keeps nothing for the others, which begin again.
  ///
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check.
  @inline(__always)
  @_lifetime(borrow self)
  func first(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> RecordView? {
    let blocks = blocks(of: space)
    if blocks.isSingle {
      let hash = KeyHash.of(key, seed)
      let place = blocks.newest.line(blocks.newest.home(hash))
      guard var answer = Bucket.search(line(place), at: place, hash) else { throw damagedBucket(place) }
      if answer.hasMatch {
        var list = UnitOffset(rawValue: 0)
        if let record = try match(&answer, place, space, key, &list) { return record }
      } else if !answer.goesOn(hash) {
        return nil
      }
    }
    return try search(space, key)
  }

  /// The same for any key.
  @inline(never)
  @_lifetime(borrow self)
  private func search(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> RecordView? {
    var probe = probe(space, KeyHash.of(key, seed))
    while true {
      if let record = try nextEntry(&probe, space, key) { return record }
      if probe.postings.rawValue == 0 { return nil }
      guard let postings = try takePostings(&probe, key) else { continue }
      var first: UnitOffset?
      _ = try forEachLiveRow(of: postings, prefetches: false) { (row) throws(StoreError) in
        first = row
        return false
      }
      if let first { return try record(first, table: space.table) }
    }
  }

  /// The next live record with `key` that stands in the index itself; `nil` behind the last one, and before a posting list,
  /// whose place is then in `probe`.
  ///
  /// - Parameter inLists: whether `space` is one of lists.
  /// - Throws: as above.
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

  /// Takes the posting list that `probe` has come to, checked once for all of its rows; `nil` if it is that of another key.
  @_lifetime(borrow self)
  func takePostings(_ probe: inout Probe, _ key: RawSpan) throws(StoreError) -> PostingList? {
    let unit = probe.postings
    probe.postings = UnitOffset(rawValue: 0)
    guard let postings = PostingList(try object(unit)) else { throw damagedObject(unit, "posting list") }
    return postings.key.hasSameBytes(as: key) ? postings : nil
  }

  /// The record of the next entry of a bucket whose tag fits; `nil` if that is not a live one with `key`, or a posting list,
  /// which goes to `list`.
  @inline(__always)
  @_lifetime(borrow self)
  private func match(
    _ answer: inout Bucket.Answer, _ place: UnitOffset, _ space: KeySpaceID, _ key: RawSpan, _ list: inout UnitOffset,
    inLists: Bool = false
  ) throws(StoreError) -> RecordView? {
    let unit = Bucket.offset(line(place), answer.takeMatch())
    prefetch(unit)
    if try isDead(unit) { return nil }
    let (object, kind) = try objectAndKind(unit)
    if Int(kind.rawValue) == space.table {
      let record = try RecordView(object, self)
      let own = record.key(space.index)
      return (inLists ? KeyList.contains(key, in: own) : own.hasSameBytes(as: key)) ? record : nil
    }
    guard kind == .postingList else { throw damagedObject(unit, "an index names it, but it is no row") }
    list = unit
    return nil
  }

  /// Asks the next bucket that may hold the key; false if there is none.
  @inline(__always)
  private func advance(_ probe: inout Probe) throws(StoreError) -> Bool {
    if probe.left == 0 || !probe.answer.goesOn(probe.hash) {
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

  /// Asks for the lines of a record: the first two, which is what fits the burst of one miss, and the third.
  @inline(__always)
  func prefetch(_ unit: UnitOffset) {
    mapping.prefetch(unit.byteOffset)
    mapping.prefetch(unit.byteOffset &+ 64)
    mapping.prefetch(unit.byteOffset &+ 128)
  }
}
