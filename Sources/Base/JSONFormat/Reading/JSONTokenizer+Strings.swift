import TextFormat

extension JSONTokenizer {
  /// Where a scan inside a string stopped.
  private enum StringStop {
    case quote, escape, cut, control, invalidUTF8
  }

  /// Moves `cursor` over validated text up to the next byte that is not plain text.
  @inline(__always)
  private static func scanText(_ bytes: Span<UInt8>, _ cursor: inout Int, end: Int) -> StringStop {
    while true {
      let stops = ByteWord.stringStops(bytes.word(at: cursor))
      guard stops != 0 else {
        cursor += 8
        continue
      }
      cursor += stops.trailingZeroBitCount >> 3
      var byte = bytes[cursor]
      if byte == UInt8(ascii: "\"") { return .quote }
      if byte == UInt8(ascii: "\\") { return .escape }
      if byte < 0x20 { return cursor >= end ? .cut : .control }
      // Non-ASCII characters usually come in sequences.
      repeat {
        let length = UTF8Sequence.length(bytes, at: cursor, lead: byte)
        guard length > 0 else {
          // Continuation bytes that are not available yet read as the padding's zeros.
          return UTF8Sequence.isCut(bytes, at: cursor, end: end) ? .cut : .invalidUTF8
        }
        cursor += length
        byte = bytes[cursor]
      } while byte >= 0x80
    }
  }

  /// Reads the string whose opening quote is at `position`; returns `false` if it continues after the window.
  @inline(__always)
  mutating func readString() throws(JSONError) -> Bool {
    var cursor = position + 1
    if scanned > position {
      cursor = scanned
    } else {
      hasEscape = false
    }
    while true {
      switch Self.scanText(storage.span, &cursor, end: end) {
      case .quote:
        guard cursor - position < limits.tokenByteCount else { throw tooLong() }
        tokenStart = position
        textStart = position + 1
        textEnd = hasEscape ? unescape(textStart..<cursor) : cursor
        position = cursor + 1
        return true
      case .escape:
        hasEscape = true
        guard let length = Escape.length(storage.span, at: cursor, end: end) else {
          return try cut(at: cursor)
        }
        guard length > 0 else { throw failInToken(.invalidEscape(offset: windowOffset + cursor)) }
        cursor += length
      case .cut:
        return try cut(at: cursor)
      case .control:
        throw failInToken(.controlCharacter(byte: storage[cursor], offset: windowOffset + cursor))
      case .invalidUTF8:
        throw failInToken(.invalidUTF8(offset: windowOffset + cursor))
      }
    }
  }

  /// Stores where to continue the scan of the incomplete token at `position`.
  mutating func cut(at cursor: Int) throws(JSONError) -> Bool {
    guard cursor - position <= limits.tokenByteCount else { throw tooLong() }
    scanned = cursor
    return false
  }

  /// Continues reading a string that is delivered in parts.
  mutating func readStringPart() throws(JSONError) -> JSONToken {
    var cursor = position
    let stop = Self.scanText(storage.span, &cursor, end: end)
    if cursor > position {
      textStart = position
      textEnd = cursor
      tokenStart = position
      position = cursor
      return .stringPart
    }
    switch stop {
    case .quote:
      tokenStart = position
      position += 1
      state = depth == 0 ? .end : .separator
      return .stringEnd
    case .escape:
      guard let length = Escape.length(storage.span, at: cursor, end: end) else { return try starve() }
      guard length > 0 else { throw fail(.invalidEscape(offset: windowOffset + cursor)) }
      var whole = cursor + length
      if Escape.isHighSurrogate(storage.span, at: cursor, length: length) {
        // The low surrogate may follow; it decides how this one is decoded.
        if let more = Escape.length(storage.span, at: whole, end: end) {
          if more > 0, Escape.isLowSurrogate(storage.span, at: whole, length: more) { whole += more }
        } else if !isFinished {
          return try starve()
        }
      }
      tokenStart = position
      textStart = cursor
      textEnd = unescape(cursor..<whole)
      position = whole
      return .stringPart
    case .cut:
      return try starve()
    case .control:
      throw fail(.controlCharacter(byte: storage[cursor], offset: windowOffset + cursor))
    case .invalidUTF8:
      throw fail(.invalidUTF8(offset: windowOffset + cursor))
    }
  }

  /// Replaces the validated escapes of `range` in place, and returns the new end of the text.
  ///
  /// An escape is never shorter than its character: 2 bytes for 1, 6 for at most 3, 12 for 4.
  private mutating func unescape(_ range: Range<Int>) -> Int {
    var source = range.lowerBound
    var target = source
    while source < range.upperBound {
      let byte = storage[source]
      guard byte == UInt8(ascii: "\\") else {
        storage[target] = byte
        source += 1
        target += 1
        continue
      }
      guard storage[source + 1] == UInt8(ascii: "u") else {
        storage[target] = Escape.short(storage[source + 1]) ?? 0
        source += 2
        target += 1
        continue
      }
      var scalar = Escape.unit(storage.span, at: source)
      source += 6
      if scalar & 0xF800 == 0xD800 {
        if scalar < 0xDC00, source < range.upperBound,
          Escape.isLowSurrogate(storage.span, at: source, length: 6)
        {
          scalar = 0x10000 + (scalar - 0xD800) << 10 + (Escape.unit(storage.span, at: source) - 0xDC00)
          source += 6
        } else {
          scalar = 0xFFFD
          replacedSurrogates += 1
        }
      }
      target = encode(scalar, at: target)
    }
    return target
  }

  /// Writes `scalar` as UTF-8 and returns the offset after it.
  private mutating func encode(_ scalar: UInt32, at offset: Int) -> Int {
    func continuation(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
    switch scalar {
    case 0..<0x80:
      storage[offset] = UInt8(scalar)
      return offset + 1
    case 0x80..<0x800:
      storage[offset] = 0xC0 | UInt8(scalar >> 6)
      storage[offset + 1] = continuation(0)
      return offset + 2
    case 0x800..<0x10000:
      storage[offset] = 0xE0 | UInt8(scalar >> 12)
      storage[offset + 1] = continuation(6)
      storage[offset + 2] = continuation(0)
      return offset + 3
    default:
      storage[offset] = 0xF0 | UInt8(scalar >> 18)
      storage[offset + 1] = continuation(12)
      storage[offset + 2] = continuation(6)
      storage[offset + 3] = continuation(0)
      return offset + 4
    }
  }
}

/// The escapes of RFC 8259, section 7.
enum Escape {
  /// The length of the escape at `offset`: 2 or 6; 0 if it is invalid, `nil` if the window ends inside it.
  static func length(_ bytes: Span<UInt8>, at offset: Int, end: Int) -> Int? {
    guard offset < end else { return nil }
    guard bytes[offset] == UInt8(ascii: "\\") else { return 0 }
    guard offset + 1 < end else { return nil }
    guard bytes[offset + 1] == UInt8(ascii: "u") else { return short(bytes[offset + 1]) == nil ? 0 : 2 }
    for index in offset + 2..<offset + 6 {
      guard index < end else { return nil }
      guard Hexadecimal.value(of: bytes[index]) != nil else { return 0 }
    }
    return 6
  }

  /// The character of the escape sequence of a backslash and `letter`.
  static func short(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// The UTF-16 unit of the validated six-byte escape at `offset`.
  static func unit(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    var unit: UInt32 = 0
    for index in offset + 2..<offset + 6 { unit = unit << 4 | UInt32(Hexadecimal.value(of: bytes[index]) ?? 0) }
    return unit
  }

  static func isHighSurrogate(_ bytes: Span<UInt8>, at offset: Int, length: Int) -> Bool {
    length == 6 && unit(bytes, at: offset) & 0xFC00 == 0xD800
  }

  /// Whether the validated bytes at `offset` begin with the escape of a low surrogate.
  static func isLowSurrogate(_ bytes: Span<UInt8>, at offset: Int, length: Int) -> Bool {
    guard length == 6, bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u") else {
      return false
    }
    return unit(bytes, at: offset) & 0xFC00 == 0xDC00
  }
}

/// The sequences of RFC 3629, section 4.
enum UTF8Sequence {
  /// The length of the valid sequence at `offset` that begins with `lead` (0x80 or more); 0 if it is invalid.
  ///
  /// Reads up to four bytes, which must exist.
  @inline(__always)
  static func length(_ bytes: Span<UInt8>, at offset: Int, lead: UInt8) -> Int {
    func isContinuation(_ distance: Int) -> Bool { bytes[offset + distance] & 0xC0 == 0x80 }
    let second = bytes[offset + 1]
    switch lead {
    case 0xE1...0xEC, 0xEE, 0xEF:
      return second & 0xC0 == 0x80 && isContinuation(2) ? 3 : 0
    case 0xC2...0xDF:
      return second & 0xC0 == 0x80 ? 2 : 0
    case 0xE0:
      return 0xA0...0xBF ~= second && isContinuation(2) ? 3 : 0
    case 0xED:
      return 0x80...0x9F ~= second && isContinuation(2) ? 3 : 0
    case 0xF0:
      return 0x90...0xBF ~= second && isContinuation(2) && isContinuation(3) ? 4 : 0
    case 0xF1...0xF3:
      return second & 0xC0 == 0x80 && isContinuation(2) && isContinuation(3) ? 4 : 0
    case 0xF4:
      return 0x80...0x8F ~= second && isContinuation(2) && isContinuation(3) ? 4 : 0
    default:
      return 0
    }
  }

  /// Whether the bytes from `offset` to `end` are the beginning of a valid sequence.
  static func isCut(_ bytes: Span<UInt8>, at offset: Int, end: Int) -> Bool {
    let count = end - offset
    guard count < 4 else { return false }
    let required =
      switch bytes[offset] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    guard count < required else { return false }
    guard count > 1 else { return true }
    let allowed: ClosedRange<UInt8> =
      switch bytes[offset] {
      case 0xE0: 0xA0...0xBF
      case 0xED: 0x80...0x9F
      case 0xF0: 0x90...0xBF
      case 0xF4: 0x80...0x8F
      default: 0x80...0xBF
      }
    guard allowed ~= bytes[offset + 1] else { return false }
    return count < 3 || bytes[offset + 2] & 0xC0 == 0x80
  }
}
