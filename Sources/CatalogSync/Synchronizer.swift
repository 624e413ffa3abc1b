public import Catalog
import CatalogWire
public import LogStore

/// Asks a server for what is later than a cursor, and hands its answer over as it arrives.
public protocol CatalogTransport {
  /// Fetches an answer, folding it into a state that is made anew for each attempt; the state of an attempt that
  /// failed is dropped.
  ///
  /// - Returns: the state that took the whole answer.
  nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State
}

/// How far a synchronisation has come.
public struct SyncProgress: Sendable, Equatable {
  /// The step that a synchronisation has reached.
  public enum Phase: Sendable {
    /// The answer arrives; the catalogue is not locked.
    case receiving
    /// A full answer that is there is decoded, and its rows are written.
    case importing
    case committing, done
  }

  /// The current step.
  public var phase = Phase.receiving
  /// The kind of update: incremental until a full update turns out to be necessary.
  public var mode: UpdateMode
  /// Bytes of the answer that arrived.
  public var bytesReceived = 0
  /// Bytes of a full answer that were decoded since.
  public var bytesImported = 0
  /// Rows that were decoded; those of a full update are written at once.
  public var rowsDecoded = 0
  /// Rows that are in the catalogue, durable.
  public var rowsWritten = 0

  /// Creates the progress of an update that has received nothing yet.
  public init(mode: UpdateMode) { self.mode = mode }
}

/// One step of the protocol: an increment where that is enough, a full update where it is not.
///
/// Cursor empty: full update. Cursor set: increment; if either list of the answer reaches the threshold, a second
/// request with an empty cursor and a full update. The old catalogue serves, and its cursor stays, until the new one is
/// durable.
///
/// The catalogue is locked when the answer is there, not before: a server that hangs keeps no other writer waiting.
/// Until then an increment is kept in memory, and a full answer in a file next to the catalogue. If another process
/// moved the cursor meanwhile, the increment is not what the catalogue lacks, and the server is asked again.
public struct Synchronizer<Transport: CatalogTransport> {
  /// How often the server is asked for an increment while other processes move the cursor.
  static var maximumTries: Int { 3 }

  /// The connection to the server that fetches each answer.
  public var transport: Transport
  /// How answers are imported. By default an answer without changes makes no commit.
  public var options = ImportOptions()
  /// When the catalogue is compacted after the commit, before ``run(_:full:onCommit:)`` returns.
  public var compaction = CompactionPolicy.standard
  /// Told about progress, often: several times a second on a fast line. `nil` for nobody.
  public var onProgress: ((SyncProgress) -> Void)?
  /// Called when the answer is there and the catalogue is locked, before anything is written. What it throws ends the
  /// synchronisation.
  public var willWrite: ((CatalogWriter, UpdateMode) throws -> Void)?

  /// Creates a synchroniser with the default import options, which make no commit for an answer without changes.
  public init(_ transport: Transport) {
    self.transport = transport
    options.skipsUnchanged = true
  }

  /// Brings the catalogue up to date.
  ///
  /// - Parameters:
  ///   - destination: The catalogue.
  ///   - full: Whether a full update is asked for whatever the cursor says.
  ///   - onCommit: Called when the update is durable, while the catalogue is still locked and before it is compacted.
  /// - Returns: What was done, and is durable, whatever became of a compaction after it.
  /// - Throws: What the transport throws; `WireError`, `CatalogError`, `StoreError`, among them `StoreError.locked`
  ///   where another process writes when the answer is there, and `CatalogError.cursorMoved`. Nothing changed then.
  nonisolated(nonsending) public func run(
    _ destination: SyncDestination, full: Bool = false,
    onCommit: (CatalogWriter, ImportReport) -> Void = { _, _ in }
  ) async throws -> ImportReport {
    if full { return try await updateFully(destination, onCommit) }
    for _ in 1...Self.maximumTries {
      let cursor = try destination.cursor()
      if cursor.isEmpty { return try await updateFully(destination, onCommit) }
      do {
        if let report = try await increment(destination, cursor, onCommit) { return report }
      } catch CatalogError.needsFullUpdate {
        return try await updateFully(destination, onCommit)
      } catch CatalogError.incrementTooLarge {
        return try await updateFully(destination, onCommit)
      }
    }
    throw CatalogError.cursorMoved(path: destination.location.path, tries: Self.maximumTries)
  }

  /// - Returns: `nil` if the cursor is no longer the one that the answer was requested with. Nothing changed then.
  nonisolated(nonsending) private func increment(
    _ destination: SyncDestination, _ cursor: String, _ onCommit: (CatalogWriter, ImportReport) -> Void
  ) async throws -> ImportReport? {
    var progress = SyncProgress(mode: .incremental)
    var answer = try await transport.fetchAnswer(cursor: cursor) {
      try IncomingIncrement(options)
    } onChunk: { answer, chunk in
      try answer.consume(chunk)
      progress.bytesReceived = answer.progress.bytesIn
      progress.rowsDecoded = answer.progress.rows
      onProgress?(progress)
    }
    let summary = try answer.finish()
    let increment = answer
    var received: IncomingIncrement? = consume increment
    return try destination.withWriter { writer in
      guard try writer.snapshot().cursor.utf8.elementsEqual(cursor.utf8) else { return nil }
      try willWrite?(writer, .incremental)
      progress.phase = .committing
      onProgress?(progress)
      guard let increment = received.take() else { return nil }
      return finish(try increment.commit(to: writer, summary), writer, &progress, onCommit)
    }
  }

  nonisolated(nonsending) private func updateFully(
    _ destination: SyncDestination, _ onCommit: (CatalogWriter, ImportReport) -> Void
  ) async throws -> ImportReport {
    var progress = SyncProgress(mode: .full)
    let answer = try await transport.fetchAnswer(cursor: "") {
      try ReceivedAnswer(for: destination.location, options)
    } onChunk: { answer, chunk in
      try answer.consume(chunk)
      progress.bytesReceived = answer.byteCount
      onProgress?(progress)
    }
    return try destination.withWriter { writer in
      try willWrite?(writer, .full)
      progress.phase = .importing
      var update = try AnswerImport(writer, .full, options)
      do {
        try answer.forEachPiece { piece in
          // A program that ends should not have to wait for the rest of a large catalogue.
          try Task.checkCancellation()
          try update.consume(piece.span)
          progress.bytesImported += piece.count
          progress.rowsDecoded = update.progress.rows
          onProgress?(progress)
        }
      } catch {
        update.cancel()
        throw error
      }
      let report = try update.finish {
        progress.phase = .committing
        onProgress?(progress)
      }
      return finish(report, writer, &progress, onCommit)
    }
  }

  /// Says what was committed, and compacts the catalogue if the policy finds that worth it.
  private func finish(
    _ report: ImportReport, _ writer: CatalogWriter, _ progress: inout SyncProgress,
    _ onCommit: (CatalogWriter, ImportReport) -> Void
  ) -> ImportReport {
    var report = report
    progress.phase = .done
    progress.rowsWritten = report.payload.products + report.payload.relations
    onProgress?(progress)
    onCommit(writer, report)
    do {
      if try writer.compactIfWorthwhile(compaction) { report.compaction = .compacted }
    } catch {
      report.compaction = .failed(error)
    }
    return report
  }
}
