/// Reads a log in large pieces, forward.
struct LogWindow {
  private static let byteCount = 4 << 20

  private let log: LogFile
  private let end: Int
  private var window = FileWindow()

  /// - Parameter end: The end of what will be read: no more than that is read ahead.
  init(_ log: LogFile, upTo end: Int) {
    self.log = log
    self.end = end
  }

  /// - Throws: `StoreError.damaged` if the file ends before `count` bytes.
  mutating func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    if let bytes = window.bytes(count, at: offset) { return bytes }
    window = FileWindow(try log.read(max(count, min(Self.byteCount, end - offset)), at: offset), at: offset)
    guard let bytes = window.bytes(count, at: offset) else {
      throw log.damage(window.end, "the file ends inside a commit")
    }
    return bytes
  }

  /// Whether the bytes of `range`, which are few, are zero.
  mutating func isZero(_ range: Range<Int>) throws(StoreError) -> Bool {
    if range.isEmpty { return true }
    let bytes = try read(range.count, at: range.lowerBound)
    return bytes.rawSpan.isZero(from: 0)
  }
}
