/// Makes gzip by hand out of stored blocks (RFC 1951, 3.2.4), so that every byte of header and trailer is
/// known.
package enum GzipMaker {
  package static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }

  package static func littleEndian(_ value: UInt32, count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32($0 * 8)) }
  }

  package static func pack(_ bytes: [UInt8], flags: UInt8 = 0, extra: [UInt8] = []) -> [UInt8] {
    var result: [UInt8] = [0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 3] + extra
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(65_535)
      result.append(rest.isEmpty ? 1 : 0)
      result +=
        littleEndian(UInt32(block.count), count: 2) + littleEndian(~UInt32(block.count), count: 2) + block
    } while !rest.isEmpty
    return result + littleEndian(crc32(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
  }
}
