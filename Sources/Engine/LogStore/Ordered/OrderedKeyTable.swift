import Bytes

/// The keys that the rows of a transaction have in one ordered index.
///
/// Each key is stored once. Its rows are collected as pairs of the key's number and a row, in the order in which rows
/// are put, which is ascending.
struct OrderedKeyTable {
  /// The number of rows of one key, and the last one.
  private struct Rows: BitwiseCopyable {
    var count: UInt32 = 0
    var last: UInt32 = 0
  }

  /// A row that has a key.
  private struct Pair: BitwiseCopyable {
    /// The number of the key.
    var number: UInt32
    var row: UInt32
  }

  /// The number of pairs after which the table decides whether most keys are distinct.
  private static var sampleCount: Int { 1 << 14 }

  private var keys: ByteStringTable<Rows>
  /// Whether a key is looked up among those before it. If nearly every row of the first ones has a key of its own, that
  /// would be the greater part of the work: then the same key may be stored more than once until the table is sorted.
  private var isFindingKeys = true
  /// The pairs, until the table is sorted.
  private var pairs: [Pair] = []
  /// The rows of each key in the order of the keys, once the table is sorted.
  private var rows: [UInt32] = []
  /// The numbers of the keys in ascending order of the keys, once the table is sorted.
  private var order: [UInt32] = []
  /// Whether the sort found a key that was stored more than once.
  private var hasEqualKeys = false

  init(seed: HashSeed) { keys = ByteStringTable(seed: seed) }

  var isEmpty: Bool { keys.count == 0 }
  /// The number of pairs of a key and a row; before the table is sorted, at least that.
  var rowCount: Int { max(pairs.count, rows.count) }
  /// The number of keys; before the table is sorted, at least that.
  var keyCount: Int { order.isEmpty ? keys.count : order.count }

  /// About the number of bytes that the table takes.
  var byteCount: Int { keys.byteCount + 32 * keys.count + 8 * rowCount }

  /// Enters `row` under `key`. A key that the row already has is ignored.
  ///
  /// - Precondition: No row that lies after this one was entered before; row 0 does not exist.
  @inline(__always)
  mutating func add(_ key: RawSpan, _ row: UInt32) {
    let number: Int
    if isFindingKeys {
      // Rows often have the key of the row before: its brand, its time.
      if let last = pairs.last, keys.isText(Int(last.number), key) {
        number = Int(last.number)
      } else {
        number = keys.number(of: key, new: Rows())
      }
      let current = keys[number]
      if current.last == row { return }
      keys[number] = Rows(count: current.count &+ 1, last: row)
    } else {
      number = keys.append(unlisted: key, Rows(count: 1, last: row))
    }
    pairs.append(Pair(number: UInt32(truncatingIfNeeded: number), row: row))
    if pairs.count == Self.sampleCount, keys.count > Self.sampleCount / 10 * 9 { isFindingKeys = false }
  }

  /// Removes all keys, also of a sorted table, and keeps the capacity of the buffers.
  mutating func removeAll() {
    keys.removeAll()
    pairs.removeAll(keepingCapacity: true)
    rows = []
    order = []
    hasEqualKeys = false
  }

  /// Sorts the keys, and collects the rows of each. Nothing can be added after that.
  mutating func sort() {
    sortNumbers()
    // The end of the rows of each key, by its number. Filling the rows from the last one turns ends into starts.
    var ends = [Int](repeating: 0, count: keys.count)
    var end = 0
    for number in order {
      end += Int(keys[Int(number)].count)
      ends[Int(number)] = end
    }
    rows = [UInt32](repeating: 0, count: pairs.count)
    for pair in pairs.reversed() {
      let number = Int(pair.number)
      ends[number] -= 1
      rows[ends[number]] = pair.row
    }
    pairs.removeAll(keepingCapacity: true)
    if hasEqualKeys { joinEqualKeys() }
  }

  /// Makes one key of those that were stored more than once. They follow one another, as do their rows.
  private mutating func joinEqualKeys() {
    var joined: [UInt32] = []
    joined.reserveCapacity(order.count)
    var start = 0
    var end = 0
    for number in order {
      let count = Int(keys[Int(number)].count)
      if let first = joined.last, keys.text(Int(first)).hasSameBytes(as: keys.text(Int(number))) {
        // A row that has the key twice comes twice, one after the other.
        for position in start..<start + count where rows[position] != rows[end - 1] {
          rows[end] = rows[position]
          end += 1
          keys[Int(first)].count += 1
        }
      } else {
        joined.append(number)
        for position in start..<start + count {
          rows[end] = rows[position]
          end += 1
        }
      }
      start += count
    }
    rows.removeLast(rows.count - end)
    order = joined
  }

  /// A key with eight of its bytes.
  private struct Head: BitwiseCopyable {
    var bytes: UInt64
    var number: UInt32
  }

  /// Brings the numbers of the keys into order.
  private mutating func sortNumbers() {
    // The bytes with which all keys begin decide nothing.
    var common = keys.count == 0 ? 0 : keys.text(0).byteCount
    for number in 1..<max(1, keys.count) where common > 0 {
      common = min(common, keys.text(0).commonPrefixByteCount(with: keys.text(number)))
    }
    var heads: [Head] = []
    heads.reserveCapacity(keys.count)
    var isSorted = true
    for number in 0..<keys.count {
      heads.append(Head(bytes: keys.text(number).bigEndianHead(at: common), number: UInt32(number)))
      if isSorted, number > 0 {
        let order = compare(heads[number - 1], heads[number])
        if order == 0 { hasEqualKeys = true }
        isSorted = order <= 0
      }
    }
    if !isSorted { sort(&heads, headsAt: common) }
    order = heads.map(\.number)
  }

  /// The number of keys with the same head from which on these are sorted by their next eight bytes.
  private static var manyKeys: Int { 64 }

  /// Sorts keys of which the bytes before `offset` are the same, and whose heads are the bytes there.
  private mutating func sort(_ heads: inout [Head], headsAt offset: Int) {
    RadixSort.sort(&heads) { $0.bytes }
    var first = 0
    while first < heads.count {
      var end = first + 1
      while end < heads.count, heads[end].bytes == heads[first].bytes { end += 1 }
      if end - first >= Self.manyKeys, offset < OrderedKeys.maximumKeyLength {
        var part = heads[first..<end].map { head in
          Head(bytes: keys.text(Int(head.number)).bigEndianHead(at: offset + 8), number: head.number)
        }
        sort(&part, headsAt: offset + 8)
        heads.replaceSubrange(first..<end, with: part)
      } else if end - first > 1 {
        heads[first..<end].sort {
          let order = compare($0, $1)
          return order != 0 ? order < 0 : $0.number < $1.number
        }
        for index in first + 1..<end where compare(heads[index - 1], heads[index]) == 0 { hasEqualKeys = true }
      }
      first = end
    }
  }

  /// Compares two keys: negative if the first precedes the second, 0 if they are equal.
  private func compare(_ a: Head, _ b: Head) -> Int {
    if a.bytes != b.bytes { return a.bytes < b.bytes ? -1 : 1 }
    return keys.text(Int(a.number)).compare(to: keys.text(Int(b.number)))
  }

  /// Calls `body` with each key of a sorted table and its rows, both in ascending order.
  @inline(__always)
  func forEachKeyInOrder<Failure>(_ body: (RawSpan, Span<UInt32>) throws(Failure) -> Void) throws(Failure) {
    var firstRow = 0
    // The keys are copied together in groups, so that the cache misses of a group overlap.
    var group: [UInt8] = []
    var first = 0
    while first < order.count {
      let end = min(first + 64, order.count)
      group.removeAll(keepingCapacity: true)
      for number in order[first..<end] { group.append(keys.text(Int(number))) }
      var start = 0
      for number in order[first..<end] {
        let count = keys.text(Int(number)).byteCount
        let lastRow = firstRow + Int(keys[Int(number)].count)
        try body(group.rawSpan.slice(start, count), rows.span.extracting(firstRow..<lastRow))
        start += count
        firstRow = lastRow
      }
      first = end
    }
  }

  /// The keys of a sorted table as a run.
  var run: KeyRunWriter {
    var run = KeyRunWriter()
    forEachKeyInOrder { run.append($0, $1) }
    return run
  }

  /// Replaces `key` and `rows` by those of the key at `position` in the order of a sorted table, whose rows begin at
  /// `first`, which is moved to the rows of the next key.
  func read(_ position: Int, _ first: inout Int, _ key: inout [UInt8], _ rows: inout [UInt32]) {
    let number = Int(order[position])
    key.removeAll(keepingCapacity: true)
    key.append(keys.text(number))
    let end = first + Int(keys[number].count)
    rows.removeAll(keepingCapacity: true)
    rows.append(contentsOf: self.rows[first..<end])
    first = end
  }
}
