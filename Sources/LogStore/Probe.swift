import RecordFormat

/// How far the search for one key has come: block by block, bucket by bucket, entry by entry.
struct Probe {
  let hash: UInt64
  /// The blocks that were not asked yet, newest first, as positions in ``Snapshot/blocks``.
  var blocks: Range<Int>
  /// The bucket that is being asked, counted in its block.
  var bucket = 0
  /// Where that bucket stands in the file.
  var line = 0
  /// Buckets behind it that may hold the key as well.
  var left = 0
  /// Entries of the bucket whose tag fits and that were not looked at yet, a bit each.
  var matches: UInt32 = 0
  /// The posting list that is being read, and its next row; unit 0 for none.
  var postings = UnitOffset(rawValue: 0)
  var nextPosting = 0

  @inline(__always)
  init(_ hash: UInt64, _ blocks: Range<Int>) {
    self.hash = hash
    self.blocks = blocks
  }
}

// The hot path. Two cache misses for a hit in the base: one bucket, and the record's first line; the rest of the record
// follows in the shadow of the second. Nothing here allocates, retains or copies. What is needed next is asked for as
// soon as its place is known: the base's bucket before the tail is searched, the record before it is looked up among
// the dead.

extension Snapshot {
  /// Begins a search for the key with this hash.
  @inline(__always)
  func probe(_ space: KeySpaceID, _ hash: UInt64) -> Probe {
    let blocks = blockRange(space)
    if let base = blocks.last {
      let block = self.blocks[base]
      mapping.prefetch(block.buckets &+ Bucket.home(hash, bucketCount: block.bucketCount) &* Bucket.byteCount)
    }
    return Probe(hash, blocks)
  }

  /// The next live record with `key`, for which `probe` was begun; `nil` behind the last one.
  ///
  /// - Parameter inLists: whether `space` is one of lists.
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check.
  @inline(__always)
  @_lifetime(borrow self)
  func next(
    _ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan, inLists: Bool = false
  ) throws(StoreError) -> RecordView? {
    search: while true {
      if probe.postings.rawValue != 0, let record = try nextPosting(&probe, space, key) { return record }
      while probe.matches != 0 {
        let entry = probe.matches.trailingZeroBitCount
        probe.matches &= probe.matches &- 1
        let line = mapped(probe.line, Bucket.byteCount)
        let unit = UnitOffset(rawValue: line.u32(at: Bucket.indexOffsets &+ 4 &* entry))
        prefetch(unit)
        if try isDead(unit) { continue }
        let object = try self.object(unit)
        let kind = ObjectHeader.kind(object.u32(at: 4))
        if kind == .postingList {
          probe.postings = unit
          probe.nextPosting = 0
          continue search
        }
        guard kind.table == space.table else { throw damagedObject(unit, "an index names it, but it is no row") }
        let record = try RecordView(object, unit, self)
        let own = record.key(space.index)
        if inLists ? KeyList.contains(key, in: own) : own.hasSameBytes(as: key) { return record }
      }
      if try !advance(&probe) { return nil }
    }
  }

  /// Goes on to the next bucket that may hold the key; false if there is none.
  @inline(__always)
  private func advance(_ probe: inout Probe) throws(StoreError) -> Bool {
    let block: IndexBlock
    if probe.left > 0 {
      block = blocks[probe.blocks.lowerBound &- 1]
      probe.left &-= 1
      probe.bucket &+= 1
      if probe.bucket == Int(block.bucketCount) { probe.bucket = 0 }
    } else {
      if probe.blocks.isEmpty { return false }
      block = blocks[probe.blocks.lowerBound]
      probe.blocks = (probe.blocks.lowerBound + 1)..<probe.blocks.upperBound
      probe.left = block.longestDisplacement
      probe.bucket = Bucket.home(probe.hash, bucketCount: block.bucketCount)
    }
    let line = try bucket(block, probe.bucket)
    let word = line.u32(at: 4)
    let count = Bucket.count(word)
    guard count <= Bucket.indexCapacity else { throw damagedBucket(block, probe.bucket) }
    probe.line = block.buckets &+ probe.bucket &* Bucket.byteCount
    probe.matches = Bucket.matches(line, Bucket.tag(probe.hash)) & (1 &<< UInt32(truncatingIfNeeded: count) &- 1)
    if word & Bucket.filterBit(probe.hash) == 0 { probe.left = 0 }
    return true
  }

  /// The next live row of the posting list that is being read, if the list is that of `key`.
  @inline(never)
  @_lifetime(borrow self)
  private func nextPosting(
    _ probe: inout Probe, _ space: KeySpaceID, _ key: RawSpan
  ) throws(StoreError) -> RecordView? {
    let unit = probe.postings
    guard let postings = PostingList(try object(unit)) else { throw damagedObject(unit, "posting list") }
    if postings.key.hasSameBytes(as: key) {
      while probe.nextPosting < postings.count {
        let row = postings.offset(probe.nextPosting)
        probe.nextPosting += 1
        if try !isDead(row) { return try record(row, table: space.table) }
      }
    }
    probe.postings = UnitOffset(rawValue: 0)
    return nil
  }

  /// Asks for the lines of a record: the first two, which is what fits the burst of one miss, and the third.
  @inline(__always)
  func prefetch(_ unit: UnitOffset) {
    mapping.prefetch(unit.byteOffset)
    mapping.prefetch(unit.byteOffset &+ 64)
    mapping.prefetch(unit.byteOffset &+ 128)
  }
}
