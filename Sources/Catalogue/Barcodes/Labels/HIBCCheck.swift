/// The check character of the Health Industry Bar Code: the sum of the values of all characters modulo 43 (ANSI/HIBC
/// 2.6, appendix B).
struct HIBCCheck {
  /// The message without its check character.
  let message: ArraySlice<UInt8>
  let isValid: Bool

  /// Verifies the check character at the end of `data`. Where a blank is the check character, trimming may have removed
  /// it.
  ///
  /// Returns `nil` if a character is not of Code 39.
  init?(_ data: ArraySlice<UInt8>) {
    guard let last = data.last, let sum = Self.sum(of: data), let lastValue = Self.value(of: last) else { return nil }
    if (sum - lastValue) % 43 == lastValue {
      (message, isValid) = (data.dropLast(), true)
    } else if sum % 43 == Self.valueOfBlank {
      (message, isValid) = (data, true)
    } else {
      (message, isValid) = (data.dropLast(), false)
    }
  }

  /// Returns the check character of `data`, which contains only characters of Code 39.
  static func character(for data: some Sequence<UInt8>) -> UInt8 {
    characters[(sum(of: data) ?? 0) % 43]
  }

  private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%".utf8)
  private static let valueOfBlank = 38

  private static func sum(of data: some Sequence<UInt8>) -> Int? {
    var sum = 0
    for byte in data {
      guard let value = value(of: byte) else { return nil }
      sum += value
    }
    return sum
  }

  /// Returns the value of a character of Code 39, 0 to 42; `nil` for any other.
  static func value(of byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte - UInt8(ascii: "A")) + 10
    default: characters.firstIndex(of: byte)
    }
  }
}
