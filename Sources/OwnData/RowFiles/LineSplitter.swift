import ServerAnswers

/// A splitter of text that arrives in chunks into lines, which end with a line feed.
///
/// Memory: the beginning of one line that continues in the next chunk.
struct LineSplitter: ~Copyable {
  /// The location of a line.
  enum Line {
    /// The line is in the chunk.
    case inChunk(Range<Int>)
    /// The line is split across chunks; ``LineSplitter/takeCutLine()`` returns all of it.
    case cut
  }

  private let lineByteCount: Int
  private var cutLine: [UInt8] = []
  /// The number of lines that were begun.
  private(set) var lineCount = 0

  init(lineByteCount: Int) { self.lineByteCount = lineByteCount }

  /// Returns the next line of `chunk`, and moves `start` past it; `nil` if the chunk ends before the line does.
  ///
  /// - Throws: ``RowFileError/lineTooLong(limit:line:)``.
  mutating func next(in chunk: Span<UInt8>, from start: inout Int) throws(RowFileError) -> Line? {
    if start == chunk.count { return nil }
    var stop = start
    while stop < chunk.count, chunk[stop] != 0x0A { stop += 1 }
    guard cutLine.count + stop - start <= lineByteCount else {
      throw .lineTooLong(limit: lineByteCount, line: lineCount + 1)
    }
    let range = start..<stop
    start = min(stop + 1, chunk.count)
    if stop == chunk.count {
      cutLine.append(copying: chunk.extracting(range))
      return nil
    }
    lineCount += 1
    if cutLine.isEmpty { return .inChunk(range) }
    cutLine.append(copying: chunk.extracting(range))
    return .cut
  }

  /// Returns whether the text ended with a line without a line feed, which ``takeCutLine()`` then returns.
  mutating func finish() -> Bool {
    if cutLine.isEmpty { return false }
    lineCount += 1
    return true
  }

  /// Returns the bytes of the line that was split across chunks.
  mutating func takeCutLine() -> [UInt8] {
    var line: [UInt8] = []
    swap(&line, &cutLine)
    return line
  }

  /// Returns the memory of a line for reuse by the next split line.
  mutating func reuse(_ line: consuming [UInt8]) {
    line.removeAll(keepingCapacity: true)
    cutLine = line
  }

  /// Whether a line contains only white space.
  static func isBlank(_ line: Span<UInt8>) -> Bool {
    for index in line.indices {
      guard line[index] == 0x20 || line[index] == 0x09 || line[index] == 0x0D else { return false }
    }
    return true
  }
}
