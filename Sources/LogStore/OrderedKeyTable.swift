import Bytes

/// The keys that the rows of a transaction have in one ordered index.
///
/// Each key is stored once. Its rows are collected as pairs of the key's number and a row, in the order in which rows
/// are put, which is ascending.
struct OrderedKeyTable {
  /// What is known of the rows of one key.
  private struct Rows: BitwiseCopyable {
    var count: UInt32 = 0
    var last: UInt32 = 0
  }

  private var keys: ByteStringTable<Rows>
  /// The number of the key of each pair.
  private var numbers: [UInt32] = []
  /// The row of each pair; once the table is sorted, the rows of each key in the order of the keys.
  private var rows: [UInt32] = []
  /// The numbers of the keys in ascending order of the keys, once the table is sorted.
  private var order: [UInt32] = []

  init(seed: HashSeed) { keys = ByteStringTable(seed: seed) }

  var isEmpty: Bool { rows.isEmpty }
  /// The number of pairs of a key and a row.
  var rowCount: Int { rows.count }
  var keyCount: Int { keys.count }

  /// Whether the table can take the keys of another row: up to 16 MiB of them, in as many pairs.
  var hasRoom: Bool { max(keys.byteCount, rows.count) < Int(UInt32.max) - 1 << 24 }

  /// Enters `row` under `key`. A key that the row already has is ignored.
  ///
  /// - Precondition: No row that lies after this one was entered before; row 0 does not exist.
  @inline(__always)
  mutating func add(_ key: RawSpan, _ row: UInt32) {
    let number = keys.number(of: key, new: Rows())
    let known = keys[number]
    if known.last == row { return }
    keys[number] = Rows(count: known.count &+ 1, last: row)
    numbers.append(UInt32(truncatingIfNeeded: number))
    rows.append(row)
  }

  /// Sorts the keys, and collects the rows of each. Nothing can be added after that.
  mutating func sort() {
    order = sortedNumbers()
    // The end of the rows of each key, by its number. Filling the rows from the last one turns ends into starts.
    var ends = [Int](repeating: 0, count: keys.count)
    var end = 0
    for number in order {
      end += Int(keys[Int(number)].count)
      ends[Int(number)] = end
    }
    var sorted = [UInt32](repeating: 0, count: rows.count)
    for pair in rows.indices.reversed() {
      let number = Int(numbers[pair])
      ends[number] -= 1
      sorted[ends[number]] = rows[pair]
    }
    rows = sorted
    numbers = []
  }

  private func sortedNumbers() -> [UInt32] {
    // The first eight bytes decide most comparisons.
    var heads: [(head: UInt64, number: UInt32)] = []
    heads.reserveCapacity(keys.count)
    var isSorted = true
    for number in 0..<keys.count {
      heads.append((keys.text(number).bigEndianHead, UInt32(number)))
      if isSorted, number > 0, !precedes(heads[number - 1], heads[number]) { isSorted = false }
    }
    if !isSorted { heads.sort(by: precedes) }
    return heads.map(\.number)
  }

  private func precedes(_ a: (head: UInt64, number: UInt32), _ b: (head: UInt64, number: UInt32)) -> Bool {
    if a.head != b.head { return a.head < b.head }
    return keys.text(Int(a.number)).compare(to: keys.text(Int(b.number))) < 0
  }

  /// Calls `body` with each key of a sorted table and its rows, both in ascending order.
  func forEachKeyInOrder(_ body: (RawSpan, Span<UInt32>) -> Void) {
    var first = 0
    for number in order {
      let end = first + Int(keys[Int(number)].count)
      body(keys.text(Int(number)), rows.span.extracting(first..<end))
      first = end
    }
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

extension RawSpan {
  /// The first eight bytes as a big-endian number, padded with zeros. Spans with different heads are in the order of
  /// these.
  fileprivate var bigEndianHead: UInt64 {
    if byteCount >= 8 { return u64(at: 0).byteSwapped }
    var head: UInt64 = 0
    for offset in 0..<byteCount { head |= UInt64(u8(at: offset)) << UInt64(56 - 8 * offset) }
    return head
  }
}
