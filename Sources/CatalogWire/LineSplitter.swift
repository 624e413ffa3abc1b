/// Cuts text that arrives in chunks into lines, which end with a line feed.
///
/// Memory: the beginning of one line that a chunk cut.
struct LineSplitter: ~Copyable {
  /// Where a line is.
  enum Line {
    /// In the chunk.
    case inChunk(Range<Int>)
    /// Cut by a chunk: ``LineSplitter/takeCutLine()`` has all of it.
    case cut
  }

  private let lineByteCount: Int
  private var cutLine: [UInt8] = []
  /// Lines that were begun.
  private(set) var lineCount = 0

  init(lineByteCount: Int) { self.lineByteCount = lineByteCount }

  /// The next line of `chunk`, from `start` on, which moves past it; `nil` if the chunk ends before the line does.
  ///
  /// - Throws: ``WireError/lineTooLong(limit:line:)``.
  mutating func next(in chunk: Span<UInt8>, from start: inout Int) throws(WireError) -> Line? {
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

  /// Whether the text ended with a line without a line feed: ``takeCutLine()`` then has it.
  mutating func finish() -> Bool {
    if cutLine.isEmpty { return false }
    lineCount += 1
    return true
  }

  /// The bytes of the line that was cut.
  mutating func takeCutLine() -> [UInt8] {
    var line: [UInt8] = []
    swap(&line, &cutLine)
    return line
  }

  /// Gives the memory of a line back, for the next one that is cut.
  mutating func reuse(_ line: consuming [UInt8]) {
    line.removeAll(keepingCapacity: true)
    cutLine = line
  }

  /// Whether a line has nothing but white space.
  static func isBlank(_ line: Span<UInt8>) -> Bool {
    for index in line.indices {
      guard line[index] == 0x20 || line[index] == 0x09 || line[index] == 0x0D else { return false }
    }
    return true
  }
}
