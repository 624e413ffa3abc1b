import CShims

/// CRC-32C, the checksum of every structure in the file.
package enum Checksum {
  /// The checksum of `span`, going on from `crc`.
  @inlinable @inline(__always)
  package static func of(_ span: RawSpan, from crc: UInt32 = 0) -> UInt32 {
    // An empty span may have no address; the bytes of any other are the span's for the call.
    unsafe span.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return crc }
      return unsafe shelfmark_crc32c(crc, base, bytes.count)
    }
  }

  /// The checksum of an array's bytes.
  package static func of(_ bytes: [UInt8], from crc: UInt32 = 0) -> UInt32 {
    of(bytes.rawSpan, from: crc)
  }

  /// The state after the four bytes of `unit`: the salt of whatever stands at that unit offset.
  ///
  /// A block that was moved or swapped with another one then fails its check.
  @inlinable @inline(__always)
  package static func salt(_ unit: UnitOffset) -> UInt32 {
    // Four bytes of a local value.
    unsafe withUnsafeBytes(of: unit.rawValue.littleEndian) { bytes in
      unsafe shelfmark_crc32c(0, bytes.baseAddress!, 4)
    }
  }
}
