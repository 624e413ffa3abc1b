import Bytes

/// A merge of sorted runs of keys: each key once, with the rows of all runs in ascending order.
///
/// The runs are those of blocks, whose rows lie before all others, and those of the transaction.
struct OrderedMerge {
  /// A run that has a next key, as an element of the heap.
  private struct Source: BitwiseCopyable {
    /// The first eight bytes of its key as a number. They decide most comparisons.
    var head: UInt64
    /// Its number: first the blocks from the oldest on, then the runs of the transaction.
    var number: Int
    var keyByteCount: Int
  }

  /// The room for a key in ``keys``.
  private static let keyStride = 256

  private var blocks: [OrderedRun] = []
  private var runs: [KeyRun] = []
  /// A binary heap, with the run of the smallest key first, and of those the one with the smallest number.
  private var heap: [Source] = []
  /// The next key of each run, by its number.
  private var keys: [UInt8] = []
  private(set) var key: [UInt8] = []
  private(set) var rows: [UInt32] = []

  /// Creates a merge.
  ///
  /// - Parameters:
  ///   - blocks: The blocks, the newest first.
  ///   - runs: The runs of the transaction, in the order of their rows.
  init(_ blocks: [OrderedRun], _ runs: [KeyRun] = []) throws(StoreError) {
    self.blocks = blocks.reversed()
    self.runs = runs
    keys = [UInt8](repeating: 0, count: Self.keyStride * (blocks.count + runs.count))
    for number in 0..<blocks.count + runs.count {
      if let source = try advanced(number) { heap.append(source) }
    }
    for position in heap.indices.reversed() { siftDown(position) }
  }

  /// The key of a run.
  @_lifetime(borrow self)
  @inline(__always)
  private func key(_ source: Source) -> RawSpan {
    keys.rawSpan.slice(Self.keyStride * source.number, source.keyByteCount)
  }

  /// Moves a run to its next key. Returns its element of the heap; `nil` at the end of the run.
  private mutating func advanced(_ number: Int) throws(StoreError) -> Source? {
    let start = Self.keyStride * number
    let count: Int
    if number < blocks.count {
      guard try blocks[number].next() else { return nil }
      let key = blocks[number].key
      count = key.count
      keys.put(key.rawSpan, at: start)
    } else {
      guard let length = try runs[number - blocks.count].nextKey(in: &keys, at: start) else { return nil }
      count = length
    }
    var source = Source(head: 0, number: number, keyByteCount: count)
    source.head = key(source).bigEndianHead(at: 0)
    return source
  }

  /// Moves to the next key. Returns whether there is one.
  mutating func next() throws(StoreError) -> Bool {
    guard let first = heap.first else { return false }
    Self.copyKey(first, keys, to: &key)
    rows.removeAll(keepingCapacity: true)
    while let source = heap.first, source.head == first.head, key(source).hasSameBytes(as: key.rawSpan) {
      try takeRows(source.number)
      if let next = try advanced(source.number) {
        heap[0] = next
      } else {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
      }
      siftDown(0)
    }
    return true
  }

  private static func copyKey(_ source: Source, _ keys: [UInt8], to key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    key.append(keys.rawSpan.slice(keyStride * source.number, source.keyByteCount))
  }

  private mutating func takeRows(_ number: Int) throws(StoreError) {
    if number < blocks.count {
      // The rows of a run ascend, and lie before those of the transaction: the run has checked that.
      if let last = rows.last, let next = blocks[number].rows.first, next <= last { throw blocks[number].misplacedRows }
      rows.append(contentsOf: blocks[number].rows)
    } else {
      // The last leaf of a run of fragments may be the first one of the next run too.
      try runs[number - blocks.count].takeRows(&rows)
    }
  }

  // MARK: The heap

  private mutating func siftDown(_ start: Int) {
    var position = start
    while true {
      var smallest = position
      for child in 2 * position + 1..<2 * position + 3
      where child < heap.count && precedes(heap[child], heap[smallest]) { smallest = child }
      if smallest == position { return }
      heap.swapAt(position, smallest)
      position = smallest
    }
  }

  @inline(__always)
  private func precedes(_ a: Source, _ b: Source) -> Bool {
    if a.head != b.head { return a.head < b.head }
    let order = key(a).compare(to: key(b))
    return order == 0 ? a.number < b.number : order < 0
  }
}
