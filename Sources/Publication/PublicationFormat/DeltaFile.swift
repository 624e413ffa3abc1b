import Bytes
package import Zstd

/// The entries that differ between two states, as one file: final rows, which replace whatever a catalogue has of the
/// same ids.
package enum DeltaFile {
  private static let magic: [UInt8] = Array("SMPD".utf8)
  private static let version: UInt8 = 1

  /// Returns the file of groups.
  ///
  /// - Parameter level: zstd's level, 1 to 19.
  package static func bytes(from: UInt64, to: UInt64, groups: [[UInt8]], level: Int) throws(ZstdError) -> [UInt8] {
    let compressor = try ZstdCompressor(level: level)
    var writer = ByteWriter()
    writer.put(magic)
    writer.put(version)
    writer.putVariable(from)
    writer.putVariable(to)
    writer.putVariable(UInt64(groups.count))
    for group in groups {
      let packed = try compressor.compress(group)
      writer.putVariable(UInt64(packed.count))
      writer.put(packed)
    }
    return writer.bytes
  }

  /// Reads the groups of a file, and passes each on.
  ///
  /// - Throws: ``PublicationError``; `ZstdError`; the errors of `body`.
  package static func forEachGroup(
    of bytes: [UInt8], from: UInt64, to: UInt64, _ body: (RowGroupReader) throws -> Void
  ) throws {
    var reader = ByteReader(bytes.rawSpan)
    guard reader.bytes(4) == magic, reader.u8() == version else {
      throw PublicationError.damaged("the delta is none, or has an unknown version")
    }
    guard reader.variable() == from, reader.variable() == to else {
      throw PublicationError.damaged("the delta leads between other states than the head says")
    }
    guard let count = reader.count(upTo: 1 << 20) else { throw PublicationError.damaged("the delta is cut off") }
    let decompressor = try ZstdDecompressor()
    for _ in 0..<count {
      guard let length = reader.count(upTo: RowGroup.byteLimit), let packed = reader.bytes(length) else {
        throw PublicationError.damaged("the delta is cut off")
      }
      try body(RowGroupReader(decompressor.decompress(packed, limit: RowGroup.byteLimit)))
    }
    guard reader.remaining == 0 else { throw PublicationError.damaged("the delta has bytes too many") }
  }
}
