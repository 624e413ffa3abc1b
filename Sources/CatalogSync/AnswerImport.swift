public import Catalog
import CatalogRows
public import CatalogWire
import LogStore

/// How an answer is taken.
public struct ImportOptions: Sendable {
  /// So many rows in one list of an increment call for a full update; `nil` for no limit.
  public var threshold: Int? = 1000
  /// What a full update may lose.
  public var gate = LossGate()
  /// How many rows of an answer may be skipped, or collapse into another row. `nil` makes a row that exceeds a limit of
  /// the format an error.
  public var rowGate: RowGate? = RowGate()
  /// What is refused although it could be read.
  public var limits = WireLimits()
  /// Whether an increment without rows that leaves the cursor where it is makes no commit.
  public var skipsUnchanged = false
  /// Whether a payload without envelope, base64 and gzip is taken too.
  public var allowsBarePayload = false

  public init() {}
}

/// What an import did.
public struct ImportReport: Sendable {
  public var update: UpdateReport
  public var payload: PayloadSummary
  /// What became of the compaction that may follow a commit. An import by itself makes none.
  public var compaction = CompactionOutcome.notDue
}

/// What became of a compaction that nobody called for.
public enum CompactionOutcome: Sendable {
  /// It would not have been worth it.
  case notDue
  case compacted
  /// It would have been worth it, and did not work. What was committed before is durable all the same: a warning.
  case failed(any Error)
}

/// One answer on its way into the catalogue: bytes go in as they arrive, a commit comes out.
///
/// A full update writes rows as they are decoded, and has the answer unpacked on a second thread; an increment keeps them
/// until the payload is whole, up to `Increment.byteLimit`. Of a full answer 16 bytes for each key of a row stay in memory.
/// An import that is dropped or fails changes nothing.
public struct AnswerImport: ~Copyable {
  private var full: FullUpdate?
  private var fullDecoder: ConcurrentResponseDecoder
  private var increment: Increment?
  private var incrementDecoder: ResponseDecoder
  private let isFull: Bool
  private let skipsUnchanged: Bool

  /// Begins an import.
  ///
  /// - Parameters:
  ///   - writer: of the catalogue.
  ///   - mode: `.full` writes a new generation, `.incremental` adds to what is there.
  ///   - options: what is refused.
  /// - Throws: `StoreError`, `WireError.outOfMemory`.
  public init(_ writer: CatalogWriter, _ mode: UpdateMode, _ options: ImportOptions = ImportOptions()) throws {
    precondition(mode == .full || mode == .incremental, "an answer is a full update or an increment")
    let isFull = mode == .full
    self.init(
      full: isFull ? try writer.beginFullUpdate(options.gate, rowGate: options.rowGate) : nil,
      fullDecoder: try ConcurrentResponseDecoder(limits: options.limits, allowsBarePayload: options.allowsBarePayload),
      increment: isFull ? nil : writer.beginIncrement(threshold: options.threshold, rowGate: options.rowGate),
      incrementDecoder: try ResponseDecoder(limits: options.limits, allowsBarePayload: options.allowsBarePayload),
      skipsUnchanged: options.skipsUnchanged)
  }

  private init(
    full: FullUpdate?, fullDecoder: consuming ConcurrentResponseDecoder, increment: Increment?,
    incrementDecoder: consuming ResponseDecoder, skipsUnchanged: Bool
  ) {
    isFull = full != nil
    self.full = full
    self.fullDecoder = fullDecoder
    self.increment = increment
    self.incrementDecoder = incrementDecoder
    self.skipsUnchanged = skipsUnchanged
  }

  /// How far the decoder has come.
  public var progress: WireProgress { isFull ? fullDecoder.progress : incrementDecoder.progress }

  /// Takes the next bytes of the answer.
  ///
  /// - Throws: `WireError` for what is wrong with the answer, `CatalogError` and `StoreError` for what the
  ///   catalogue refuses. The import is then over.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    do {
      if isFull {
        try fullDecoder.consume(bytes, into: &full!)
      } else {
        try incrementDecoder.consume(bytes, into: &increment!)
      }
    } catch {
      try giveUp(error)
    }
  }

  /// Ends the answer and commits it, the cursor with the rows.
  ///
  /// - Parameter willCommit: called when the answer is known to be good, before the commit begins.
  /// - Returns: what was done; it is durable.
  public mutating func finish(_ willCommit: () throws -> Void = {}) throws -> ImportReport {
    let summary: PayloadSummary
    do {
      if isFull {
        summary = try fullDecoder.finish(into: &full!)
      } else {
        summary = try incrementDecoder.finish()
      }
    } catch {
      try giveUp(error)
    }
    do {
      try full?.checkRows()
      try increment?.checkRows()
    } catch {
      cancel()
      throw error
    }
    try willCommit()
    let defaulted = summary.defaulted.total
    if let full {
      self.full = nil
      return ImportReport(
        update: try full.commit(cursor: summary.updateTime, defaulted: defaulted), payload: summary)
    }
    guard let increment else { preconditionFailure("an import is finished once") }
    self.increment = nil
    let update = try increment.commit(
      cursor: summary.updateTime, defaulted: defaulted, skipsUnchanged: skipsUnchanged)
    return ImportReport(update: update, payload: summary)
  }

  /// Gives the import up; nothing changed.
  public mutating func cancel() {
    full?.cancel()
    full = nil
  }

  /// Ends the import with what the catalogue said, where it was the catalogue, and not the answer, that failed. A row that
  /// has no room in the format is the answer's fault: its place is told.
  private mutating func giveUp(_ error: WireError) throws -> Never {
    cancel()
    throw error.cause
  }
}

extension WireError {
  /// What the catalogue said, where it was the catalogue, and not the answer, that failed; else this error. A row that
  /// has no room in the format is the answer's fault: its place is told.
  var cause: any Error {
    guard case .sinkFailed(let cause, _) = self else { return self }
    if case StoreError.tooLarge = cause { return self }
    return cause
  }
}
