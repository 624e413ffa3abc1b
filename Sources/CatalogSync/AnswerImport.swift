public import Catalog
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

  /// Creates options with the protocol's threshold of 1,000 rows and the default limits.
  public init() {}
}

/// What an import did.
public struct ImportReport: Sendable {
  /// The changes to the catalogue and the commit that contains them.
  public var update: UpdateReport
  /// The row counts, defaulted fields and size of the payload.
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
  /// What the answer is decoded into.
  private enum Stage: ~Copyable {
    case full(IncomingFullUpdate)
    case increment(IncomingIncrement)
    /// The import was finished, cancelled, or failed.
    case over
  }

  private var stage: Stage
  /// How far the decoder has come.
  public private(set) var progress = WireProgress()

  /// Begins an import.
  ///
  /// - Parameters:
  ///   - writer: of the catalogue.
  ///   - mode: `.full` writes a new generation, `.incremental` adds to what is there.
  ///   - options: what is refused.
  /// - Throws: `StoreError`, `WireError.outOfMemory`.
  public init(_ writer: CatalogWriter, _ mode: UpdateMode, _ options: ImportOptions = ImportOptions()) throws {
    precondition(mode == .full || mode == .incremental, "an answer is a full update or an increment")
    stage =
      mode == .full
      ? .full(try IncomingFullUpdate(writer, options)) : .increment(try IncomingIncrement(options, for: writer))
  }

  /// Takes the next bytes of the answer.
  ///
  /// - Throws: `WireError` for what is wrong with the answer, `CatalogError` and `StoreError` for what the
  ///   catalogue refuses. The import is then over.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    switch takeStage() {
    case .full(var update):
      try update.consume(bytes)
      progress = update.progress
      stage = .full(update)
    case .increment(var increment):
      try increment.consume(bytes)
      progress = increment.progress
      stage = .increment(increment)
    case .over: preconditionFailure("an import that is over takes no bytes")
    }
  }

  /// Ends the answer and commits it, the cursor with the rows.
  ///
  /// - Parameter willCommit: called when the answer is known to be good, before the commit begins.
  /// - Returns: what was done; it is durable.
  public mutating func finish(_ willCommit: () throws -> Void = {}) throws -> ImportReport {
    switch takeStage() {
    case .full(var update):
      let summary = try update.finish(willCommit)
      progress = update.progress
      return try update.commit(summary)
    case .increment(var increment):
      let summary = try increment.finish()
      progress = increment.progress
      try increment.checkRows()
      try willCommit()
      return try increment.commit(summary)
    case .over: preconditionFailure("an import is finished once")
    }
  }

  /// Gives the import up; nothing changed.
  public mutating func cancel() {
    if case .full(let update) = takeStage() { update.cancel() }
  }

  private mutating func takeStage() -> Stage {
    var taken = Stage.over
    swap(&taken, &stage)
    return taken
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
