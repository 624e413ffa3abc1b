/// Text as it stands in a request's target (RFC 3986).
enum PercentText {
  /// The text behind its percent escapes.
  ///
  /// - Parameter plusIsSpace: as forms write a space; only queries do.
  /// - Returns: `nil` for an invalid escape, and for bytes that are not UTF-8.
  static func decoded(_ text: Substring.UTF8View, plusIsSpace: Bool = false) -> String? {
    guard text.contains(where: { $0 == UInt8(ascii: "%") || (plusIsSpace && $0 == UInt8(ascii: "+")) }) else {
      return String(Substring(text))
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Whether all percent escapes of a text are valid, and what they mean is UTF-8.
  static func isValid(_ text: Substring.UTF8View) -> Bool {
    !text.contains(UInt8(ascii: "%")) || decoded(text) != nil
  }

  /// The text without escapes of characters that need none (RFC 3986, 6.2.2.2). Invalid escapes stay.
  static func normalized(_ text: Substring.UTF8View) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap(digit)
      if byte == UInt8(ascii: "%"), digits.count == 2, isUnreserved(digits[0] << 4 | digits[1]) {
        bytes.append(digits[0] << 4 | digits[1])
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a byte means itself everywhere in a target (RFC 3986, 2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
