/// What a payload held, apart from its rows.
public struct PayloadSummary: Sendable, Equatable {
  /// Rows of `appProductVOList`.
  public var products = 0
  /// Rows of `appProductRelVOList`.
  public var relations = 0
  /// The cursor that the next request sends back.
  public var updateTime = ""
  /// Fields that took their default for the wrong type.
  public var defaulted = DefaultedFields()
  /// Halves of surrogate pairs in texts, read as U+FFFD.
  public var replacedSurrogates = 0
  /// Bytes of the answer as received.
  public var bytesIn = 0
  /// Bytes of the payload after base64 and gunzip; of a bare payload its own.
  public var bytesUnpacked = 0

  /// Creates the summary of an empty payload.
  public init() {}
}

/// How far a decoder has come.
public struct WireProgress: Sendable, Equatable {
  /// Bytes of the answer as received.
  public var bytesIn = 0
  /// Bytes of payload so far.
  public var bytesUnpacked = 0
  /// Rows of both lists that went to the sink.
  public var rows = 0

  /// Creates the progress of a decoder that has received nothing yet.
  public init() {}
}
