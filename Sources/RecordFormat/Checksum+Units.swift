import Bytes
import CChecksum

/// The checks of objects and buckets, whose checksums are salted with their offset: one that was moved or swapped with
/// another one fails its check.
extension Checksum {
  /// The checksum of the four bytes of `unit`, from which the checksum of the structure at that offset continues.
  @inlinable @inline(__always)
  public static func salt(_ unit: UnitOffset) -> UInt32 {
    // Four bytes of a local value.
    unsafe withUnsafeBytes(of: unit.rawValue.littleEndian) { bytes in
      unsafe shelfmark_crc32c(0, bytes.baseAddress!, 4)
    }
  }

  /// Whether the first four bytes of `span` are the checksum of the others, salted with `unit`.
  @inlinable @inline(__always)
  public static func isValid(_ span: RawSpan, at unit: UnitOffset) -> Bool {
    guard span.byteCount >= 4 else { return false }
    // The span is not empty, so it has an address; its bytes are there for the call.
    return unsafe span.withUnsafeBytes { bytes in
      unsafe shelfmark_has_valid_checksum(bytes.baseAddress.unsafelyUnwrapped, bytes.count, unit.rawValue) != 0
    }
  }

  /// The header word (length and kind) of the object at the start of `span`, if the object's checksum is valid.
  ///
  /// - Returns: 0 if the checksum is wrong, or if the length is shorter than a header or longer than `span`.
  @inlinable @inline(__always)
  public static func checkedHeader(_ span: RawSpan, at unit: UnitOffset) -> UInt32 {
    guard span.byteCount >= ObjectHeader.byteCount else { return 0 }
    // The span is not empty, so it has an address; no more of its bytes are read than it has.
    return unsafe span.withUnsafeBytes { bytes in
      unsafe shelfmark_checked_header(bytes.baseAddress.unsafelyUnwrapped, bytes.count, unit.rawValue)
    }
  }
}

extension KeyHash {
  /// The hash of a row's offset: that of its four bytes.
  @inlinable @inline(__always)
  public static func of(_ unit: UnitOffset, _ seed: HashSeed) -> UInt64 { of(unit.rawValue, seed) }
}
