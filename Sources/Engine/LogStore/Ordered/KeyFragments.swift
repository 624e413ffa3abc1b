import Bytes

/// The fragments of the keys of an ordered block, each with the leaves that have it.
///
/// A fragment and a leaf are one number. Many of them are sorted and written to a temporary file as a run, and the runs
/// are merged at the end.
struct KeyFragments {
  /// The fragments, in the order of the leaves. A fragment may come more than once for a leaf.
  ///
  /// - Bits 32–63: the bytes of the fragment, big-endian. A text has no zero bytes, so a zero after three bytes is
  ///   none.
  /// - Bits 0–31: the number of the leaf, plus one.
  private var pairs: [UInt64] = []
  private var spilled: SpilledRuns

  init(_ space: SpillSpace) { spilled = SpilledRuns(space) }

  var isEmpty: Bool { pairs.isEmpty && spilled.isEmpty }

  /// Enters the fragments of a text that begin at `first` or later.
  ///
  /// - Precondition: No leaf after this one was entered before.
  /// - Throws: `StoreError.io`, including for a full device.
  mutating func add(_ text: RawSpan, from first: Int, leaf: Int) throws(StoreError) {
    KeyText.forEachFragment(of: text, from: first) { start, count in
      let three = UInt32(text.u8(at: start)) << 24 | UInt32(text.u16(at: start + 1).byteSwapped) << 8
      let fragment = count == 3 ? three : three | UInt32(text.u8(at: start + 3))
      pairs.append(UInt64(fragment) << 32 | UInt64(leaf + 1))
    }
    if 8 * pairs.count >= spilled.byteLimit { try spill() }
  }

  private mutating func spill() throws(StoreError) {
    var run = KeyRunWriter()
    takePairsInOrder { run.append($0, $1) }
    try spilled.append(run)
  }

  /// Calls `body` with each fragment and its leaves, plus one, both in ascending order. Nothing is left after that.
  ///
  /// - Throws: `StoreError.io`, including for a full device; any error of `body`.
  mutating func removeAllInOrder(_ body: (RawSpan, Span<UInt32>) throws(StoreError) -> Void) throws(StoreError) {
    if spilled.isEmpty { return try takePairsInOrder(body) }
    if !pairs.isEmpty { try spill() }
    var merge = try OrderedMerge([], spilled.runs)
    while try merge.next() { try body(merge.key.rawSpan, merge.rows.span) }
  }

  /// Calls `body` with each fragment in memory and its leaves, and removes these.
  @inline(__always)
  private mutating func takePairsInOrder<Failure>(
    _ body: (RawSpan, Span<UInt32>) throws(Failure) -> Void
  ) throws(Failure) {
    // The leaves ascend already, and the sort keeps the order of equal fragments.
    RadixSort.sort(&pairs) { $0 >> 32 }
    let all = pairs
    pairs = []
    let sorted = all.span
    var bytes: [UInt8] = [0, 0, 0, 0]
    var leaves: [UInt32] = []
    var index = 0
    while index < sorted.count {
      let fragment = UInt32(truncatingIfNeeded: sorted[index] >> 32)
      leaves.removeAll(keepingCapacity: true)
      var last: UInt32 = 0
      while index < sorted.count, UInt32(truncatingIfNeeded: sorted[index] >> 32) == fragment {
        let leaf = UInt32(truncatingIfNeeded: sorted[index])
        if leaf != last { leaves.append(leaf) }
        last = leaf
        index &+= 1
      }
      bytes.store(fragment.byteSwapped, at: 0)
      try body(bytes.rawSpan.slice(0, bytes[3] == 0 ? 3 : 4), leaves.span)
    }
  }
}
