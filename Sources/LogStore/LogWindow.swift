/// A piece of a file in memory, moved along as it is read.
struct LogWindow {
  private static let byteCount = 4 << 20

  private let log: LogFile
  private let end: Int
  private var start = 0
  private var bytes: [UInt8] = []

  /// - Parameter end: nothing is read after it but what is asked for. What is to be read is often much less than a window.
  init(_ log: LogFile, upTo end: Int) {
    self.log = log
    self.end = end
  }

  /// - Throws: `StoreError.damaged` if the file ends before `count` bytes.
  mutating func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    if offset < start || offset + count > start + bytes.count {
      bytes = try log.read(max(count, min(Self.byteCount, end - offset)), at: offset)
      start = offset
    }
    guard offset + count <= start + bytes.count else {
      throw log.damage(start + bytes.count, "the file ends inside a commit")
    }
    return bytes.rawSpan.slice(offset - start, count).copied()
  }

  /// Whether the bytes of `range`, which are few, are zero.
  mutating func isZero(_ range: Range<Int>) throws(StoreError) -> Bool {
    if range.isEmpty { return true }
    let bytes = try read(range.count, at: range.lowerBound)
    return bytes.rawSpan.isZero(from: 0)
  }
}
