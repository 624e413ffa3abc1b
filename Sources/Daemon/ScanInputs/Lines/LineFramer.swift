/// Splits a stream of bytes into lines.
///
/// A line ends with one of ``LineFormat/ends``, even if the line end is split between two calls. Because a blank line
/// is not a reading, a carriage return and a line feed that are both line ends act as one. Every other byte belongs to
/// the line, including control characters: GS1 uses one as a separator.
///
/// Memory: the bytes of one line, at most ``LineFormat/maximumByteCount`` plus one. Nothing is kept of a longer line.
struct LineFramer {
  /// The result of a line.
  enum Line: Equatable, Sendable {
    case text(String)
    /// The text of a line that has no end, because its connection or its file ended. It may be cut off.
    case unended(String)
    /// The bytes are not valid text in the input's encoding.
    case bytes([UInt8])
    /// Keys of a keyboard stand for no character.
    case keys(TypedLine)
    case fault(InputFault)
  }

  private let limit: Int
  private let encoding: TextEncoding
  /// The line ends, longest first.
  private let ends: [[UInt8]]
  private let affixes: Affixes

  /// The state of an incomplete line.
  struct Beginning: Equatable, Sendable {
    fileprivate var bytes: [UInt8] = []
    /// Whether to skip the bytes up to the next line end, because the line was refused.
    fileprivate var skips = false
    /// Whether the previous byte was a carriage return that ended a line. If CRLF is a line end too, a line feed then
    /// belongs to it.
    fileprivate var followsReturn = false
  }

  /// Creates a framer.
  ///
  /// - Parameter beginning: An incomplete line from another framer, to continue.
  init(_ format: LineFormat, after beginning: Beginning = Beginning()) {
    limit = max(1, format.maximumByteCount)
    encoding = format.encoding
    ends = format.ends.map(\.bytes).sorted { $0.count > $1.count }
    affixes = Affixes(format)
    self.beginning = beginning
  }

  /// The incomplete line, for a framer that continues it.
  private(set) var beginning: Beginning

  /// Whether a line has begun.
  var isInsideLine: Bool { beginning.skips || !beginning.bytes.isEmpty }

  /// Whether the rest of the line is skipped, because the line was refused.
  var isSkipping: Bool { beginning.skips }

  /// The length of the longest line end, in bytes.
  private var longestEnd: Int { ends.first?.count ?? 1 }

  /// Splits more bytes. Completed lines are appended to `lines`: at most one for each two bytes, plus one.
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
      // Of a skipped line, keep only bytes that may begin a line end.
      if beginning.skips { beginning.bytes.removeFirst(max(0, beginning.bytes.count - longestEnd + 1)) }
    }
  }

  /// Ends the current line, if one has begun, at the end of the input or after a pause.
  ///
  /// - Parameter isCut: Whether the input ended where the line should have gone on, or ended.
  mutating func finish(_ lines: inout [Line], isCut: Bool = false) {
    let (bytes, isDropped) = (beginning.bytes, beginning.skips)
    beginning.bytes.removeAll(keepingCapacity: true)
    beginning.skips = false
    if isDropped || bytes.isEmpty { return }
    guard bytes.count <= limit else { return lines.append(.fault(.tooLong(limit: limit))) }
    guard let text = encoding.text(bytes) else { return lines.append(.bytes(bytes)) }
    let code = affixes.removed(from: text)
    // A line of only spaces and tabs is blank.
    if code.utf8.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return }
    lines.append(isCut ? .unended(code) : .text(code))
  }

  /// Skips the current or next line, up to its end.
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

/// The prefix and suffix of codes.
struct Affixes: Sendable {
  private let prefix: [UInt8]
  private let suffix: [UInt8]

  /// Creates affixes. Line ends at the start of the prefix and at the end of the suffix are ignored, because lines are
  /// split there.
  init(_ format: LineFormat) {
    let ends = format.ends.map(\.bytes)
    var (prefix, suffix) = (Array(format.prefix.utf8), Array(format.suffix.utf8))
    while let end = ends.first(where: { prefix.starts(with: $0) }) { prefix.removeFirst(end.count) }
    while let end = ends.first(where: { suffix.ends(with: $0) }) { suffix.removeLast(end.count) }
    (self.prefix, self.suffix) = (prefix, suffix)
  }

  /// The text without prefix and suffix; each is removed if present.
  func removed(from text: String) -> String {
    guard !prefix.isEmpty || !suffix.isEmpty else { return text }
    var bytes = Array(text.utf8)[...]
    if bytes.starts(with: prefix) { bytes = bytes.dropFirst(prefix.count) }
    if bytes.reversed().starts(with: suffix.reversed()) { bytes = bytes.dropLast(suffix.count) }
    // Complete characters were removed from both ends, so the rest is valid UTF-8.
    return String(decoding: bytes, as: UTF8.self)
  }
}
