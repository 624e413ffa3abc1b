/// Reads bits from base64url, most significant bit first.
struct BitReader {
  static let base64url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Groups of six bits.
  private let groups: [UInt8]
  /// The number of bits that were read.
  private var position = 0

  /// Returns `nil` if a character is not of base64url.
  init?(base64url text: some Sequence<UInt8>) {
    var groups: [UInt8] = []
    for byte in text {
      guard let group = Self.value(of: byte) else { return nil }
      groups.append(group)
    }
    self.groups = groups
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }

  /// The number of bits that are left.
  var remaining: Int { 6 * groups.count - position }

  /// Whether only padding is left: bits to the end of a character or a byte, all zero.
  var isPadding: Bool {
    guard remaining <= 8 else { return false }
    var copy = self
    return copy.read(remaining) == 0
  }

  /// Reads an unsigned number; `nil` if fewer bits are left.
  ///
  /// - Parameter count: The number of bits, 0 to 64.
  mutating func read(_ count: Int) -> UInt64? {
    guard remaining >= count else { return nil }
    var value: UInt64 = 0
    for _ in 0..<count { value = value << 1 | UInt64(nextBit()) }
    return value
  }

  /// Skips bits. Returns whether there are so many.
  mutating func skip(_ count: Int) -> Bool {
    guard remaining >= count else { return false }
    position += count
    return true
  }

  /// Goes back by `count` bits, or to the start.
  mutating func unread(_ count: Int) { position = max(0, position - count) }

  /// Reads a number of `count` digits, at most 127, in the bits that the standard gives it; `nil` if fewer bits are
  /// left or the number has more digits.
  mutating func readDigits(_ count: Int) -> [UInt8]? {
    // The standard adds 0.01 to count × log2(10) before it rounds up, so no digits have one bit. Six decimals of the
    // logarithm are exact enough for 127 digits.
    guard (0...127).contains(count) else { return nil }
    let bitCount = (count * 3_321_928 + 10_000 + 999_999) / 1_000_000
    guard remaining >= bitCount else { return nil }
    var digits = [UInt8](repeating: 0, count: count)
    for _ in 0..<bitCount {
      var carry = nextBit()
      for index in digits.indices.reversed() {
        let doubled = digits[index] * 2 + carry
        carry = doubled >= 10 ? 1 : 0
        digits[index] = doubled - carry * 10
      }
      if carry > 0 { return nil }
    }
    return digits.map { UInt8(ascii: "0") + $0 }
  }

  /// Reads `count` characters of `bitCount` bits each; `nil` if fewer bits are left.
  mutating func readCharacters(_ count: Int, _ bitCount: Int, _ character: (UInt64) -> UInt8) -> [UInt8]? {
    guard remaining >= count * bitCount else { return nil }
    var characters: [UInt8] = []
    for _ in 0..<count { characters.append(character(read(bitCount) ?? 0)) }
    return characters
  }

  /// Reads the next bit, which must exist.
  private mutating func nextBit() -> UInt8 {
    let bit = groups[position / 6] >> UInt8(5 - position % 6) & 1
    position += 1
    return bit
  }
}
