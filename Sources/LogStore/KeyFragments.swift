import Bytes

/// The fragments of the keys of an ordered block, each with the leaves that have it.
///
/// A fragment and a leaf are one number, and all are sorted at the end.
struct KeyFragments {
  /// The fragments, in the order of the leaves. A fragment may come more than once for a leaf.
  ///
  /// - Bits 32–63: the bytes of the fragment, big-endian. A text has no zero bytes, so a zero after three bytes is none.
  /// - Bits 0–31: the number of the leaf, plus one.
  private var pairs: [UInt64] = []

  var isEmpty: Bool { pairs.isEmpty }

  /// Enters the fragments of a text that begin at `first` or later.
  ///
  /// - Precondition: No leaf after this one was entered before.
  mutating func add(_ text: RawSpan, from first: Int, leaf: Int) {
    KeyText.forEachFragment(of: text, from: first) { start, count in
      let three = UInt32(text.u8(at: start)) << 24 | UInt32(text.u16(at: start + 1).byteSwapped) << 8
      let fragment = count == 3 ? three : three | UInt32(text.u8(at: start + 3))
      pairs.append(UInt64(fragment) << 32 | UInt64(leaf + 1))
    }
  }

  /// Calls `body` with each fragment and its leaves, plus one, both in ascending order. The table is empty after that.
  mutating func removeAllInOrder(_ body: (RawSpan, Span<UInt32>) -> Void) {
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
      body(bytes.rawSpan.slice(0, bytes[3] == 0 ? 3 : 4), leaves.span)
    }
  }
}
