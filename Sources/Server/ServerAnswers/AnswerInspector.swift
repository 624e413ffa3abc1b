package import CatalogRows

/// The contents of a server's response, whether it is valid or not.
public struct AnswerContents: Sendable {
  /// The envelope's `message`, at most 200 characters; `nil` if it has none.
  public var message: String?
  /// The envelope's `code` as written; `nil` if it has none.
  public var code: String?
  /// Whether the response is a payload without envelope, base64 and gzip.
  public var isBare = false
  /// The size of the response in bytes.
  public var byteCount = 0
  /// The number of bytes of `data` after base64 decoding that were decompressed.
  public var compressedByteCount = 0
  /// The number of bytes of the payload that were decompressed.
  public var payloadByteCount = 0
  /// The payload's contents apart from its rows; `nil` if the payload is invalid.
  public var payload: PayloadSummary?
  /// The reason why the response is invalid; `nil` if it is valid.
  public var problem: WireError?

  /// Creates the contents of an empty answer.
  public init() {}
}

/// An inspector of a server's response as it arrives. It continues after errors that a client would stop at, for as
/// long as anything can be decompressed.
public struct AnswerInspector: ~Copyable {
  private var unpacker: ResponseUnpacker
  private var decoder: PayloadDecoder
  private var sink = DiscardedRows()
  /// An error in the envelope, base64 or gzip. Nothing can be decompressed after it.
  private var problem: WireError?
  /// An error in the payload. The rest of the payload is still passed on.
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

  /// Processes the next bytes of the response, and passes on the payload in them.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes of the response.
  ///   - body: Receives the next bytes of the payload, as the server wrote them.
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
      do throws(WireError) { try decoder.consume(chunk, compressedByteCount: packed, into: &sink) } catch {
        problem = error
      }
    }
  }

  /// Ends the response.
  ///
  /// - Returns: The contents of the response.
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
    contents.compressedByteCount = unpacker.compressedByteCount
    contents.payloadByteCount = unpacker.bytesUnpacked
    return contents
  }
}

/// A sink that discards every row.
package struct DiscardedRows: RowSink {
  package init() {}
  package mutating func product(_ row: borrowing ProductRow) {}
  package mutating func relation(_ row: borrowing RelationRow) {}
  package mutating func code(_ row: borrowing CodeRow) {}
}
