/// ASCII bytes that have a special meaning in scanned data.
enum ASCII {
  /// The group separator, which a scanner sends for FNC1 inside the data (GS1 General Specifications 7.8).
  static let groupSeparator: UInt8 = 0x1D
  static let blank = UInt8(ascii: " ")
  static let opening = UInt8(ascii: "(")
  static let closing = UInt8(ascii: ")")
  static let slash = UInt8(ascii: "/")
  static let backslash = UInt8(ascii: "\\")

  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isUpper(byte & 0xDF) && byte >= 0x41 }

  static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// Returns `bytes` without blanks and group separators at both ends.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while let first = rest.first, first == blank || first == groupSeparator { rest.removeFirst() }
    while let last = rest.last, last == blank || last == groupSeparator { rest.removeLast() }
    return rest
  }
}
