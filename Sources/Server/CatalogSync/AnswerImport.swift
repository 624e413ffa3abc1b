public import Catalog
import LogStore
public import ServerAnswers

/// Options for importing a response.
public struct ImportOptions: Sendable {
  /// The number of rows in one list of an increment from which a full update is required; `nil` for no limit.
  public var threshold: Int? = 1000
  /// The limit on products, and on codes, that a full update may remove.
  public var lossLimit = LossLimit()
  /// The limit on rows of a response that may be skipped, or collapse into another row. With `nil`, a row that exceeds
  /// a limit of the format is an error.
  public var rowLimits: RowLimits? = RowLimits()
  /// The limits above which a readable response is refused.
  public var limits = WireLimits()
  /// Whether to skip the commit for an increment without rows whose cursor is unchanged.
  public var skipsUnchanged = false
  /// Whether to also accept a payload without envelope, base64 and gzip.
  public var allowsBarePayload = false
  /// The keys of a product, other than its fields, whose values are kept in `extra`. Values under all other keys are
  /// skipped. A key that names a field has no effect; see ``isField(_:)``.
  public var extraKeys: Set<String> = []

  /// Creates options with the protocol's threshold of 1,000 rows and the default limits.
  public init() {}

  /// Whether a product of a payload has a field with this key, which is read whatever ``extraKeys`` says: one of the 25,
  /// or `extra` itself.
  public static func isField(_ key: String) -> Bool { PayloadDecoder.isField(key) }
}

/// The result of an import.
public struct ImportReport: Sendable {
  /// The changes to the catalogue and the commit that contains them.
  public var update: UpdateReport
  /// The row counts, defaulted fields and size of the payload.
  public var payload: PayloadSummary
  /// The outcome of the automatic compaction that may follow a commit. An import alone never compacts.
  public var compaction = CompactionOutcome.notDue

  /// Creates the report of an import without a compaction.
  package init(update: UpdateReport, payload: PayloadSummary) {
    self.update = update
    self.payload = payload
  }
}

/// The outcome of an automatic compaction.
public enum CompactionOutcome: Sendable {
  /// Compaction was not worthwhile.
  case notDue
  case compacted
  /// Compaction was worthwhile but failed. The commits before it are durable nevertheless, so this is a warning.
  case failed(any Error)
}

/// An import of one response into the catalogue: it consumes bytes as they arrive and produces a commit.
///
/// A full update writes rows as they are decoded, and decompresses the response on a second thread. An increment keeps
/// its rows in memory until the payload is complete, up to `Increment.byteLimit`. A full update keeps 16 bytes in
/// memory for each key of a row. An import that is dropped or fails changes nothing.
///
/// An import is for an answer that is there. It holds the lock of the catalogue, so ``Synchronizer`` begins one only
/// when a full answer has arrived, as a ``ReceivedAnswer``. It keeps the rows of an increment without a lock, and
/// commits them when they are complete.
public struct AnswerImport: ~Copyable {
  /// The destination of decoded rows.
  private enum Stage: ~Copyable {
    case full(IncomingFullUpdate)
    case increment(IncomingIncrement)
    /// The import was finished, was cancelled, or failed.
    case over
  }

  private var stage: Stage
  /// The decoder's progress.
  public private(set) var progress = WireProgress()

  /// Begins an import.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue.
  ///   - mode: The mode: `.full` writes a new generation, `.incremental` adds to the existing one.
  ///   - options: The options, with the limits of what is accepted.
  /// - Throws: `StoreError`, `WireError.outOfMemory`.
  public init(_ writer: CatalogWriter, _ mode: UpdateMode, _ options: ImportOptions = ImportOptions()) throws {
    precondition(mode == .full || mode == .incremental, "an answer is a full update or an increment")
    stage =
      mode == .full
      ? .full(try IncomingFullUpdate(writer, options)) : .increment(try IncomingIncrement(options, for: writer))
  }

  /// Consumes the next bytes of the response.
  ///
  /// - Throws: `WireError` if the response is invalid; `CatalogError` and `StoreError` if the catalogue refuses it. The
  ///   import has then ended.
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

  /// Ends the response and commits it, rows and cursor together.
  ///
  /// - Parameter willCommit: Called when the response is known to be valid, before the commit begins.
  /// - Returns: The report of the import, which is durable.
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

  /// Cancels the import, which has changed nothing.
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
  /// The catalogue's error, if the catalogue failed and not the response; otherwise this error. A row that exceeds a
  /// limit of the format is the response's fault, so its position is reported.
  var cause: any Error {
    guard case .sinkFailed(let cause, _) = self else { return self }
    if case StoreError.tooLarge = cause { return self }
    return cause
  }
}
