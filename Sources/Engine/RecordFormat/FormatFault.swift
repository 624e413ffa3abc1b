import Bytes

/// An invalid structure in a file. The caller knows the file and the offset.
public enum FormatFault: Error, Equatable, Sendable {
  /// The input has fewer bytes than the structure.
  case short(expected: Int, found: Int)
  /// The input does not begin with the structure's magic.
  case magic(expected: String)
  /// The stored checksum differs from the computed one.
  case checksum(stored: UInt32, computed: UInt32)
  /// The major version is not supported by this program.
  case majorVersion(UInt16)
  /// The file has incompatible feature bits that this program does not support.
  case features(UInt64)
  /// Reserved bytes are not zero.
  case reserved
  /// A field has a value that no writer stores.
  case field(String, UInt64)
}

extension FormatFault {
  /// Whether a newer version of this package wrote the structure, so that it is not damaged.
  package var isNewer: Bool {
    switch self {
    case .majorVersion(let version): version > FileHeader.majorVersion
    case .features: true
    default: false
    }
  }
}

extension FormatFault: CustomStringConvertible {
  /// What is wrong with the structure, for people; the path and the offset are added by the caller.
  public var description: String {
    switch self {
    case .short(let expected, let found): "\(found) bytes where \(expected) belong"
    case .magic(let expected): "no \(expected) at the beginning"
    case .checksum(let stored, let computed):
      "checksum \(hex(stored)) stored, \(hex(computed)) computed"
    case .majorVersion(let version):
      "format version \(version), this program reads version \(FileHeader.majorVersion)"
    case .features(let bits): "it needs features that this program does not know, bits \(hex(bits))"
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

  /// Checks the length, magic and checksum of a structure whose last four bytes are the checksum of the others,
  /// continued from `salt`.
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
