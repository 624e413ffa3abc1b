/// Limits above which a tokenizer refuses a valid document.
public struct JSONLimits: Sendable, Equatable {
  /// The maximum nesting depth of arrays and objects.
  public var nestingDepth: Int
  /// The maximum length in bytes of one string (with its quotes, before unescaping) or number.
  public var tokenByteCount: Int

  /// Creates limits, neither of which may be negative. By default a document may have 512 levels and tokens of 64 MiB.
  public init(nestingDepth: Int = 512, tokenByteCount: Int = 64 << 20) {
    precondition(nestingDepth >= 0, "nestingDepth must not be negative")
    precondition(tokenByteCount >= 0, "tokenByteCount must not be negative")
    self.nestingDepth = nestingDepth
    self.tokenByteCount = tokenByteCount
  }
}
