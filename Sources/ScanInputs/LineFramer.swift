/// Cuts bytes that come in pieces of any size into lines.
///
/// A line ends with a carriage return or a line feed. As empty lines are none, both together are one end, also where a piece
/// ends between them. Every other byte belongs to the line, control characters too: GS1 separates elements by one.
///
/// Memory: the bytes of one line, at most ``LineFormat/maximumByteCount``. Of a line that is longer nothing is kept.
struct LineFramer {
  /// What became of a line.
  enum Line: Equatable, Sendable {
    case text(String)
    case fault(InputFault)
  }

  private let limit: Int
  private let affixes: Affixes
  private var pending: [UInt8] = []
  /// Whether the bytes up to the next end belong to a line that has been refused.
  private var skips = false

  /// A line that has begun and not ended.
  struct Beginning: Equatable, Sendable {
    fileprivate var bytes: [UInt8] = []
    fileprivate var skips = false
  }

  /// - Parameter beginning: of the first line, if its bytes were taken by another framer.
  init(_ format: LineFormat, after beginning: Beginning = Beginning()) {
    limit = max(1, format.maximumByteCount)
    affixes = Affixes(format)
    pending = beginning.bytes
    skips = beginning.skips
  }

  /// The line that has begun, for the framer that takes its other bytes.
  var beginning: Beginning { Beginning(bytes: pending, skips: skips) }

  /// Whether a line has begun.
  var isInsideLine: Bool { skips || !pending.isEmpty }

  /// Takes more bytes. What they complete is appended to `lines`, at most one for each two bytes and one more.
  mutating func append(_ bytes: some Sequence<UInt8>, to lines: inout [Line]) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
        finish(&lines)
      } else if skips {
        continue
      } else if pending.count >= limit {
        lines.append(.fault(.tooLong(limit: limit)))
        discardLine()
      } else {
        pending.append(byte)
      }
    }
  }

  /// Ends the line that has begun, if one has: there are no more bytes, or none came for long.
  mutating func finish(_ lines: inout [Line]) {
    defer {
      pending.removeAll(keepingCapacity: true)
      skips = false
    }
    guard !pending.isEmpty else { return }
    guard let text = String(validating: pending, as: UTF8.self) else {
      lines.append(.fault(.notText(shown: Printable.text(pending))))
      return
    }
    let code = affixes.removed(from: text)
    if !code.isEmpty { lines.append(.text(code)) }
  }

  /// Forgets the line that has begun, or begins now, up to its end.
  mutating func discardLine() {
    pending.removeAll(keepingCapacity: true)
    skips = true
  }
}

/// What a reader puts around a code.
struct Affixes: Sendable {
  private let prefix: [UInt8]
  private let suffix: [UInt8]

  /// An end of line in them is none of them: lines are cut there.
  init(_ format: LineFormat) {
    func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    prefix = Array(format.prefix.utf8.drop(while: isEnd))
    suffix = Array(format.suffix.utf8.reversed().drop(while: isEnd).reversed())
  }

  /// The text without prefix and suffix; each goes where it is there.
  func removed(from text: String) -> String {
    guard !prefix.isEmpty || !suffix.isEmpty else { return text }
    var bytes = Array(text.utf8)[...]
    if bytes.starts(with: prefix) { bytes = bytes.dropFirst(prefix.count) }
    if bytes.reversed().starts(with: suffix.reversed()) { bytes = bytes.dropLast(suffix.count) }
    // Whole characters are gone from either end: what is left of a text is one.
    return String(decoding: bytes, as: UTF8.self)
  }
}
