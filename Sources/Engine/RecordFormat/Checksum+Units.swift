public import Bytes
public import CChecksum

/// Checks of objects and buckets, whose checksums are salted with their offset: a structure that was moved or swapped
/// with another fails its check.
extension Checksum {
  /// Returns the checksum of the four bytes of `unit`. The checksum of the structure at that offset continues from it.
  @inlinable @inline(__always)
  public static func salt(_ unit: UnitOffset) -> UInt32 {
    // The four bytes belong to a local value.
    unsafe withUnsafeBytes(of: unit.rawValue.littleEndian) { bytes in
      unsafe shelfmark_crc32c(0, bytes.baseAddress!, 4)
    }
  }

  /// Returns whether the first four bytes of `span` are the checksum of the others, salted with `unit`.
  @inlinable @inline(__always)
  public static func isValid(_ span: RawSpan, at unit: UnitOffset) -> Bool {
    guard span.byteCount >= 4 else { return false }
    // The span is not empty, so it has an address, and its bytes are alive during the call.
    return unsafe span.withUnsafeBytes { bytes in
      unsafe shelfmark_has_valid_checksum(bytes.baseAddress.unsafelyUnwrapped, bytes.count, unit.rawValue) != 0
    }
  }

  /// Returns the header word (length and kind) of the object at the start of `span`, if the object's checksum is valid.
  ///
  /// - Returns: The header word; 0 if the checksum is wrong, or if the length is shorter than a header or longer than
  ///   `span`.
  @inlinable @inline(__always)
  public static func checkedHeader(_ span: RawSpan, at unit: UnitOffset) -> UInt32 {
    guard span.byteCount >= ObjectHeader.byteCount else { return 0 }
    // The span is not empty, so it has an address, and only its bytes are read.
    return unsafe span.withUnsafeBytes { bytes in
      unsafe shelfmark_checked_header(bytes.baseAddress.unsafelyUnwrapped, bytes.count, unit.rawValue)
    }
  }
}

extension KeyHash {
  /// Returns the hash of a row's offset, computed from its four bytes.
  @inlinable @inline(__always)
  public static func of(_ unit: UnitOffset, _ seed: HashSeed) -> UInt64 { of(unit.rawValue, seed) }
}
