/// Whether a body that ends with its connection is complete: nothing else tells that it was cut, if there is no length
/// and no chunks, as in HTTP/1.0 (RFC 9112, 8).
///
/// An answer is a JSON object, so a cut one has an object that is not closed. Bytes that do not begin as an object or an
/// array are not judged; they are refused for what they are.
struct JSONCompleteness {
  private enum Place {
    case beginning, between, text, escape, end, notJSON
  }

  private var place = Place.beginning
  /// The objects and arrays that are open.
  private var depth = 0

  /// Whether more bytes must have followed.
  var isCutShort: Bool {
    switch place {
    case .beginning, .between, .text, .escape: true
    case .end, .notJSON: false
    }
  }

  /// Takes the next bytes of the body.
  mutating func consume(_ bytes: Span<UInt8>) {
    for index in bytes.indices {
      if place == .end || place == .notJSON { return }
      take(bytes[index])
    }
  }

  private mutating func take(_ byte: UInt8) {
    switch (place, byte) {
    case (.text, UInt8(ascii: "\\")): place = .escape
    case (.text, UInt8(ascii: "\"")): place = .between
    case (.text, _): break
    case (.escape, _): place = .text
    // White space and a byte order mark.
    case (.beginning, 0x20), (.beginning, 0x09), (.beginning, 0x0A), (.beginning, 0x0D): break
    case (.beginning, 0xEF), (.beginning, 0xBB), (.beginning, 0xBF): break
    case (_, UInt8(ascii: "{")), (_, UInt8(ascii: "[")):
      depth += 1
      place = .between
    case (.beginning, _): place = .notJSON
    case (_, UInt8(ascii: "}")), (_, UInt8(ascii: "]")):
      depth -= 1
      if depth <= 0 { place = .end }
    case (_, UInt8(ascii: "\"")): place = .text
    default: break
    }
  }
}
