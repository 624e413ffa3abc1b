package import CatalogRows

/// What a server's answer contains, be it good or refused.
public struct AnswerContents: Sendable {
  /// The envelope's `message`, 200 characters at most; `nil` if it has none.
  public var message: String?
  /// The envelope's `code` as it is written; `nil` if it has none.
  public var code: String?
  /// Whether it is a payload without envelope, base64 and gzip.
  public var isBare = false
  /// Bytes of the answer.
  public var byteCount = 0
  /// Bytes of `data` after base64, as far as they were unpacked.
  public var packedByteCount = 0
  /// Bytes of the payload after gunzip, as far as it was unpacked.
  public var payloadByteCount = 0
  /// What the payload holds apart from its rows; `nil` if it is refused.
  public var payload: PayloadSummary?
  /// Why the answer is refused; `nil` if it is good.
  public var problem: WireError?

  /// Creates the contents of an empty answer.
  public init() {}
}

/// Looks into a server's answer as it arrives, and goes on where a client would refuse it, as far as something can be
/// unpacked.
public struct AnswerInspector: ~Copyable {
  private var unpacker: ResponseUnpacker
  private var decoder: PayloadDecoder
  private var sink = DiscardedRows()
  /// Why the envelope, base64 or gzip is refused: nothing can be unpacked after that.
  private var problem: WireError?
  /// Why the payload is refused. The rest of it is handed over all the same.
  private var payloadProblem: WireError?
  private var byteCount = 0

  /// Creates an inspector of one answer.
  ///
  /// - Parameter limits: What is refused although it could be read.
  /// - Throws: ``WireError/outOfMemory``.
  public init(limits: WireLimits = WireLimits()) throws(WireError) {
    unpacker = try ResponseUnpacker(limits: limits, allowsBarePayload: true)
    decoder = PayloadDecoder(limits: limits)
  }

  /// Takes the next bytes of the answer, and hands over the payload that they hold.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes of the answer.
  ///   - body: Takes the next bytes of the payload, as the server wrote them.
  public mutating func consume(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
    byteCount += bytes.count
    if problem != nil { return }
    do throws(WireError) {
      try Self.run(&unpacker, &decoder, &sink, &payloadProblem, bytes, body)
    } catch {
      problem = error
    }
  }

  private static func run(
    _ unpacker: inout ResponseUnpacker, _ decoder: inout PayloadDecoder, _ sink: inout DiscardedRows,
    _ problem: inout WireError?, _ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Void
  ) throws(WireError) {
    try unpacker.unpack(bytes) { (chunk, packed) throws(WireError) in
      body(chunk)
      if problem != nil { return }
      do throws(WireError) { try decoder.consume(chunk, packedByteCount: packed, into: &sink) } catch {
        problem = error
      }
    }
  }

  /// Ends the answer.
  ///
  /// - Returns: What it contains.
  public mutating func finish() -> AnswerContents {
    var contents = AnswerContents()
    if problem == nil {
      do throws(WireError) { try unpacker.finish() } catch { problem = error }
    }
    if problem == nil, payloadProblem == nil {
      do throws(WireError) { contents.payload = try decoder.finish() } catch { payloadProblem = error }
    }
    contents.problem = problem ?? payloadProblem
    contents.message = unpacker.message
    contents.code = unpacker.code
    contents.isBare = unpacker.isBare
    contents.byteCount = byteCount
    contents.packedByteCount = unpacker.packedByteCount
    contents.payloadByteCount = unpacker.bytesUnpacked
    return contents
  }
}

/// A sink that drops every row.
package struct DiscardedRows: RowSink {
  package init() {}
  package mutating func product(_ row: borrowing ProductRow) {}
  package mutating func relation(_ row: borrowing RelationRow) {}
}
