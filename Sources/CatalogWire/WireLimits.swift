/// What is refused although it could be read: the bounds on memory, time and disk that a hostile answer can
/// cost.
public struct WireLimits: Sendable, Equatable {
  /// Bytes to which `data` may unpack whatever its packed size; 256 MiB by default.
  public var unpackedByteCount: Int
  /// How many times its packed size `data` may unpack to beyond ``unpackedByteCount``; 100 by default, as no real
  /// catalogue compresses so well. The packed size is that of what has been unpacked so far, rounded up to 16 KiB.
  public var unpackedRatio: Int
  /// Bytes of payload that are refused in any case; more than 16 GiB by default.
  public var absoluteByteCount: Int
  /// Rows of both lists together whatever their packed size; 1,000,000 by default.
  public var rowCount: Int
  /// Packed bytes that there have to be for each row beyond ``rowCount``, counted from the first row on; 2 by default. A row
  /// with no more than an id of its own takes about eight. The packed size is taken as for ``unpackedRatio``; a bare
  /// payload, which is not packed, has only ``absoluteRowCount``.
  public var packedBytesPerRow: Int
  /// Rows of both lists together that are refused in any case; more than 50,000,000 by default. A full update keeps 16
  /// bytes for each key of each row in memory.
  public var absoluteRowCount: Int
  /// Bytes of `updateTime`, which is kept with every commit and sent with every request; 1024 by default.
  public var cursorByteCount: Int
  /// Levels of arrays and objects in the envelope and in the payload; 512 by default.
  public var nestingDepth: Int
  /// Bytes of one string or number, and of one line of rows; 64 MiB by default. `data` itself has no such
  /// limit.
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
