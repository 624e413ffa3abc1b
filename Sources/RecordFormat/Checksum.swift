import CShims

/// CRC-32C, the checksum of every structure in the file.
public enum Checksum {
  /// The checksum of `span`, going on from `crc`.
  @inlinable @inline(__always)
  public static func of(_ span: RawSpan, from crc: UInt32 = 0) -> UInt32 {
    // An empty span may have no address; the bytes of any other are the span's for the call.
    unsafe span.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return crc }
      return unsafe shelfmark_crc32c(crc, base, bytes.count)
    }
  }

  /// Whether `span` carries its checksum in its first four bytes, salted with the unit at which it stands: the check of
  /// objects and buckets.
  @inlinable @inline(__always)
  public static func isValid(_ span: RawSpan, at unit: UnitOffset) -> Bool {
    guard span.byteCount >= 4 else { return false }
    // The span is not empty, so it has an address; its bytes are there for the call.
    return unsafe span.withUnsafeBytes { bytes in
      unsafe shelfmark_is_whole(bytes.baseAddress.unsafelyUnwrapped, bytes.count, unit.rawValue) != 0
    }
  }

  /// The second word of the object with which `span` begins, which tells its length and kind, if it carries its checksum as
  /// above; 0 if it does not, or if its length is shorter than a header or longer than `span`.
  @inlinable @inline(__always)
  public static func headerOfWhole(_ span: RawSpan, at unit: UnitOffset) -> UInt32 {
    guard span.byteCount >= ObjectHeader.byteCount else { return 0 }
    // The span is not empty, so it has an address; no more of its bytes are read than it has.
    return unsafe span.withUnsafeBytes { bytes in
      unsafe shelfmark_whole_object(bytes.baseAddress.unsafelyUnwrapped, bytes.count, unit.rawValue)
    }
  }

  /// The checksum of an array's bytes.
  public static func of(_ bytes: [UInt8], from crc: UInt32 = 0) -> UInt32 {
    of(bytes.rawSpan, from: crc)
  }

  /// The state after the four bytes of `unit`: the salt of whatever stands at that unit offset.
  ///
  /// A block that was moved or swapped with another one then fails its check.
  @inlinable @inline(__always)
  public static func salt(_ unit: UnitOffset) -> UInt32 {
    // Four bytes of a local value.
    unsafe withUnsafeBytes(of: unit.rawValue.littleEndian) { bytes in
      unsafe shelfmark_crc32c(0, bytes.baseAddress!, 4)
    }
  }
}
