import Bytes

extension ByteWriter {
  /// Appends a number with seven bits a byte, the lowest first; the high bit is set on all bytes but the last.
  mutating func putVariable(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      put(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    put(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a signed number so that those near 0 are short: 0, -1, 1, -2 … as 0, 1, 2, 3 …
  mutating func putSigned(_ number: Int64) {
    putVariable(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }
}

extension ByteReader {
  /// Reads a number of `putVariable`; `nil` if it is cut off or has more than 64 bits.
  mutating func variable() -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = u8() else { return nil }
      if shift == 63, byte > 1 { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    return nil
  }

  /// Reads a number of `putSigned`.
  mutating func signed() -> Int64? {
    variable().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
  }

  /// Reads a number that is at most `limit`.
  mutating func count(upTo limit: Int) -> Int? {
    guard let number = variable(), number <= UInt64(limit) else { return nil }
    return Int(number)
  }
}
