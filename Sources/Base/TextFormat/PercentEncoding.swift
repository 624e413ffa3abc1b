/// Percent-encoding (RFC 3986, 2.1): a byte as `%` and two hexadecimal digits.
package enum PercentEncoding {
  /// The text with everything except the unreserved characters of RFC 3986 (letters, digits, `-`, `.`, `_`, `~`)
  /// encoded: a blank is `%20` and a plus `%2B`, so servers that decode `+` as a blank and servers that do not read the
  /// same text.
  package static func encoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) { encoded.append(byte) } else { append(byte, to: &encoded) }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Appends the three characters that encode a byte.
  package static func append(_ byte: UInt8, to encoded: inout [UInt8]) {
    let digits = Hexadecimal.digits(byte)
    encoded += [UInt8(ascii: "%"), digits.high, digits.low]
  }

  /// Decodes a percent-encoded text into bytes.
  ///
  /// - Parameter plusIsBlank: Whether `+` is decoded as a blank, as in the query of a form.
  /// - Returns: The bytes; `nil` if a `%` is not followed by two hexadecimal digits.
  package static func decoded(_ encoded: Span<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var index = 0
    while index < encoded.count {
      switch encoded[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < encoded.count, let high = Hexadecimal.value(of: encoded[index + 1]),
          let low = Hexadecimal.value(of: encoded[index + 2])
        else { return nil }
        bytes.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
      case let byte: bytes.append(byte)
      }
      index += 1
    }
    return bytes
  }

  /// Decodes a percent-encoded text.
  ///
  /// - Parameter plusIsBlank: Whether `+` is decoded as a blank, as in the query of a form.
  /// - Returns: The text; `nil` if a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
  package static func decodedText(_ encoded: Substring, plusIsBlank: Bool = false) -> String? {
    decoded(encoded.utf8.span, plusIsBlank: plusIsBlank).flatMap { String(validating: $0, as: UTF8.self) }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
