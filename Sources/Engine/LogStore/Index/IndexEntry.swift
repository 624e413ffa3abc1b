import Bytes
import RecordFormat

/// An entry of an index under construction: a key's hash and the unit offset of a row that has the key.
struct IndexEntry: Sendable {
  var hash: UInt64
  var offset: UInt32
}

extension [IndexEntry] {
  /// Sorts by hash; entries with the same hash are sorted by offset.
  ///
  /// A radix sort: entries are first distributed by the highest bits in which they differ, so that each partition fits
  /// the cache, and then by eight more bits, which leaves a few entries in each bin. It uses scratch space for one more
  /// array of the same size.
  ///
  /// `RadixSort` is another one, for numbers that differ in few bytes. Hashes differ in all eight, for each of which it
  /// would pass over all entries; here two passes are enough.
  mutating func sortByHash() {
    if count <= Self.fewCount { return sortBin(0..<count) }
    var varying: UInt64 = 0
    for entry in self { varying |= entry.hash ^ self[0].hash }
    if varying == 0 { return sortBin(0..<count) }
    let highest = UInt64(64 - varying.leadingZeroBitCount)
    let partitionBits = Swift.min(16, Swift.max(0, Int.bitWidth - 1 - count.leadingZeroBitCount - 9))
    if partitionBits == 0 {
      let unsorted = self
      var starts = [Int](repeating: 0, count: 256 + 1)
      unsorted.distribute(0..<count, to: &self, shift: Swift.max(highest, 8) - 8, &starts)
      for bin in 0..<256 { sortBin(starts[bin]..<starts[bin + 1]) }
      return
    }
    // Each of the two steps takes bits that are there.
    let shift = Swift.max(highest, UInt64(partitionBits + 8)) - UInt64(partitionBits)
    var sorted = [IndexEntry](repeating: IndexEntry(hash: 0, offset: 0), count: count)
    var starts = [Int](repeating: 0, count: 1 << partitionBits + 1)
    distribute(0..<count, to: &sorted, shift: shift, &starts)
    // Each partition is distributed back into `self`, into its final range.
    var innerStarts = [Int](repeating: 0, count: 256 + 1)
    for partition in 0..<(starts.count - 1) {
      let range = starts[partition]..<starts[partition + 1]
      sorted.distribute(range, to: &self, shift: shift - 8, &innerStarts)
      for inner in 0..<256 { sortBin(innerStarts[inner]..<innerStarts[inner + 1]) }
    }
  }

  /// Copies the entries of `range` into the same range of `target`, grouped into bins by the bits of their hashes from
  /// `shift` on. There are `starts.count - 1` bins. The order within a bin is preserved. On return, `starts` contains
  /// the start of each bin.
  private func distribute(
    _ range: Range<Int>, to target: inout [IndexEntry], shift: UInt64, _ starts: inout [Int]
  ) {
    let mask = UInt64(starts.count - 2)
    for bin in starts.indices { starts[bin] = 0 }
    let entries = span
    for index in range { starts[Int(entries[index].hash >> shift & mask)] += 1 }
    // `starts` first holds the end of each bin, and its last element the end of the range. Filling the bins from the
    // back turns each end into the start.
    var end = range.lowerBound
    for bin in starts.indices {
      end += starts[bin]
      starts[bin] = end
    }
    for index in range.reversed() {
      let bin = Int(entries[index].hash >> shift & mask)
      starts[bin] -= 1
      target[starts[bin]] = entries[index]
    }
  }

  private static var fewCount: Int { 32 }

  /// Sorts a short range by insertion. A longer range, which many rows with one key cause, is sorted by the standard
  /// library.
  private mutating func sortBin(_ range: Range<Int>) {
    if range.count < 2 { return }
    if range.count > Self.fewCount { return self[range].sort(by: Self.precedes) }
    for index in (range.lowerBound + 1)..<range.upperBound {
      let entry = self[index]
      var position = index
      while position > range.lowerBound, Self.precedes(entry, self[position - 1]) {
        self[position] = self[position - 1]
        position -= 1
      }
      if position < index { self[position] = entry }
    }
  }

  /// Removes duplicates from sorted entries.
  mutating func removeRepeated() {
    var last: IndexEntry?
    removeAll { entry in
      defer { last = entry }
      return entry.hash == last?.hash && entry.offset == last?.offset
    }
  }

  /// Returns the merged entries of this sorted array and `others`, without the entries of `others` that are in `dead`.
  func merged(with others: [IndexEntry], except dead: UnitSet) -> [IndexEntry] {
    var merged: [IndexEntry] = []
    merged.reserveCapacity(count + others.count)
    let entries = span
    var own = 0
    for other in others where !dead.contains(other.offset) {
      while own < entries.count, Self.precedes(entries[own], other) {
        merged.append(entries[own])
        own &+= 1
      }
      merged.append(other)
    }
    merged.append(contentsOf: self[own...])
    return merged
  }

  private static func precedes(_ a: IndexEntry, _ b: IndexEntry) -> Bool {
    a.hash != b.hash ? a.hash < b.hash : a.offset < b.offset
  }
}
