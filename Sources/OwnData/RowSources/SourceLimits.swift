/// Limits above which a compressed file is refused.
package struct SourceLimits: Sendable, Equatable {
  /// The number of bytes that a file may decompress to, whatever its compressed size.
  package var unpackedByteCount: Int
  /// The compression ratio that a file may have above ``unpackedByteCount``.
  package var unpackedRatio: Int
  /// The maximum size of the decompressed file in bytes in any case.
  package var absoluteByteCount: Int

  /// Creates limits.
  package init(unpackedByteCount: Int = 256 << 20, unpackedRatio: Int = 100, absoluteByteCount: Int = 16 << 30) {
    self.unpackedByteCount = unpackedByteCount
    self.unpackedRatio = unpackedRatio
    self.absoluteByteCount = absoluteByteCount
  }

  /// - Throws: `SourceError.unpacksTooLarge`.
  func check(unpacked: Int, packed: Int) throws(SourceError) {
    let (ratioLimit, overflow) = packed.multipliedReportingOverflow(by: unpackedRatio)
    if unpacked > absoluteByteCount || unpacked > unpackedByteCount && !overflow && unpacked > ratioLimit {
      throw .unpacksTooLarge(unpacked: unpacked, packed: packed, limit: min(unpackedByteCount, absoluteByteCount))
    }
  }
}
