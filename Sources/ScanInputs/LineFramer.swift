/// Cuts bytes that come in pieces of any size into lines.
///
/// A line ends with one of ``LineFormat/ends``, also where a piece ends in the middle of an end. As a blank line is not a
/// reading, a carriage return and a line feed that are both ends make one end together. Every other byte belongs to the line,
/// control characters too: GS1 separates elements by one.
///
/// Memory: the bytes of one line, at most ``LineFormat/maximumByteCount`` and one. Of a line that is longer nothing is kept.
struct LineFramer {
  /// What became of a line.
  enum Line: Equatable, Sendable {
    case text(String)
    /// The bytes are not text in the input's encoding.
    case bytes([UInt8])
    case fault(InputFault)
  }

  private let limit: Int
  private let encoding: TextEncoding
  /// The longest first.
  private let ends: [[UInt8]]
  private let affixes: Affixes

  /// A line that has begun and not ended.
  struct Beginning: Equatable, Sendable {
    fileprivate var bytes: [UInt8] = []
    /// Whether the bytes up to the next end belong to a line that has been refused.
    fileprivate var skips = false
    /// Whether the byte before was a carriage return that ended a line. If both are an end together, a line feed belongs to it.
    fileprivate var followsReturn = false
  }

  /// - Parameter beginning: The beginning of the first line, if another framer took its bytes.
  init(_ format: LineFormat, after beginning: Beginning = Beginning()) {
    limit = max(1, format.maximumByteCount)
    encoding = format.encoding
    ends = format.ends.map(\.bytes).sorted { $0.count > $1.count }
    affixes = Affixes(format)
    self.beginning = beginning
  }

  /// The line that has begun, for the framer that takes its other bytes.
  private(set) var beginning: Beginning

  /// Whether a line has begun.
  var isInsideLine: Bool { beginning.skips || !beginning.bytes.isEmpty }

  /// The bytes that an end has at most.
  private var longestEnd: Int { ends.first?.count ?? 1 }

  /// Takes more bytes. What they complete is appended to `lines`, at most one for each two bytes and one more.
  mutating func append(_ bytes: some Sequence<UInt8>, to lines: inout [Line]) {
    for byte in bytes {
      let isRest = beginning.followsReturn && byte == UInt8(ascii: "\n")
      beginning.followsReturn = false
      if isRest { continue }
      beginning.bytes.append(byte)
      if let end = ends.first(where: { beginning.bytes.ends(with: $0) }) {
        beginning.bytes.removeLast(end.count)
        finish(&lines)
        beginning.followsReturn = end == LineEnd.carriageReturn.bytes && longestEnd > 1
      } else if !beginning.skips, beginning.bytes.count >= limit + longestEnd {
        lines.append(.fault(.tooLong(limit: limit)))
        beginning.skips = true
      }
      // Of a line that is dropped, only what may begin an end counts.
      if beginning.skips { beginning.bytes.removeFirst(max(0, beginning.bytes.count - longestEnd + 1)) }
    }
  }

  /// Ends the line that has begun, if one has: there are no more bytes, or none came for long.
  mutating func finish(_ lines: inout [Line]) {
    let (bytes, isDropped) = (beginning.bytes, beginning.skips)
    beginning.bytes.removeAll(keepingCapacity: true)
    beginning.skips = false
    if isDropped || bytes.isEmpty { return }
    guard bytes.count <= limit else { return lines.append(.fault(.tooLong(limit: limit))) }
    guard let text = encoding.text(bytes) else { return lines.append(.bytes(bytes)) }
    let code = affixes.removed(from: text)
    // Blanks alone are nothing that a reader read.
    if !code.utf8.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { lines.append(.text(code)) }
  }

  /// Forgets the line that has begun, or begins now, up to its end.
  mutating func discardLine() {
    beginning.bytes.removeAll(keepingCapacity: true)
    beginning.skips = true
  }
}

extension [UInt8] {
  fileprivate func ends(with end: [UInt8]) -> Bool {
    count >= end.count && zip(self[(count - end.count)...], end).allSatisfy { $0 == $1 }
  }
}

/// What a reader puts around a code.
struct Affixes: Sendable {
  private let prefix: [UInt8]
  private let suffix: [UInt8]

  /// Ends of lines before the prefix and after the suffix do not count: lines are cut there.
  init(_ format: LineFormat) {
    let ends = format.ends.map(\.bytes)
    var (prefix, suffix) = (Array(format.prefix.utf8), Array(format.suffix.utf8))
    while let end = ends.first(where: { prefix.starts(with: $0) }) { prefix.removeFirst(end.count) }
    while let end = ends.first(where: { suffix.ends(with: $0) }) { suffix.removeLast(end.count) }
    (self.prefix, self.suffix) = (prefix, suffix)
  }

  /// The text without prefix and suffix; each is removed if it is there.
  func removed(from text: String) -> String {
    guard !prefix.isEmpty || !suffix.isEmpty else { return text }
    var bytes = Array(text.utf8)[...]
    if bytes.starts(with: prefix) { bytes = bytes.dropFirst(prefix.count) }
    if bytes.reversed().starts(with: suffix.reversed()) { bytes = bytes.dropLast(suffix.count) }
    // Whole characters are gone from either end: what is left of a text is one.
    return String(decoding: bytes, as: UTF8.self)
  }
}
