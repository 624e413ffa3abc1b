/// Reads one JSON document (RFC 8259) token by token out of chunks of any size.
///
///     var tokens = JSONTokenizer()
///     tokens.append(chunk)
///     loop: while true {
///       switch try tokens.next() {
///       case .needsInput: … append the next chunk, or call finish() …
///       case .key, .string: tokens.withText { … }
///       case .endOfDocument: break loop
///       …
///       }
///     }
///
/// The tokenizer is strict: no trailing comma, no comment, no byte order mark, nothing but white space after
/// the value; numbers and escapes by the letter; UTF-8 checked everywhere. One thing is lenient: the grammar
/// allows `\u` escapes that form half a surrogate pair, and servers that cut text by UTF-16 units do write
/// them. Such a half reads as U+FFFD and is counted in ``replacedSurrogates``, since refusing it would refuse
/// a whole document for one damaged character.
///
/// Tokens, values, errors and their offsets do not depend on how the document is cut into chunks.
///
/// Memory: the window holds the chunk and the token that the chunk cut, at most ``JSONLimits/tokenByteCount``
/// bytes of it. Nothing is recursive; nesting costs one bit a level. A document is read in one pass: a cut
/// token goes on where its scan stopped, so tiny chunks cost no more than big ones.
public struct JSONTokenizer: ~Copyable {
  // Invariants, with 0 <= everything:
  //   position <= scanned or scanned is unused, position <= end, scanned <= end
  //   end + padding <= storage.count, and the `padding` bytes from `end` on are zero
  //   textStart <= textEnd <= position <= end while a text is lent
  //   depth <= limits.nestingDepth

  /// What the grammar expects at `position`.
  @usableFromInline
  enum State: UInt8, Sendable {
    case value, firstElement, key, firstKey, colon, separator, insideString, end, failed
  }

  /// Zero bytes behind the window. They end every scan, as zero is neither white space nor allowed in a
  /// token, and let words be loaded at any byte of the window and up to three words from the beginning of a
  /// text.
  static let padding = 32

  /// The window: bytes [position, end) are yet to be read.
  @usableFromInline var storage: [UInt8]
  @usableFromInline var end = 0
  var position = 0
  /// Where the scan of a cut token goes on; at or before `position` if no token is cut.
  var scanned = 0
  /// Whether the cut string has an escape among the bytes that have been scanned.
  var hasEscape = false
  /// Offset in the document of the window's first byte.
  var windowOffset = 0

  var state = State.value
  var isFinished = false
  var failure: JSONError?
  /// One bit for each open level: set for an object.
  var levels: [UInt64]
  /// Whether the innermost open level is an object.
  var isInObject = false

  @usableFromInline var textStart = 0
  @usableFromInline var textEnd = 0
  @usableFromInline var number = JSONNumber()
  var tokenStart = 0

  /// What is refused although the grammar allows it.
  public let limits: JSONLimits
  /// Open arrays and objects; a bracket token counts already (opening) or no longer (closing).
  public internal(set) var depth = 0
  /// Whether a string value that begins now arrives as ``JSONToken/stringPart`` tokens and one
  /// ``JSONToken/stringEnd``, in constant memory and of any length; keys always come whole.
  public var deliversStringParts = false
  /// Halves of surrogate pairs that were read as U+FFFD.
  public internal(set) var replacedSurrogates = 0

  /// Creates a tokenizer of a new document, which refuses more than `limits` allow.
  public init(limits: JSONLimits = JSONLimits()) {
    self.limits = limits
    storage = Array(repeating: 0, count: Self.padding)
    levels = Array(repeating: 0, count: limits.nestingDepth / 64 + 1)
  }

  /// Forgets the document and its failure, and keeps the buffers.
  public mutating func reset() {
    storage.replaceSubrange(0..<Self.padding, with: repeatElement(0, count: Self.padding))
    end = 0
    position = 0
    scanned = 0
    hasEscape = false
    windowOffset = 0
    state = .value
    isFinished = false
    failure = nil
    isInObject = false
    textStart = 0
    textEnd = 0
    depth = 0
    deliversStringParts = false
    replacedSurrogates = 0
  }

  /// Adds bytes behind those that are yet to be read. Ends the loan of the last token's text.
  ///
  /// - Complexity: O(`bytes.count`) amortised over the document.
  public mutating func append(_ bytes: Span<UInt8>) {
    precondition(!isFinished, "append(_:) must not be called after finish()")
    guard bytes.count > 0 else { return }
    let pending = end - position
    let isTight = storage.count - end - Self.padding < bytes.count
    // Moving fewer bytes than have been consumed keeps the moves linear in the document.
    if position > 0, position >= pending || isTight {
      storage.moveToFront(position..<end)
      windowOffset += position
      scanned = max(0, scanned - position)
      position = 0
      end = pending
      textStart = 0
      textEnd = 0
    }
    let required = end + bytes.count + Self.padding
    if storage.count < required {
      let grown = max(required, storage.count * 2)
      storage.append(contentsOf: repeatElement(0, count: grown - storage.count))
    }
    storage.overwrite(from: end, with: bytes)
    end += bytes.count
    for index in end..<end + Self.padding { storage[index] = 0 }
  }

  /// Says that the document has no more bytes.
  public mutating func finish() { isFinished = true }

  /// The text of the last ``JSONToken/key``, ``JSONToken/string``, ``JSONToken/stringPart`` or
  /// ``JSONToken/number`` (as written), lent until the next call.
  @inlinable @inline(__always)
  public func withText<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(storage.span.extracting(textStart..<textEnd))
  }

  /// The length in bytes of the text that ``withText(_:)`` lends.
  @inlinable @inline(__always)
  public var textByteCount: Int { textEnd - textStart }

  /// The first 24 bytes of the text as three words, the first byte lowest, with zeros behind its end.
  @inlinable @inline(__always)
  package var textWords: (UInt64, UInt64, UInt64) {
    let bytes = storage.span
    let count = textEnd - textStart
    // A text inside the window has the padding behind it, which is longer than three words.
    let first = bytes.word(at: textStart)
    if count <= 8 { return (count == 8 ? first : first & ((1 << UInt64(count * 8)) &- 1), 0, 0) }
    let second = bytes.word(at: textStart + 8)
    if count <= 16 {
      return (first, count == 16 ? second : second & ((1 << UInt64((count - 8) * 8)) &- 1), 0)
    }
    let third = bytes.word(at: textStart + 16)
    return (first, second, count >= 24 ? third : third & ((1 << UInt64((count - 16) * 8)) &- 1))
  }

  /// The text as a string.
  public var textString: String { withText { String(copying: $0) } }

  /// Offset in the document of the first byte of the last token.
  public var tokenOffset: Int { windowOffset + tokenStart }

  /// Offset in the document of the first byte that no token has used.
  public var offset: Int { windowOffset + position }

  // The short ways of the two values below are inlined, for a call would copy the tokenizer's fields.

  /// The last number as an integer: `2.0` and `1e3` are integers, `2.5` and whatever lies outside of `Int64`
  /// are not.
  @inlinable @inline(__always)
  public var int64Value: Int64? {
    if let value = number.quickInt64 { return value }
    return exactInt64Value
  }

  /// The double nearest to the last number (ties to even), or nil if that would be infinite.
  @inlinable @inline(__always)
  public var doubleValue: Double? {
    if let value = number.quickDouble { return value }
    return exactDoubleValue
  }

  @usableFromInline @inline(never)
  var exactInt64Value: Int64? {
    if number.isComplete { return number.int64 }
    return withText { number.trimmed($0) }.int64
  }

  @usableFromInline @inline(never)
  var exactDoubleValue: Double? {
    // The standard library rounds correctly, but wants a String.
    guard let value = Double(textString), value.isFinite else { return nil }
    return value
  }
}

extension String {
  /// A copy of `utf8`; what is no UTF-8 becomes U+FFFD.
  package init(copying utf8: Span<UInt8>) {
    // The pointer is used inside the call only.
    self = unsafe utf8.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
