/// What a tokenizer refuses although the grammar allows it.
public struct JSONLimits: Sendable, Equatable {
  /// Levels of arrays and objects; one more is refused.
  public var nestingDepth: Int
  /// Length in bytes of one string (with its quotes, before unescaping) or number; one more is refused.
  public var tokenByteCount: Int

  /// Creates limits, neither of which may be negative. By default a document may have 512 levels and tokens of 64 MiB.
  public init(nestingDepth: Int = 512, tokenByteCount: Int = 64 << 20) {
    precondition(nestingDepth >= 0, "nestingDepth must not be negative")
    precondition(tokenByteCount >= 0, "tokenByteCount must not be negative")
    self.nestingDepth = nestingDepth
    self.tokenByteCount = tokenByteCount
  }
}
