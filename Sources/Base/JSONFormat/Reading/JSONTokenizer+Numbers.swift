extension JSONTokenizer {
  /// The magnitude at which an explicit exponent stops growing; far outside the range of a double.
  private static let largestExponent = 1 << 40

  /// Reads the number that begins at `position`; returns `false` if it continues, or may continue, after the window.
  mutating func readNumber() throws(JSONError) -> Bool {
    if scanned > position {
      // The number continued after the previous window: look only for its end, so that a long number is not scanned
      // again for each chunk.
      var cursor = scanned
      while Self.belongsToNumber(storage[cursor]) { cursor += 1 }
      if cursor == end, !isFinished, cursor - position <= limits.tokenByteCount {
        return try cut(at: cursor)
      }
    }

    var cursor = position
    var result = JSONNumber()
    guard Self.scanNumber(storage.span, &cursor, &result) else { return try numberStop(cursor) }
    // More digits may follow in the next chunk.
    guard cursor < end || isFinished else { return try cut(at: cursor) }
    guard cursor - position <= limits.tokenByteCount else { throw tooLong() }
    number = result
    tokenStart = position
    textStart = position
    textEnd = cursor
    position = cursor
    return true
  }

  /// Moves `cursor` past a number; returns `false` if the byte there is not allowed, or is not available yet.
  @inline(__always)
  private static func scanNumber(
    _ bytes: Span<UInt8>, _ cursor: inout Int, _ result: inout JSONNumber
  ) -> Bool {
    if bytes[cursor] == UInt8(ascii: "-") {
      result.isNegative = true
      cursor += 1
    }

    let firstDigit = cursor
    var digit = bytes[cursor] &- UInt8(ascii: "0")
    while digit <= 9 {
      result.significand = result.significand &* 10 &+ UInt64(digit)
      cursor += 1
      digit = bytes[cursor] &- UInt8(ascii: "0")
    }
    var digitCount = cursor - firstDigit
    guard digitCount > 0 else { return false }
    if digitCount > 1, bytes[firstDigit] == UInt8(ascii: "0") {
      // Only a fraction or an exponent may follow a leading zero.
      cursor = firstDigit + 1
      return false
    }

    if bytes[cursor] == UInt8(ascii: ".") {
      cursor += 1
      let firstFraction = cursor
      digit = bytes[cursor] &- UInt8(ascii: "0")
      while digit <= 9 {
        result.significand = result.significand &* 10 &+ UInt64(digit)
        cursor += 1
        digit = bytes[cursor] &- UInt8(ascii: "0")
      }
      guard cursor > firstFraction else { return false }
      result.exponent = firstFraction - cursor
      digitCount += cursor - firstFraction
    }

    if bytes[cursor] | 0x20 == UInt8(ascii: "e") {
      cursor += 1
      let isNegative = bytes[cursor] == UInt8(ascii: "-")
      if isNegative || bytes[cursor] == UInt8(ascii: "+") { cursor += 1 }
      let firstExponent = cursor
      var exponent = 0
      digit = bytes[cursor] &- UInt8(ascii: "0")
      while digit <= 9 {
        if exponent < largestExponent { exponent = exponent * 10 + Int(digit) }
        cursor += 1
        digit = bytes[cursor] &- UInt8(ascii: "0")
      }
      guard cursor > firstExponent else { return false }
      result.exponent += isNegative ? -exponent : exponent
    }

    // 10^19 < 2^64: nineteen digits always fit.
    result.isComplete = digitCount <= 19
    return true
  }

  private static func belongsToNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// Stops reading a number at a byte that is not allowed there, or is not available yet.
  private mutating func numberStop(_ cursor: Int) throws(JSONError) -> Bool {
    guard cursor < end else {
      guard isFinished else { return try cut(at: cursor) }
      throw failInToken(.endsEarly(offset: windowOffset + end, expected: .digit))
    }
    let byte = storage[cursor]
    let followsZero = (byte &- UInt8(ascii: "0")) <= 9
    let whatFollows: JSONExpectation =
      depth == 0 ? .endOfDocument : isInObject ? .commaOrEndOfObject : .commaOrEndOfArray
    throw failInToken(
      .unexpected(
        byte: byte, offset: windowOffset + cursor, expected: followsZero ? whatFollows : .digit))
  }
}
