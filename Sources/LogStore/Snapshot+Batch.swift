import Bytes
import RecordFormat

extension Snapshot {
  /// Keys whose lines are on their way at the same time: more than the processor has buffers for does not help.
  private static let groupCount = 16

  /// Calls `body` with each live record of each key, and with the number of the key.
  ///
  /// Keys come in their order, the records of one key newest block first, as in ``forEachRecord(_:_:_:)``. In a key space
  /// of lists a record is found by each of its keys.
  ///
  /// - Parameters:
  ///   - space: where the keys are looked up.
  ///   - keys: in any order; one that comes twice is looked up twice.
  ///   - body: may use the record only while it runs.
  /// - Throws: `StoreError.damaged` if something on the way does not pass its check; what `body` throws.
  /// - Complexity: as one lookup for each key; what they wait for overlaps in groups of sixteen.
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

  /// Asks for what lookups of `keys` will read of the base, so that they need not wait for it. Reads no record, and checks
  /// nothing: a hint. Complexity: some instructions a key; what it waits for overlaps.
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

  /// Asks for the bucket of the base in which a key with this hash belongs.
  @inline(__always)
  func prefetchBucket(_ space: KeySpaceID, _ hash: UInt64) {
    let base = base(space)
    mapping.prefetch(base.line(base.home(hash)).byteOffset)
  }

  /// The block of the base, which is the oldest.
  @inline(__always)
  private func base(_ space: KeySpaceID) -> IndexBlock {
    let blocks = blocks(of: space)
    return blocks.older.last.map { self.blocks[$0] } ?? blocks.newest
  }

  /// Asks for the records that the first bucket of the base names for this hash. Nothing is checked yet: a wrong place
  /// would be asked for in vain.
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
