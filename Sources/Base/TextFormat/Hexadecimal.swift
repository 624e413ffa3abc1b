/// An encoder of bytes as hexadecimal digits, two per byte.
///
/// It is public only because the compiler does not inline package functions into other modules.
public enum Hexadecimal {
  /// The case of the digits above 9.
  package enum Letters: Sendable {
    case uppercase, lowercase
  }

  /// The two digits of a byte.
  package static func digits(_ byte: UInt8, _ letters: Letters = .uppercase) -> (high: UInt8, low: UInt8) {
    (digit(byte >> 4, letters), digit(byte & 15, letters))
  }

  /// The hexadecimal digits of bytes, without separators.
  package static func text(_ bytes: [UInt8], _ letters: Letters = .uppercase) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      let digits = digits(byte, letters)
      text += [digits.high, digits.low]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The two digits of a byte as text.
  package static func text(_ byte: UInt8, _ letters: Letters = .uppercase) -> String {
    text([byte], letters)
  }

  /// Returns the bytes whose digits are `text`; `nil` if it has other characters, or an odd number of digits.
  package static func bytes(of text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      guard let value = value(of: digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  private static func digit(_ value: UInt8, _ letters: Letters) -> UInt8 {
    if value < 10 { return UInt8(ascii: "0") + value }
    return (letters == .uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")) + value - 10
  }

  /// The value of a digit in upper or lower case; `nil` for any other character.
  @inlinable
  public static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
