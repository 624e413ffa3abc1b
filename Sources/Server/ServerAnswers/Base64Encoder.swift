/// An incremental encoder of base64 (RFC 4648, section 4, with padding and without line breaks).
struct Base64Encoder {
  /// Up to two bytes of an incomplete group, the first one most significant.
  private var rest: UInt32 = 0
  private var restCount = 0

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  mutating func encode(_ bytes: Span<UInt8>, into text: inout [UInt8]) {
    let alphabet = Self.alphabet.span
    text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
    for index in bytes.indices {
      rest = rest << 8 | UInt32(bytes[index])
      restCount += 1
      guard restCount == 3 else { continue }
      text.append(alphabet[Int(rest >> 18)])
      text.append(alphabet[Int(rest >> 12 & 63)])
      text.append(alphabet[Int(rest >> 6 & 63)])
      text.append(alphabet[Int(rest & 63)])
      rest = 0
      restCount = 0
    }
  }

  /// Writes the last group with its padding.
  mutating func finish(into text: inout [UInt8]) {
    guard restCount > 0 else { return }
    let bits = rest << UInt32((3 - restCount) * 8)
    for symbol in 0..<4 {
      let shift = UInt32(18 - symbol * 6)
      text.append(symbol <= restCount ? Self.alphabet[Int(bits >> shift & 63)] : UInt8(ascii: "="))
    }
    rest = 0
    restCount = 0
  }
}
