package import Gzip

/// Limits above which a readable response is refused. They bound the memory, time and disk space that a malicious
/// response can cost.
public struct WireLimits: Sendable, Equatable {
  /// The number of bytes that `data` may decompress to, whatever its compressed size; 256 MiB by default.
  public var unpackedByteCount: Int
  /// The compression ratio that `data` may have above ``unpackedByteCount``; 100 by default, because no real catalogue
  /// compresses that well. The compressed size is the size of the bytes decompressed so far, rounded up to 16 KiB.
  public var unpackedRatio: Int
  /// The maximum size of the payload in bytes in any case; more than 16 GiB is refused by default.
  public var absoluteByteCount: Int
  /// The number of rows of all lists together that are allowed whatever their compressed size; 1,000,000 by default.
  public var rowCount: Int
  /// The minimum number of compressed bytes per row if there are more than ``rowCount``, counted from the first row; 2
  /// by default. A row with only an id of its own takes about eight. The compressed size is computed as for
  /// ``unpackedRatio``. A bare payload, which is not compressed, is limited only by ``absoluteRowCount``.
  public var packedBytesPerRow: Int
  /// The maximum number of rows of all lists together in any case; more than 50,000,000 are refused by default. A full
  /// update keeps 16 bytes in memory for each key of each row.
  public var absoluteRowCount: Int
  /// The maximum size in bytes of `updateTime`, which is stored with every commit and sent with every request; 1024 by
  /// default.
  public var cursorByteCount: Int
  /// The maximum nesting depth of arrays and objects in the envelope and in the payload; 512 by default.
  public var nestingDepth: Int
  /// The maximum size in bytes of one string or number, and of one line of rows; 64 MiB by default. `data` itself has
  /// no such limit.
  public var tokenByteCount: Int

  /// Creates limits. Each parameter has the default that its property documents.
  public init(
    unpackedByteCount: Int = 256 << 20,
    unpackedRatio: Int = 100,
    absoluteByteCount: Int = 16 << 30,
    rowCount: Int = 1_000_000,
    packedBytesPerRow: Int = 2,
    absoluteRowCount: Int = 50_000_000,
    cursorByteCount: Int = 1024,
    nestingDepth: Int = 512,
    tokenByteCount: Int = 64 << 20
  ) {
    precondition(unpackedByteCount >= 0 && unpackedRatio >= 0, "the limits must not be negative")
    precondition(absoluteByteCount >= 0 && tokenByteCount >= 0, "the limits must not be negative")
    precondition(rowCount >= 0 && packedBytesPerRow >= 0, "the limits must not be negative")
    precondition(absoluteRowCount >= 0 && cursorByteCount >= 0, "the limits must not be negative")
    precondition(nestingDepth >= 0, "the limits must not be negative")
    self.unpackedByteCount = unpackedByteCount
    self.unpackedRatio = unpackedRatio
    self.absoluteByteCount = absoluteByteCount
    self.rowCount = rowCount
    self.packedBytesPerRow = packedBytesPerRow
    self.absoluteRowCount = absoluteRowCount
    self.cursorByteCount = cursorByteCount
    self.nestingDepth = nestingDepth
    self.tokenByteCount = tokenByteCount
  }
}

extension WireLimits {
  /// Those of decompression.
  package var gzip: GzipInflater.Limits {
    GzipInflater.Limits(byteCount: unpackedByteCount, ratio: unpackedRatio, absoluteByteCount: absoluteByteCount)
  }
}
