import Bytes
import RecordFormat

/// A key's hash and the unit offset of a row that has it: what an index is built from.
struct IndexEntry: Sendable {
  var hash: UInt64
  var offset: UInt32
}

extension [IndexEntry] {
  /// Sorts by hash, rows of one hash in the order of the file.
  ///
  /// Distributed by the highest bits first, so that what is left to sort stays inside the cache; there by eight more bits,
  /// which leaves a few entries in each place. Scratch space: one more array of the same size.
  mutating func sortByHash() {
    if count <= Self.fewCount { return sortFew(0..<count) }
    let partitionBits = Swift.min(16, Swift.max(0, Int.bitWidth - 1 - count.leadingZeroBitCount - 9))
    if partitionBits == 0 {
      let unsorted = self
      var starts = [Int](repeating: 0, count: 256 + 1)
      unsorted.distribute(0..<count, to: &self, shift: 64 - 8, &starts)
      for place in 0..<256 { sortFew(starts[place]..<starts[place + 1]) }
      return
    }
    let shift = UInt64(64 - partitionBits)
    var sorted = [IndexEntry](repeating: IndexEntry(hash: 0, offset: 0), count: count)
    var starts = [Int](repeating: 0, count: 1 << partitionBits + 1)
    distribute(0..<count, to: &sorted, shift: shift, &starts)
    // Partition for partition to and fro: the second time into the place where its entries will stay.
    var innerStarts = [Int](repeating: 0, count: 256 + 1)
    for partition in 0..<(starts.count - 1) {
      let range = starts[partition]..<starts[partition + 1]
      sorted.distribute(range, to: &self, shift: shift - 8, &innerStarts)
      for inner in 0..<256 { sortFew(innerStarts[inner]..<innerStarts[inner + 1]) }
    }
  }

  /// Copies the entries of `range` into the same range of `target`, by the bits of their hashes from `shift` on, as many as
  /// `starts` has places for; those of one place in the order in which they stood. `starts` then tells where each begins.
  private func distribute(
    _ range: Range<Int>, to target: inout [IndexEntry], shift: UInt64, _ starts: inout [Int]
  ) {
    let mask = UInt64(starts.count - 2)
    for place in starts.indices { starts[place] = 0 }
    let entries = span
    for index in range { starts[Int(entries[index].hash >> shift & mask)] += 1 }
    // First where each place ends, and the last one's end is the range's; filled from behind, its end becomes its beginning.
    var end = range.lowerBound
    for place in starts.indices {
      end += starts[place]
      starts[place] = end
    }
    for index in range.reversed() {
      let place = Int(entries[index].hash >> shift & mask)
      starts[place] -= 1
      target[starts[place]] = entries[index]
    }
  }

  private static var fewCount: Int { 32 }

  /// Sorts a few entries by insertion; more of them, which many rows of one key make, as any others.
  private mutating func sortFew(_ range: Range<Int>) {
    if range.count < 2 { return }
    if range.count > Self.fewCount { return self[range].sort(by: Self.precedes) }
    for index in (range.lowerBound + 1)..<range.upperBound {
      let entry = self[index]
      var place = index
      while place > range.lowerBound, Self.precedes(entry, self[place - 1]) {
        self[place] = self[place - 1]
        place -= 1
      }
      if place < index { self[place] = entry }
    }
  }

  /// Of sorted entries, leaves one of those that are the same.
  mutating func removeRepeated() {
    var last: IndexEntry?
    removeAll { entry in
      defer { last = entry }
      return entry.hash == last?.hash && entry.offset == last?.offset
    }
  }

  /// These rows and others, sorted as these are, but for those of the others that died.
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
