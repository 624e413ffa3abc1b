public import CatalogRows

/// A streaming decoder of a server's response into rows: envelope, base64, gzip, JSON.
///
///     var decoder = try ResponseDecoder()
///     while let chunk = … { try decoder.consume(chunk.span, into: &sink) }
///     let summary = try decoder.finish()
///
/// It runs both stages, ``ResponseUnpacker`` and ``PayloadDecoder``, on the caller's thread, and needs no other one.
/// ``ConcurrentResponseDecoder`` unpacks a large answer on a second one. ``AnswerInspector`` continues after errors.
///
/// Rows are passed to the sink as soon as they are complete, long before the response is known to be valid: checksums
/// come last, and `code` may follow `data`. A sink must be able to discard all rows it has received, and must do so if
/// any error is thrown. Only after ``finish()`` has returned may it keep the rows.
///
/// The result does not depend on how the response is divided into chunks. Only for a refused response may two things
/// depend on it: how many rows were passed to the sink before the error, and which of several errors is found first.
/// Memory does not grow with the response: it is limited by slices of 64 KiB in each stage and by the longest string or
/// number of the payload.
public struct ResponseDecoder: ~Copyable {
  private var unpacker: ResponseUnpacker
  private var payload: PayloadDecoder
  private var failure: WireError?

  /// Creates a decoder of one answer.
  ///
  /// - Parameters:
  ///   - limits: The limits above which a readable response is refused.
  ///   - allowsBarePayload: Whether to also accept a payload document without envelope, base64 and gzip.
  ///   - extraKeys: The keys of a product, other than the 25 and `extra`, whose values are kept in `extra`.
  /// - Throws: ``WireError/outOfMemory``.
  public init(
    limits: WireLimits = WireLimits(), allowsBarePayload: Bool = false, extraKeys: Set<String> = []
  ) throws(WireError) {
    unpacker = try ResponseUnpacker(limits: limits, allowsBarePayload: allowsBarePayload)
    payload = PayloadDecoder(limits: limits, extraKeys: extraKeys)
  }

  /// The decoder's progress.
  public var progress: WireProgress {
    var progress = WireProgress()
    progress.bytesIn = unpacker.bytesIn
    progress.bytesUnpacked = unpacker.bytesUnpacked
    progress.rows = payload.rowCount
    return progress
  }

  /// Decodes the next bytes of the response, and passes each completed row to `sink`.
  ///
  /// - Throws: ``WireError``; ``WireError/sinkFailed(_:row:)`` with the error that the sink throws. All later calls
  ///   throw the same error.
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

  /// Ends the response.
  ///
  /// - Returns: The payload's contents apart from its rows.
  /// - Throws: ``WireError`` if the response is incomplete or invalid.
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

  /// Connects the stages. The parts of the decoder are borrowed one by one.
  private static func run<Sink: RowSink>(
    _ unpacker: inout ResponseUnpacker, _ payload: inout PayloadDecoder, _ bytes: Span<UInt8>,
    _ sink: inout Sink
  ) throws(WireError) {
    try unpacker.unpack(bytes) { (chunk, packed) throws(WireError) in
      try payload.consume(chunk, compressedByteCount: packed, into: &sink)
    }
  }
}
