import Bytes

/// The bytes of a segment that are not yet written.
///
/// Space for a complete row is reserved first and then filled, so a row needs one bounds check. Appending it in parts
/// would need one for each part.
///
/// Invariant: the first `count` bytes of `storage` belong to the segment; the bytes after them are undefined.
struct SegmentBuffer {
  private static let firstByteCount = 4096
  /// The largest number of bytes by which the buffer grows at once, unless more are needed; a smaller one doubles. All
  /// of them are set, so they count as memory of the process.
  private static let largestStep = 1 << 20

  private var storage: [UInt8]
  private(set) var count: Int

  /// The number of bytes that the buffer takes.
  var capacity: Int { storage.count }

  /// A buffer of `count` zeros.
  init(zeros count: Int) {
    storage = [UInt8](repeating: 0, count: max(count, Self.firstByteCount))
    self.count = count
  }

  /// Returns the `count` bytes from `offset` on.
  @inline(__always)
  @_lifetime(borrow self)
  func bytes(_ offset: Int, _ count: Int) -> RawSpan {
    precondition(offset &+ count <= self.count, "only what was appended is read")
    return storage.rawSpan.slice(offset, count)
  }

  /// Appends `count` bytes. `fill` must set all of them.
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

  /// Overwrites the first bytes with `bytes`.
  mutating func replaceFirst(with bytes: [UInt8]) {
    precondition(bytes.count <= count, "only what was appended is replaced")
    storage.change(0, bytes.count) { $0.put(bytes.rawSpan, at: 0) }
  }

  /// Empties the buffer and keeps its capacity.
  mutating func removeAll() { count = 0 }

  @inline(never)
  private mutating func makeRoom(for more: Int) {
    let capacity = max(count + more, storage.count + min(storage.count, Self.largestStep))
    storage.appendZeros(capacity - storage.count)
  }
}
