public import CChecksum

/// CRC-32C (Castagnoli), the checksum of every structure that this package stores.
public enum Checksum {
  /// Returns the checksum of `span`, continued from `crc`.
  @inlinable @inline(__always)
  public static func of(_ span: RawSpan, from crc: UInt32 = 0) -> UInt32 {
    // An empty span may have no address. Any other span keeps its bytes alive during the call.
    unsafe span.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return crc }
      return unsafe shelfmark_crc32c(crc, base, bytes.count)
    }
  }

  /// Returns the checksum of an array's bytes, continued from `crc`.
  package static func of(_ bytes: [UInt8], from crc: UInt32 = 0) -> UInt32 {
    of(bytes.rawSpan, from: crc)
  }
}
