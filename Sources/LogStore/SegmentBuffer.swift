import Bytes

/// The bytes of a segment that were not written yet.
///
/// Room is made ahead, and a part of it lent to be filled: one check of bounds for all that a row is made of, where
/// appending it piece by piece would take one for each.
///
/// Invariant: the first `count` bytes of `storage` are the segment's; those behind it may be anything.
struct SegmentBuffer {
  private static let firstByteCount = 4096

  private var storage: [UInt8]
  private(set) var count: Int

  /// A buffer of `count` zeros.
  init(zeros count: Int) {
    storage = [UInt8](repeating: 0, count: max(count, Self.firstByteCount))
    self.count = count
  }

  /// The `count` bytes from `offset` on.
  @inline(__always)
  @_lifetime(borrow self)
  func bytes(_ offset: Int, _ count: Int) -> RawSpan {
    precondition(offset &+ count <= self.count, "only what was appended is read")
    return storage.rawSpan.slice(offset, count)
  }

  /// Appends `count` bytes, all of which `fill` has to set.
  @inline(__always)
  mutating func append(_ count: Int, _ fill: (inout MutableRawSpan) -> Void) {
    let start = self.count
    if storage.count - start < count { makeRoom(for: count) }
    self.count = start &+ count
    storage.change(start, count, fill)
  }

  mutating func append(_ bytes: [UInt8]) { append(bytes.count) { $0.put(bytes.rawSpan, at: 0) } }

  mutating func append(zeros count: Int) {
    append(count) { for offset in 0..<count { $0.put(0 as UInt8, at: offset) } }
  }

  /// Puts `bytes` over the first ones.
  mutating func replaceFirst(with bytes: [UInt8]) {
    precondition(bytes.count <= count, "only what was appended is replaced")
    storage.change(0, bytes.count) { $0.put(bytes.rawSpan, at: 0) }
  }

  /// Empties the buffer and keeps its room.
  mutating func removeAll() { count = 0 }

  @inline(never)
  private mutating func makeRoom(for more: Int) {
    let wanted = max(count + more, 2 * storage.count)
    storage.append(contentsOf: repeatElement(0, count: wanted - storage.count))
  }
}
