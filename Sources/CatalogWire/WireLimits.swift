/// What is refused although it could be read: the bounds on memory, time and disk that a hostile answer can
/// cost.
public struct WireLimits: Sendable, Equatable {
  /// Bytes to which `data` may unpack whatever its packed size; 256 MiB by default.
  public var unpackedByteCount: Int
  /// How many times its packed size (of what has been unpacked so far) `data` may unpack to beyond
  /// ``unpackedByteCount``; 100 by default, as no real catalogue compresses so well.
  public var unpackedRatio: Int
  /// Bytes of payload that are refused in any case; more than 16 GiB by default.
  public var absoluteByteCount: Int
  /// Levels of arrays and objects in the envelope and in the payload; 512 by default.
  public var nestingDepth: Int
  /// Bytes of one string or number, and of one line of rows; 64 MiB by default. `data` itself has no such
  /// limit.
  public var tokenByteCount: Int

  public init(
    unpackedByteCount: Int = 256 << 20,
    unpackedRatio: Int = 100,
    absoluteByteCount: Int = 16 << 30,
    nestingDepth: Int = 512,
    tokenByteCount: Int = 64 << 20
  ) {
    precondition(unpackedByteCount >= 0 && unpackedRatio >= 0, "the limits must not be negative")
    precondition(absoluteByteCount >= 0 && tokenByteCount >= 0, "the limits must not be negative")
    precondition(nestingDepth >= 0, "the limits must not be negative")
    self.unpackedByteCount = unpackedByteCount
    self.unpackedRatio = unpackedRatio
    self.absoluteByteCount = absoluteByteCount
    self.nestingDepth = nestingDepth
    self.tokenByteCount = tokenByteCount
  }
}
