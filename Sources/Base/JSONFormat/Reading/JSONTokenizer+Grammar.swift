extension JSONTokenizer {
  /// Reads the next token.
  ///
  /// - Throws: ``JSONError``; all later calls throw the same error.
  /// - Complexity: O(*n*), where *n* is the number of bytes of the token and of the white space before it.
  public mutating func next() throws(JSONError) -> JSONToken {
    while true {
      // The byte at `end` is zero, so that one comparison finds white space and the end of the window.
      if storage[position] <= 0x20 {
        if state != .insideString, !skipWhiteSpace() { return try starve() }
      }
      let byte = storage[position]
      switch state {
      case .separator:
        guard byte == UInt8(ascii: ",") else { return try close(byte) }
        position += 1
        state = isInObject ? .key : .value
      case .key, .firstKey:
        guard byte == UInt8(ascii: "\"") else {
          if state == .firstKey, byte == UInt8(ascii: "}") { return try close(byte) }
          throw unexpected(byte)
        }
        guard try readString() else { return try starve() }
        // Most colons follow immediately, which saves an iteration.
        if storage[position] == UInt8(ascii: ":") {
          position += 1
          state = .value
        } else {
          state = .colon
        }
        return .key
      case .colon:
        guard byte == UInt8(ascii: ":") else { throw unexpected(byte) }
        position += 1
        state = .value
      case .value, .firstElement:
        return try readValue(byte)
      case .insideString:
        return try readStringPart()
      case .end:
        throw unexpected(byte)
      case .failed:
        throw failure ?? .endsEarly(offset: offset, expected: .value)
      }
    }
  }

  /// Reads the value that begins with `byte`, or the end of an empty array.
  private mutating func readValue(_ byte: UInt8) throws(JSONError) -> JSONToken {
    switch byte {
    case UInt8(ascii: "\""):
      if deliversStringParts {
        tokenStart = position
        position += 1
        state = .insideString
        return try readStringPart()
      }
      guard try readString() else { return try starve() }
      state = depth == 0 ? .end : .separator
      return .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      guard try readNumber() else { return try starve() }
      state = depth == 0 ? .end : .separator
      return .number
    case UInt8(ascii: "{"):
      try open(isObject: true)
      state = .firstKey
      return .beginObject
    case UInt8(ascii: "["):
      try open(isObject: false)
      state = .firstElement
      return .beginArray
    case UInt8(ascii: "]") where state == .firstElement:
      return try close(byte)
    case UInt8(ascii: "t"):
      return try readLiteral("true", .true)
    case UInt8(ascii: "f"):
      return try readLiteral("false", .false)
    case UInt8(ascii: "n"):
      return try readLiteral("null", .null)
    default:
      throw unexpected(byte)
    }
  }

  @inline(__always)
  private mutating func readLiteral(_ word: StaticString, _ token: JSONToken) throws(JSONError) -> JSONToken {
    // Static strings live as long as the program.
    let letters = unsafe UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    // The padding's zeros match no letter, so one comparison finds most literals that are complete.
    var expected: UInt64 = 0
    for index in 0..<letters.count { expected |= UInt64(unsafe letters[index]) << UInt64(index * 8) }
    let mask: UInt64 = (1 << UInt64(letters.count * 8)) &- 1
    let isWhole = storage.span.word(at: position) & mask == expected
    for index in 0..<(isWhole ? 0 : letters.count) {
      guard position + index < end else { return try starve(expected: .literal) }
      guard storage[position + index] == (unsafe letters[index]) else {
        throw fail(
          .unexpected(
            byte: storage[position + index], offset: windowOffset + position + index, expected: .literal))
      }
    }
    tokenStart = position
    position += letters.count
    state = depth == 0 ? .end : .separator
    return token
  }

  private mutating func open(isObject: Bool) throws(JSONError) {
    guard depth < limits.nestingDepth else {
      throw fail(.nestedTooDeeply(limit: limits.nestingDepth, offset: offset))
    }
    let bit: UInt64 = 1 << UInt64(depth & 63)
    if isObject { levels[depth >> 6] |= bit } else { levels[depth >> 6] &= ~bit }
    depth += 1
    isInObject = isObject
    tokenStart = position
    position += 1
  }

  private mutating func close(_ byte: UInt8) throws(JSONError) -> JSONToken {
    guard byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw unexpected(byte) }
    let token = isInObject ? JSONToken.endObject : .endArray
    depth -= 1
    if depth == 0 {
      isInObject = false
      state = .end
    } else {
      isInObject = levels[(depth - 1) >> 6] >> UInt64((depth - 1) & 63) & 1 == 1
      state = .separator
    }
    tokenStart = position
    position += 1
    return token
  }

  /// Moves to the next byte that is not white space; returns `false` if the window has none.
  private mutating func skipWhiteSpace() -> Bool {
    position = Self.skipWhiteSpace(storage.span, from: position)
    return position < end
  }

  private static func skipWhiteSpace(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var cursor = start
    while true {
      switch bytes[cursor] {
      case 0x20, 0x0A, 0x0D, 0x09:
        cursor += 1
        // Long runs of blanks occur in indented documents, and in decompression bombs.
        while bytes.word(at: cursor) == 0x2020_2020_2020_2020 { cursor += 8 }
      default:
        return cursor
      }
    }
  }

  // MARK: - Ends and errors

  /// The expected tokens if the window has no complete token.
  func whatIsExpected() -> JSONExpectation {
    switch state {
    case .value: .value
    case .firstElement: .valueOrEndOfArray
    case .key: .key
    case .firstKey: .keyOrEndOfObject
    case .colon: .colon
    case .separator: isInObject ? .commaOrEndOfObject : .commaOrEndOfArray
    case .insideString: .endOfString
    case .end, .failed: .endOfDocument
    }
  }

  @inline(never)
  mutating func starve(expected: JSONExpectation? = nil) throws(JSONError) -> JSONToken {
    if state == .failed, let failure { throw failure }
    guard isFinished else { return .needsInput }
    if state == .end { return .endOfDocument }
    throw fail(.endsEarly(offset: windowOffset + end, expected: expected ?? cutToken ?? whatIsExpected()))
  }

  /// The missing part of a string or number that is truncated by the end of the document.
  private var cutToken: JSONExpectation? {
    guard position < end else { return nil }
    return storage[position] == UInt8(ascii: "\"") || state == .insideString ? .endOfString : .digit
  }

  @inline(never)
  mutating func unexpected(_ byte: UInt8) -> JSONError {
    fail(.unexpected(byte: byte, offset: offset, expected: whatIsExpected()))
  }

  @inline(never)
  mutating func fail(_ error: JSONError) -> JSONError {
    failure = error
    state = .failed
    return error
  }

  /// Returns `error`, unless the token that contains it had already exceeded its limit.
  @inline(never)
  mutating func failInToken(_ error: JSONError) -> JSONError {
    if error.offset - offset >= limits.tokenByteCount { return tooLong() }
    return fail(error)
  }

  @inline(never)
  mutating func tooLong() -> JSONError {
    fail(.tokenTooLong(limit: limits.tokenByteCount, offset: offset))
  }
}
