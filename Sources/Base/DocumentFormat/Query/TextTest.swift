import Bytes

/// A test of a text: whether it contains, begins with, or matches another one.
///
/// Case is ignored with Swift's `lowercased()` on both sides. The constant is lowercased once. An ASCII text is
/// lowercased byte by byte during the comparison; any other text is converted to a string.
struct TextTest: Sendable {
  enum Form: Sendable { case contains, hasPrefix, like }

  private let form: Form
  private let ignoringCase: Bool
  /// The text to search for.
  private let text: [UInt8]
  /// The parsed pattern.
  private let pattern: [LikePiece]

  init(_ form: Form, _ text: String, _ ignoringCase: Bool) {
    self.form = form
    self.ignoringCase = ignoringCase
    let lowered = ignoringCase ? text.lowercased() : text
    self.text = form == .like ? [] : Array(lowered.utf8)
    pattern = form == .like ? LikePiece.pieces(of: lowered) : []
  }

  /// Whether the test holds for the text at `range`.
  func holds(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    let value = bytes.extracting(range)
    guard ignoringCase else { return holds(value, foldingASCII: false) }
    if value.isASCII { return holds(value, foldingASCII: true) }
    let lowered = Array(bytes.repairedString(range).lowercased().utf8)
    return holds(lowered.rawSpan, foldingASCII: false)
  }

  @inline(__always)
  private func holds(_ value: RawSpan, foldingASCII isFolding: Bool) -> Bool {
    switch form {
    case .hasPrefix: value.byteCount >= text.count && value.matches(text.rawSpan, at: 0, isFolding)
    case .contains: value.contains(text.rawSpan, isFolding)
    case .like: LikePiece.match(pattern.span, value, isFolding)
    }
  }
}

extension RawSpan {
  /// The byte at `offset`, with an ASCII capital converted to lower case if `isFolding` is true.
  @inline(__always)
  fileprivate func byte(_ offset: Int, _ isFolding: Bool) -> UInt8 {
    let byte = u8(at: offset)
    return isFolding && byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Whether the bytes at `start` are those of `text`, which must not extend past the end.
  @inline(__always)
  fileprivate func matches(_ text: RawSpan, at start: Int, _ isFolding: Bool) -> Bool {
    if !isFolding { return slice(start, text.byteCount).hasSameBytes(as: text) }
    for offset in 0..<text.byteCount where byte(start &+ offset, true) != text.u8(at: offset) { return false }
    return true
  }

  /// Whether `text` occurs anywhere. Complexity: O(bytes · bytes of `text`) in the worst case, one pass over the bytes
  /// in practice.
  fileprivate func contains(_ text: RawSpan, _ isFolding: Bool) -> Bool {
    if text.byteCount == 0 { return true }
    let first = text.u8(at: 0)
    var start = 0
    while start &+ text.byteCount <= byteCount {
      if byte(start, isFolding) == first, matches(text, at: start, isFolding) { return true }
      start &+= 1
    }
    return false
  }
}

/// An element of a `like` pattern.
enum LikePiece: Equatable, Sendable {
  /// A literal byte.
  case byte(UInt8)
  /// `_`: one Unicode scalar.
  case one
  /// `%`: any number of Unicode scalars.
  case many

  /// Parses `pattern`. A backslash escapes the next character; at the end of the pattern it is literal.
  static func pieces(of pattern: String) -> [LikePiece] {
    var pieces: [LikePiece] = []
    var isEscaped = false
    for byte in pattern.utf8 {
      switch byte {
      case UInt8(ascii: "\\") where !isEscaped:
        isEscaped = true
        continue
      case UInt8(ascii: "%") where !isEscaped:
        if pieces.last != .many { pieces.append(.many) }
      case UInt8(ascii: "_") where !isEscaped: pieces.append(.one)
      default: pieces.append(.byte(byte))
      }
      isEscaped = false
    }
    if isEscaped { pieces.append(.byte(UInt8(ascii: "\\"))) }
    return pieces
  }

  /// The literal text before the first `%` or `_` of a pattern, and the pieces after it.
  static func literalHead(of pattern: String) -> (head: String, rest: ArraySlice<LikePiece>) {
    let pieces = pieces(of: pattern)
    var head: [UInt8] = []
    for case .byte(let byte) in pieces.prefix(while: { $0 != .one && $0 != .many }) { head.append(byte) }
    // The pieces other than bytes match entire scalars, so the head is valid UTF-8.
    return (String(decoding: head, as: UTF8.self), pieces[head.count...])
  }

  /// Whether the entire `text` matches the pattern. On a mismatch, only the last `%` is retried with one more
  /// character: extending an earlier one cannot help.
  ///
  /// - Complexity: O(bytes · pieces) in the worst case.
  static func match(_ pattern: Span<LikePiece>, _ text: RawSpan, _ isFolding: Bool) -> Bool {
    var offset = 0
    var piece = 0
    var retry: (piece: Int, offset: Int)?
    while true {
      if piece < pattern.count, pattern[piece] == .many {
        piece += 1
        if piece == pattern.count { return true }
        retry = (piece, offset)
        continue
      }
      if offset < text.byteCount, piece < pattern.count {
        if pattern[piece] == .one {
          offset = text.endOfScalar(offset)
          piece += 1
          continue
        }
        if pattern[piece] == .byte(text.byte(offset, isFolding)) {
          offset += 1
          piece += 1
          continue
        }
      } else if offset == text.byteCount, piece == pattern.count {
        return true
      }
      guard let (last, start) = retry, start < text.byteCount else { return false }
      offset = text.endOfScalar(start)
      piece = last
      retry = (last, offset)
    }
  }
}

extension RawSpan {
  /// The offset after the scalar that begins at `offset`: after all continuation bytes that follow.
  fileprivate func endOfScalar(_ offset: Int) -> Int {
    var end = offset + 1
    while end < byteCount, u8(at: end) & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
