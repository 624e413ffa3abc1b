/// A key that is known in advance, stored as words for fast comparison.
package struct JSONKey: Sendable {
  /// The length of the key in bytes.
  package let byteCount: Int
  /// The bytes of the key, the first byte least significant, followed by zeros.
  package let words: (UInt64, UInt64, UInt64)
  /// Ones for the bytes of `words` that belong to the key.
  let masks: (UInt64, UInt64, UInt64)

  /// Creates a key of at most 24 ASCII bytes, none of which JSON escapes.
  package init(_ name: String) {
    precondition(name.utf8.count <= 24, "a known key must have 24 bytes or fewer")
    var words: [UInt64] = [0, 0, 0]
    var masks = words
    for (index, byte) in name.utf8.enumerated() {
      precondition(byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C, "a known key must be plain")
      words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8)
      masks[index / 8] |= 0xFF << UInt64(index % 8 * 8)
    }
    byteCount = name.utf8.count
    self.words = (words[0], words[1], words[2])
    self.masks = (masks[0], masks[1], masks[2])
  }
}

extension JSONTokenizer {
  /// Moves past the next member's key and its colon if they are in the window in the usual spelling of `key`: without
  /// an escape, and without white space around it. Otherwise returns `false` and changes nothing.
  ///
  /// This has the same effect as a call of ``next()`` that finds ``JSONToken/key`` with this text, but needs only a few
  /// comparisons.
  package mutating func skipKey(_ key: borrowing JSONKey) -> Bool {
    let valueStart = offset(behind: key)
    if valueStart == 0 { return false }
    position = valueStart
    state = .value
    return true
  }

  /// The offset in the window of the value of the member `key`, if that is next; otherwise 0.
  @inline(__always)
  private func offset(behind key: borrowing JSONKey) -> Int {
    let bytes = storage.span
    var cursor = position
    switch state {
    case .separator:
      guard isInObject, bytes[cursor] == UInt8(ascii: ",") else { return 0 }
      cursor &+= 1
    case .key, .firstKey:
      break
    case .value, .firstElement, .colon, .insideString, .end, .failed:
      return 0
    }
    let count = key.byteCount
    // The window is followed by zeros, more than are read here, so a match lies inside it.
    guard bytes[cursor] == UInt8(ascii: "\""), count &+ 1 < limits.tokenByteCount else { return 0 }
    cursor &+= 1
    guard bytes.word(at: cursor) & key.masks.0 == key.words.0 else { return 0 }
    if count > 8 {
      guard bytes.word(at: cursor &+ 8) & key.masks.1 == key.words.1 else { return 0 }
      if count > 16 {
        guard bytes.word(at: cursor &+ 16) & key.masks.2 == key.words.2 else { return 0 }
      }
    }
    cursor &+= count
    guard bytes[cursor] == UInt8(ascii: "\""), bytes[cursor &+ 1] == UInt8(ascii: ":") else { return 0 }
    return cursor &+ 2
  }
}
