internal import Bytes
internal import JSONFormat

/// A decoder of base64 (RFC 4648, section 4) that arrives in pieces of any size.
///
/// Characters outside the alphabet are skipped at any position. Padding is required: the last group has four
/// characters. Unused bits of the last symbol are not checked, because the checksum of the compressed data covers them.
struct Base64Decoder: Sendable {
  /// The bytes decoded by the last call of ``decode(_:offset:)``; only the first ``byteCount`` are valid.
  private(set) var bytes: [UInt8] = []
  private(set) var byteCount = 0

  /// The symbols of an incomplete group, six bits each.
  private var group: UInt32 = 0
  private var symbolCount = 0
  private var paddingCount = 0

  /// The entry in ``values`` for a character that is not a symbol. Greater than all values, so that one comparison
  /// finds it among several symbols.
  private static let skipped: UInt32 = 0x40
  /// The value of each character.
  private static let values: [UInt32] = {
    var values = Array(repeating: skipped, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt32(value) }
    return values
  }()

  /// Decodes one piece into ``bytes``; `offset` is the offset of its first character in the response.
  mutating func decode(_ text: Span<UInt8>, offset: Int) throws(WireError) {
    byteCount = 0
    // Three bytes per group, and eight for the last store.
    let required = (text.count + symbolCount) / 4 * 3 + 16
    if bytes.count < required {
      bytes.appendZeros(required - bytes.count)
    }
    var cursor = 0
    while cursor < text.count {
      if symbolCount == 0, paddingCount == 0 {
        decodeGroups(text, &cursor)
        guard cursor < text.count else { return }
      }
      try decodeCharacter(text[cursor], offset: offset + cursor)
      cursor += 1
    }
  }

  /// Decodes pairs of groups until a character is not a symbol or fewer than eight are left.
  private mutating func decodeGroups(_ text: Span<UInt8>, _ cursor: inout Int) {
    let values = Self.values
    let table = values.span
    while cursor + 8 <= text.count {
      let word = text.word(at: cursor)
      func value(_ index: UInt64) -> UInt64 { UInt64(table[Int(word >> (index * 8) & 0xFF)]) }
      let (a, b, c, d) = (value(0), value(1), value(2), value(3))
      let (e, f, g, h) = (value(4), value(5), value(6), value(7))
      guard a | b | c | d | e | f | g | h < UInt64(Self.skipped) else { return }
      let bits = a << 42 | b << 36 | c << 30 | d << 24 | e << 18 | f << 12 | g << 6 | h
      // Six bytes are valid; the next store overwrites the other two.
      bytes.store((bits << 16).byteSwapped, at: byteCount)
      byteCount += 6
      cursor += 8
    }
  }

  private mutating func decodeCharacter(_ character: UInt8, offset: Int) throws(WireError) {
    if character == UInt8(ascii: "=") {
      guard symbolCount >= 2 else {
        throw paddingCount > 0 ? .base64AfterPadding(offset: offset) : .base64BadPadding(offset: offset)
      }
      paddingCount += 1
      guard symbolCount + paddingCount == 4 else { return }
      append(UInt8(truncatingIfNeeded: symbolCount == 2 ? group >> 4 : group >> 10))
      if symbolCount == 3 { append(UInt8(truncatingIfNeeded: group >> 2)) }
      symbolCount = 0
      return
    }
    let value = Self.values[Int(character)]
    guard value < Self.skipped else { return }
    guard paddingCount == 0 else { throw .base64AfterPadding(offset: offset) }
    group = group << 6 | value
    symbolCount += 1
    guard symbolCount == 4 else { return }
    append(UInt8(truncatingIfNeeded: group >> 16))
    append(UInt8(truncatingIfNeeded: group >> 8))
    append(UInt8(truncatingIfNeeded: group))
    symbolCount = 0
    group = 0
  }

  private mutating func append(_ byte: UInt8) {
    bytes[byteCount] = byte
    byteCount += 1
  }

  /// Checks that the text ended with a complete group; `offset` is the offset of its end.
  func finish(offset: Int) throws(WireError) {
    guard symbolCount == 0 else { throw .base64EndsEarly(offset: offset) }
  }
}
