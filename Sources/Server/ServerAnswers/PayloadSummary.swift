/// The contents of a payload apart from its rows.
public struct PayloadSummary: Sendable, Equatable {
  /// The number of rows of `appProductVOList`.
  public var products = 0
  /// The number of rows of `appProductRelVOList`.
  public var relations = 0
  /// The number of rows of `appProductCodeVOList`.
  public var codes = 0
  /// Whether the payload has the list `appProductCodeVOList`, which may be empty. A payload without it says nothing about
  /// codes.
  public var hasCodes = false
  /// The cursor to send with the next request.
  public var updateTime = ""
  /// The fields that got their default value because of a wrong type.
  public var defaulted = DefaultedFields()
  /// The number of unpaired surrogates in texts, which were read as U+FFFD.
  public var replacedSurrogates = 0
  /// The size of the response in bytes, as received.
  public var bytesIn = 0
  /// The size of the payload in bytes after base64 decoding and decompression; for a bare payload, its own size.
  public var bytesUnpacked = 0

  /// The number of rows of all lists.
  public var rows: Int { products + relations + codes }

  /// Creates the summary of an empty payload.
  public init() {}
}

/// A decoder's progress.
public struct WireProgress: Sendable, Equatable {
  /// The number of bytes of the response received so far.
  public var bytesIn = 0
  /// The number of bytes of the payload so far.
  public var bytesUnpacked = 0
  /// The number of rows of all lists passed to the sink so far.
  public var rows = 0

  /// Creates the progress of a decoder that has received nothing yet.
  public init() {}
}
