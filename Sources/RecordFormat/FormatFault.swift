import Bytes

/// What is wrong with a structure that was read from a file. The caller knows which file and where.
public enum FormatFault: Error, Equatable, Sendable {
  /// Fewer bytes than the structure has.
  case short(expected: Int, found: Int)
  /// The bytes do not begin with the structure's magic.
  case magic(expected: String)
  /// The stored checksum is not that of the bytes.
  case checksum(stored: UInt32, computed: UInt32)
  /// A major version that this program does not know.
  case majorVersion(UInt16)
  /// Incompatible feature bits that this program does not know.
  case features(UInt64)
  /// Bytes that have to be zero are not.
  case reserved
  /// A field with a value that no writer stores.
  case field(String, UInt64)
}

extension FormatFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .short(let expected, let found): "\(found) bytes where \(expected) belong"
    case .magic(let expected): "no \(expected) at the beginning"
    case .checksum(let stored, let computed):
      "checksum \(hex(stored)) stored, \(hex(computed)) computed"
    case .majorVersion(let version):
      "format version \(version), this program reads version \(FileHeader.majorVersion)"
    case .features(let bits): "needs features that this program does not know (bits \(hex(bits)))"
    case .reserved: "reserved bytes are not zero"
    case .field(let name, let value): "\(name) is \(value), which no writer stores"
    }
  }

  private func hex(_ value: some BinaryInteger) -> String { "0x" + String(value, radix: 16) }
}

extension RawSpan {
  /// Checks that the bytes of `range` are zero.
  func checkReserved(_ range: Range<Int>) throws(FormatFault) {
    guard extracting(range).isZero(from: 0) else { throw .reserved }
  }

  /// Checks length, magic and checksum of a structure whose last four bytes are the checksum of the others, continued from
  /// `salt`.
  func check(_ magic: String, byteCount expected: Int, salt: UInt32 = 0) throws(FormatFault) {
    guard byteCount >= expected else { throw .short(expected: expected, found: byteCount) }
    for (offset, byte) in magic.utf8.enumerated() where u8(at: offset) != byte {
      throw .magic(expected: magic)
    }
    let stored = u32(at: expected - 4)
    let computed = Checksum.of(slice(0, expected - 4), from: salt)
    guard stored == computed else { throw .checksum(stored: stored, computed: computed) }
  }
}
