public import CatalogRows

/// Decodes a server's answer into rows as it arrives: envelope, base64, gunzip, JSON.
///
///     var decoder = try ResponseDecoder()
///     while let chunk = … { try decoder.consume(chunk.span, into: &sink) }
///     let summary = try decoder.finish()
///
/// Rows go to the sink as soon as they are complete, long before the answer is known to be good: checksums
/// come last, and `code` may follow `data`. A sink must be able to discard everything it got, and must do so
/// whenever anything is thrown. Only when ``finish()`` has returned may it keep the rows.
///
/// What is decoded and what is refused does not depend on how the answer is cut into chunks. Of a refused
/// answer two things may: how many rows went to the sink before, and which of several reasons is found first.
/// Memory does not grow with the answer: it is bounded by slices of 64 KiB in each stage and the longest
/// string or number of the payload.
public struct ResponseDecoder: ~Copyable {
  private var unpacker: ResponseUnpacker
  private var payload: PayloadDecoder
  private var failure: WireError?

  /// Creates a decoder of one answer.
  ///
  /// - Parameters:
  ///   - limits: What is refused although it could be read.
  ///   - allowsBarePayload: Whether a payload document without envelope, base64 and gzip is taken too.
  /// - Throws: ``WireError/outOfMemory``.
  public init(limits: WireLimits = WireLimits(), allowsBarePayload: Bool = false) throws(WireError) {
    unpacker = try ResponseUnpacker(limits: limits, allowsBarePayload: allowsBarePayload)
    payload = PayloadDecoder(limits: limits)
  }

  /// How far the decoder has come.
  public var progress: WireProgress {
    var progress = WireProgress()
    progress.bytesIn = unpacker.bytesIn
    progress.bytesUnpacked = unpacker.bytesUnpacked
    progress.rows = payload.rowCount
    return progress
  }

  /// Takes the next bytes of the answer and hands every row that they complete to `sink`.
  ///
  /// - Throws: ``WireError``, with ``WireError/sinkFailed(_:row:)`` around what the sink throws, and the same
  ///   one again from then on.
  public mutating func consume<Sink: RowSink>(
    _ bytes: Span<UInt8>, into sink: inout Sink
  ) throws(WireError) {
    if let failure { throw failure }
    do {
      try Self.run(&unpacker, &payload, bytes, &sink)
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the answer.
  ///
  /// - Returns: What the payload held apart from its rows.
  /// - Throws: ``WireError`` if the answer is not complete, or is refused as a whole.
  public mutating func finish() throws(WireError) -> PayloadSummary {
    if let failure { throw failure }
    do {
      try unpacker.finish()
      var summary = try payload.finish()
      summary.bytesIn = unpacker.bytesIn
      return summary
    } catch {
      failure = error
      throw error
    }
  }

  /// Joins the stages; the parts of the decoder are borrowed one by one.
  private static func run<Sink: RowSink>(
    _ unpacker: inout ResponseUnpacker, _ payload: inout PayloadDecoder, _ bytes: Span<UInt8>,
    _ sink: inout Sink
  ) throws(WireError) {
    try unpacker.unpack(bytes) { (chunk, packed) throws(WireError) in
      try payload.consume(chunk, packedByteCount: packed, into: &sink)
    }
  }
}
