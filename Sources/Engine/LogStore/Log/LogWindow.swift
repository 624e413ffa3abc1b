/// A sequential reader of a log that reads ahead in large chunks.
struct LogWindow {
  private static let byteCount = 4 << 20

  private let log: LogFile
  private let end: Int
  private var window = FileWindow()

  /// Creates a reader.
  ///
  /// - Parameter end: The end of the range to read. Nothing after it is read ahead.
  init(_ log: LogFile, upTo end: Int) {
    self.log = log
    self.end = end
  }

  /// Returns the `count` bytes at `offset`.
  ///
  /// - Throws: `StoreError.damaged` if the file ends before `count` bytes.
  mutating func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    if let bytes = window.bytes(count, at: offset) { return bytes }
    window = FileWindow(try log.read(max(count, min(Self.byteCount, end - offset)), at: offset), at: offset)
    guard let bytes = window.bytes(count, at: offset) else {
      throw log.damage(window.end, "the file ends inside a commit")
    }
    return bytes
  }

  /// Returns whether the bytes of `range`, which is short, are all zero.
  mutating func isZero(_ range: Range<Int>) throws(StoreError) -> Bool {
    if range.isEmpty { return true }
    let bytes = try read(range.count, at: range.lowerBound)
    return bytes.rawSpan.isZero(from: 0)
  }
}
