public import CatalogRows

/// A ``ResponseDecoder`` that decompresses on a second thread while the caller's thread parses and stores, for
/// responses of a megabyte and more.
///
/// It accepts the same responses and decodes them to the same rows. Rows are passed on the caller's thread, some of
/// them only in ``finish(into:)``. Memory: that of the stages, and about twenty pieces of at most 128 KiB between them.
public struct ConcurrentResponseDecoder: ~Copyable {
  private static let pieceByteCount = 64 << 10
  /// The number of pieces of the response that may be pending before the caller waits.
  private static let piecesAhead = UnpackingThread.inputCapacity - 1

  private let thread: UnpackingThread
  private var payload: PayloadDecoder
  private var failure: WireError?
  private var piecesWaiting = 0
  private var bytesIn = 0
  private var bytesUnpacked = 0

  /// Creates a decoder of one answer, which is unpacked on a thread of its own.
  ///
  /// - Parameters:
  ///   - limits: The limits above which a readable response is refused.
  ///   - allowsBarePayload: Whether to also accept a payload document without envelope, base64 and gzip.
  ///   - extraKeys: The keys of a product, other than the 25 and `extra`, whose values are kept in `extra`.
  /// - Throws: ``WireError/outOfMemory``.
  public init(
    limits: WireLimits = WireLimits(), allowsBarePayload: Bool = false, extraKeys: Set<String> = []
  ) throws(WireError) {
    thread = try UnpackingThread(limits: limits, allowsBarePayload: allowsBarePayload)
    payload = PayloadDecoder(limits: limits, extraKeys: extraKeys)
  }

  /// The decoder's progress.
  public var progress: WireProgress {
    var progress = WireProgress()
    progress.bytesIn = bytesIn
    progress.bytesUnpacked = bytesUnpacked
    progress.rows = payload.rowCount
    return progress
  }

  /// Decodes the next bytes of the response, and passes the rows that are complete by now to `sink`.
  ///
  /// - Throws: The errors of ``ResponseDecoder/consume(_:into:)``.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    if let failure { throw failure }
    var start = 0
    while start < bytes.count {
      let stop = min(bytes.count, start + Self.pieceByteCount)
      var piece: [UInt8] = []
      piece.append(copying: bytes.extracting(start..<stop))
      thread.send(piece)
      piecesWaiting += 1
      start = stop
      while piecesWaiting > Self.piecesAhead { _ = try receive(into: &sink) }
    }
  }

  /// Ends the response, and passes the remaining rows to `sink`.
  ///
  /// - Returns: The payload's contents apart from its rows.
  /// - Throws: ``WireError`` if the response is incomplete or invalid.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> PayloadSummary {
    if let failure { throw failure }
    thread.send([])
    while try receive(into: &sink) {}
    do throws(WireError) {
      var summary = try payload.finish()
      summary.bytesIn = bytesIn
      return summary
    } catch {
      failure = error
      throw error
    }
  }

  /// Processes the next output of the thread; returns `false` at the end.
  private mutating func receive<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> Bool {
    do throws(WireError) {
      switch thread.receive() {
      case .payload(let bytes, let packed):
        try payload.consume(bytes.span, compressedByteCount: packed, into: &sink)
        return true
      case .taken(let bytesIn, let bytesUnpacked):
        piecesWaiting -= 1
        self.bytesIn = bytesIn
        self.bytesUnpacked = bytesUnpacked
        return true
      case .ended(let problem):
        if let problem { throw problem }
        return false
      }
    } catch {
      failure = error
      throw error
    }
  }
}
