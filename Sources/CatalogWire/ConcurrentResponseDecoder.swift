public import CatalogRows

/// A ``ResponseDecoder`` that unpacks on a second thread while the caller's parses and stores: for answers of a megabyte
/// and more.
///
/// What is decoded and what is refused is the same. Rows come on the caller's thread, some of them only in
/// ``finish(into:)``. Memory: besides that of the stages some twenty pieces of at most 128 KiB between them.
public struct ConcurrentResponseDecoder: ~Copyable {
  private static let pieceByteCount = 64 << 10
  /// So many pieces of the answer may wait before the caller does.
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
  ///   - limits: What is refused although it could be read.
  ///   - allowsBarePayload: Whether a payload document without envelope, base64 and gzip is taken too.
  /// - Throws: ``WireError/outOfMemory``.
  public init(limits: WireLimits = WireLimits(), allowsBarePayload: Bool = false) throws(WireError) {
    thread = try UnpackingThread(limits: limits, allowsBarePayload: allowsBarePayload)
    payload = PayloadDecoder(limits: limits)
  }

  /// How far the decoder has come.
  public var progress: WireProgress {
    var progress = WireProgress()
    progress.bytesIn = bytesIn
    progress.bytesUnpacked = bytesUnpacked
    progress.rows = payload.rowCount
    return progress
  }

  /// Takes the next bytes of the answer and hands the rows that are complete by now to `sink`.
  ///
  /// - Throws: as ``ResponseDecoder/consume(_:into:)``.
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

  /// Ends the answer, and hands the rows to `sink` that are still on their way.
  ///
  /// - Returns: What the payload held apart from its rows.
  /// - Throws: ``WireError`` if the answer is not complete, or is refused as a whole.
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

  /// Takes what comes next from the thread; false behind the end.
  private mutating func receive<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> Bool {
    do throws(WireError) {
      switch thread.receive() {
      case .payload(let bytes, let packed):
        try payload.consume(bytes.span, packedByteCount: packed, into: &sink)
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
