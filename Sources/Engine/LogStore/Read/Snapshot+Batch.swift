import Bytes
import RecordFormat

extension Snapshot {
  /// The number of keys whose cache lines are prefetched together. More than the processor has line-fill buffers for
  /// does not help.
  private static let groupCount = 16

  /// Calls `body` with each live record of each key and the index of the key.
  ///
  /// Keys are looked up in order. The records of one key come in the order of ``forEachRecord(_:_:_:)``: newest block
  /// first. In a key space of lists, a record is found by each of its keys.
  ///
  /// - Parameters:
  ///   - space: The key space to search.
  ///   - keys: The keys to look up, in any order. A key that occurs twice is looked up twice.
  ///   - body: A closure that may use the record only during the call.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check; any error that `body`
  ///   throws.
  /// - Complexity: One lookup for each key; their cache misses overlap in groups of sixteen.
  public func forEachRecord(
    _ space: KeySpaceID, of keys: KeyBatch,
    _ body: (Int, borrowing RecordView) throws(StoreError) -> Void
  ) throws(StoreError) {
    let inLists = isList(space)
    var first = 0
    while first < keys.count {
      let count = min(Self.groupCount, keys.count - first)
      var hashes = InlineArray<16, UInt64>(repeating: 0)
      for index in 0..<count {
        let hash = KeyHash.of(keys.key(first + index), seed)
        hashes[index] = hash
        prefetchBucket(space, hash)
      }
      for index in 0..<count { prefetchRecords(space, hashes[index]) }
      for index in 0..<count {
        var probe = probe(space, hashes[index])
        try forEachRecord(&probe, space, keys.key(first + index), inLists: inLists) { (record) throws(StoreError) in
          try body(first + index, record)
          return true
        }
      }
      first += count
    }
  }

  /// Prefetches the parts of the base that lookups of `keys` will read. This is a hint: it reads no record and checks
  /// nothing.
  ///
  /// - Complexity: A few instructions for each key, with overlapping cache misses.
  func prefetch(_ space: KeySpaceID, _ keys: KeyBatch) {
    var hashes: [UInt64] = []
    hashes.reserveCapacity(keys.count)
    for index in 0..<keys.count {
      let hash = KeyHash.of(keys.key(index), seed)
      hashes.append(hash)
      prefetchBucket(space, hash)
    }
    for hash in hashes { prefetchRecords(space, hash) }
  }

  /// Prefetches the home bucket, in the base, of a key with this hash.
  @inline(__always)
  func prefetchBucket(_ space: KeySpaceID, _ hash: UInt64) {
    let base = base(space)
    mapping.prefetch(base.line(base.home(hash)).byteOffset)
  }

  /// The block of the base, which is the oldest block.
  @inline(__always)
  private func base(_ space: KeySpaceID) -> IndexBlock {
    let blocks = blocks(of: space)
    return blocks.older.last.map { self.blocks[$0] } ?? blocks.newest
  }

  /// Prefetches the records to which the home bucket in the base refers for this hash. The bucket is not checked: a
  /// wrong offset only causes a useless prefetch.
  @inline(__always)
  private func prefetchRecords(_ space: KeySpaceID, _ hash: UInt64) {
    let base = base(space)
    if base.bucketCount == 0 { return }
    let line = line(base.line(base.home(hash)))
    let count = UInt32(truncatingIfNeeded: min(Bucket.count(line.u32(at: 4)), Bucket.indexCapacity))
    var matches = Bucket.matches(line, Bucket.tag(hash)) & (1 &<< count &- 1)
    while matches != 0 {
      let entry = matches.trailingZeroBitCount
      matches &= matches &- 1
      prefetch(Bucket.offset(line, entry))
    }
  }
}
