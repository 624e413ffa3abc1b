/// A streaming tokenizer for one JSON document (RFC 8259) in chunks of any size.
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
/// The tokenizer is strict: no trailing comma, no comment, no byte order mark, and only white space after the value;
/// numbers and escapes exactly as in the grammar; all UTF-8 validated. It is lenient in one respect: the grammar allows
/// `\u` escapes of unpaired surrogates, and servers that cut text by UTF-16 units write them. An unpaired surrogate is
/// read as U+FFFD and counted in ``replacedSurrogates``, because refusing it would refuse an entire document for one
/// damaged character.
///
/// Tokens, values, errors and their offsets do not depend on how the document is divided into chunks.
///
/// Memory: the window contains the chunk and the part of an incomplete token before it, at most
/// ``JSONLimits/tokenByteCount`` bytes. Nothing is recursive; nesting costs one bit per level. A document is read in
/// one pass: the scan of an incomplete token continues where it stopped, so tiny chunks cost no more than big ones.
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

  /// Zero bytes after the window. They end every scan, because zero is neither white space nor allowed in a token. They
  /// also allow loading a word at any byte of the window, and three words at the beginning of a text.
  static let padding = 32

  /// The window: the bytes [position, end) have not been read yet.
  @usableFromInline var storage: [UInt8]
  @usableFromInline var end = 0
  var position = 0
  /// The offset at which the scan of an incomplete token continues; at or before `position` if no token is incomplete.
  var scanned = 0
  /// Whether the scanned part of the incomplete string contains an escape.
  var hasEscape = false
  /// The offset in the document of the window's first byte.
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

  /// Limits above which a valid document is refused.
  public let limits: JSONLimits
  /// The number of open arrays and objects. An opening bracket token is already counted, a closing one no longer.
  public internal(set) var depth = 0
  /// Whether a string value that begins now is delivered as ``JSONToken/stringPart`` tokens and one
  /// ``JSONToken/stringEnd``, in constant memory and with any length. Keys are always complete.
  public var deliversStringParts = false
  /// The number of unpaired surrogates that were read as U+FFFD.
  public internal(set) var replacedSurrogates = 0

  /// Creates a tokenizer of a new document, which refuses more than `limits` allow.
  public init(limits: JSONLimits = JSONLimits()) {
    self.limits = limits
    storage = Array(repeating: 0, count: Self.padding)
    levels = Array(repeating: 0, count: limits.nestingDepth / 64 + 1)
  }

  /// Discards the document and its error, and keeps the buffers.
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

  /// Appends bytes to the unread ones. Invalidates the last token's text.
  ///
  /// - Complexity: O(`bytes.count`) amortised over the document.
  public mutating func append(_ bytes: Span<UInt8>) {
    precondition(!isFinished, "append(_:) must not be called after finish()")
    guard bytes.count > 0 else { return }
    let pending = end - position
    let isTight = storage.count - end - Self.padding < bytes.count
    // Moving fewer bytes than have been consumed keeps the total cost linear in the document.
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
      let more = max(required - storage.count, storage.count)
      storage.append(addingCapacity: more) { $0.append(repeating: 0, count: more) }
    }
    storage.overwrite(from: end, with: bytes)
    end += bytes.count
    for index in end..<end + Self.padding { storage[index] = 0 }
  }

  /// Marks the end of the document.
  public mutating func finish() { isFinished = true }

  /// Calls `body` with the text of the last ``JSONToken/key``, ``JSONToken/string``, ``JSONToken/stringPart`` or
  /// ``JSONToken/number`` (as written), which is valid until the next call.
  @inlinable @inline(__always)
  public func withText<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(storage.span.extracting(textStart..<textEnd))
  }

  /// The length in bytes of the text of ``withText(_:)``.
  @inlinable @inline(__always)
  public var textByteCount: Int { textEnd - textStart }

  /// The first 24 bytes of the text as three words, the first byte least significant, followed by zeros.
  @inlinable @inline(__always)
  package var textWords: (UInt64, UInt64, UInt64) {
    let bytes = storage.span
    let count = textEnd - textStart
    // A text inside the window is followed by the padding, which is longer than three words.
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

  /// The offset in the document of the first byte of the last token.
  public var tokenOffset: Int { windowOffset + tokenStart }

  /// The offset in the document of the first byte after the last token.
  public var offset: Int { windowOffset + position }

  // The fast paths of the two values below are inlined, because a call would copy the tokenizer's fields.

  /// The last number as an integer; `nil` if it is not one. `2.0` and `1e3` are integers; `2.5` and numbers outside the
  /// range of `Int64` are not.
  @inlinable @inline(__always)
  public var int64Value: Int64? {
    if let value = number.quickInt64 { return value }
    return exactInt64Value
  }

  /// The double nearest to the last number (ties to even); `nil` if that would be infinite.
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
    // The standard library rounds correctly, but needs a String.
    guard let value = Double(textString), value.isFinite else { return nil }
    return value
  }
}

extension String {
  /// A copy of `utf8`; invalid UTF-8 is replaced by U+FFFD.
  package init(copying utf8: Span<UInt8>) {
    // The pointer is used only inside the call.
    self = unsafe utf8.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
