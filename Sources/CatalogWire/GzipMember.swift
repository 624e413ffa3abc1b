#if ISAL
/// The header of a gzip member (RFC 1952, 2.3), read byte by byte and kept nowhere.
struct GzipHeader {
  private enum Field { case fixed, extraLength, extra, name, comment, checksum, end }

  private enum Flag {
    static let checksum: UInt8 = 1 << 1
    static let extra: UInt8 = 1 << 2
    static let name: UInt8 = 1 << 3
    static let comment: UInt8 = 1 << 4
    static let reserved: UInt8 = 0xE0
  }

  private var field = Field.fixed
  /// Bytes of the field that were read.
  private var offset = 0
  private var method: UInt8 = 0
  private var flags: UInt8 = 0
  /// The number that the field holds, if it holds one.
  private var number: UInt16 = 0
  private var sum: UInt32 = 0

  var isWhole: Bool { field == .end }

  /// Takes the next byte; the caller has seen that the first two are 1F 8B.
  ///
  /// - Parameter checksum: the CRC-32 of bytes behind those that have another CRC.
  /// - Returns: what is wrong, in zlib's words.
  mutating func take(_ byte: UInt8, checksum: (Span<UInt8>, UInt32) -> UInt32) -> String? {
    if field != .checksum {
      let one: [UInt8] = [byte]
      sum = checksum(one.span, sum)
    }
    offset += 1
    switch field {
    case .fixed: return takeFixed(byte)
    case .extraLength:
      takeNumber(byte)
      if offset == 2 { go(to: number == 0 ? .name : .extra) }
    case .extra: if offset == Int(number) { go(to: .name) }
    case .name, .comment: if byte == 0 { go(to: field == .name ? .comment : .checksum) }
    case .checksum:
      takeNumber(byte)
      if offset == 2 {
        if number != UInt16(truncatingIfNeeded: sum) { return "header crc mismatch" }
        go(to: .end)
      }
    case .end: preconditionFailure("the header is whole")
    }
    return nil
  }

  private mutating func takeFixed(_ byte: UInt8) -> String? {
    switch offset {
    case 3: method = byte
    case 4:
      flags = byte
      // As zlib does, which reads the two at once.
      if method != 8 { return "unknown compression method" }
      if flags & Flag.reserved != 0 { return "unknown header flags set" }
    case 10: go(to: .extraLength)
    default: break
    }
    return nil
  }

  private mutating func takeNumber(_ byte: UInt8) {
    number = (offset == 1 ? 0 : number) | UInt16(byte) << (offset == 1 ? 0 : 8)
  }

  /// Goes on to `next`, or to the first field behind it that is there.
  private mutating func go(to next: Field) {
    offset = 0
    field = next
    if field == .extraLength, flags & Flag.extra == 0 { field = .name }
    if field == .name, flags & Flag.name == 0 { field = .comment }
    if field == .comment, flags & Flag.comment == 0 { field = .checksum }
    if field == .checksum, flags & Flag.checksum == 0 { field = .end }
  }
}

/// The trailer of a gzip member: CRC-32 and length of what it unpacks to.
struct GzipTrailer {
  private(set) var byteCount = 0
  private var bits: UInt64 = 0

  var isWhole: Bool { byteCount == 8 }
  /// Right once there are four bytes.
  var checksum: UInt32 { UInt32(truncatingIfNeeded: bits) }
  /// Right once there are eight bytes.
  var length: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

  mutating func take(_ byte: UInt8) {
    bits |= UInt64(byte) << UInt64(8 * byteCount)
    byteCount += 1
  }
}
#endif
