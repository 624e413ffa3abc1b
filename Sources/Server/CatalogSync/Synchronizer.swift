public import Catalog
public import LogStore

/// A transport that requests the changes after a cursor from a server, and passes the response on as it arrives.
public protocol CatalogTransport {
  /// Fetches a response, and folds it into a state that is created for each attempt. The state of a failed attempt is
  /// dropped.
  ///
  /// - Returns: The state that received the complete response.
  nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State
}

/// A synchronisation's progress.
public struct SyncProgress: Sendable, Equatable {
  /// The step that a synchronisation has reached.
  public enum Phase: Sendable {
    /// The response is arriving; the catalogue is not locked.
    case receiving
    /// A full response has arrived; it is being decoded, and its rows are written.
    case importing
    case committing, done
  }

  /// The current step.
  public var phase = Phase.receiving
  /// The kind of update: incremental until a full update turns out to be necessary.
  public var mode: UpdateMode
  /// The number of bytes of the response received.
  public var bytesReceived = 0
  /// The number of bytes of a full response decoded after it arrived.
  public var bytesImported = 0
  /// The number of decoded rows. Those of a full update are written at once.
  public var rowsDecoded = 0
  /// The number of rows that are durable in the catalogue.
  public var rowsWritten = 0

  /// Creates the progress of an update that has received nothing yet.
  public init(mode: UpdateMode) { self.mode = mode }
}

/// A client of the protocol that performs one step: an increment if that is enough, otherwise a full update.
///
/// With an empty cursor, it makes a full update. With a cursor, it requests an increment; if a list of the
/// response reaches the threshold, it sends a second request with an empty cursor and makes a full update. The old
/// catalogue and its cursor stay in use until the new one is durable.
///
/// The catalogue is locked only after the complete response has arrived, so a server that hangs does not block other
/// writers. Until then an increment is kept in memory, and a full response in a file next to the catalogue. If another
/// process has changed the cursor in the meantime, the increment no longer fits, and a new request is sent.
public struct Synchronizer<Transport: CatalogTransport> {
  /// The maximum number of requests for an increment while other processes change the cursor.
  static var maximumTries: Int { 3 }

  /// The connection to the server that fetches each answer.
  public var transport: Transport
  /// How answers are imported. By default an answer without changes makes no commit.
  public var options = ImportOptions()
  /// The policy for compacting the catalogue after the commit, before ``run(_:full:onCommit:)`` returns.
  public var compaction = CompactionPolicy.standard
  /// Called with the progress, several times a second on a fast connection. `nil` if it is not needed.
  public var onProgress: ((SyncProgress) -> Void)?
  /// Called after the response has arrived and the catalogue is locked, before anything is written. An error that it
  /// throws ends the synchronisation.
  public var willWrite: ((CatalogWriter, UpdateMode) throws -> Void)?

  /// Creates a synchroniser with the default import options, which make no commit for an answer without changes.
  public init(_ transport: Transport) {
    self.transport = transport
    options.skipsUnchanged = true
  }

  /// Synchronises the catalogue.
  ///
  /// - Parameters:
  ///   - destination: The catalogue.
  ///   - full: Whether to request a full update whatever the cursor is.
  ///   - onCommit: Called when the update is durable, while the catalogue is still locked and before it is compacted.
  /// - Returns: The report of the import, which is durable whatever the outcome of a compaction after it.
  /// - Throws: The transport's errors; `WireError`, `CatalogError`, `StoreError`, including `StoreError.locked` if
  ///   another process is writing when the response has arrived, and `CatalogError.cursorMoved`. Nothing is changed in
  ///   these cases.
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

  /// - Returns: The report; `nil` if the cursor is no longer the one that the response was requested with. Nothing is
  ///   changed in that case.
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
          // A program that is shutting down should not have to wait for the rest of a large catalogue.
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

  /// Reports the commit, and compacts the catalogue if the policy requires it.
  private func finish(
    _ report: ImportReport, _ writer: CatalogWriter, _ progress: inout SyncProgress,
    _ onCommit: (CatalogWriter, ImportReport) -> Void
  ) -> ImportReport {
    var report = report
    progress.phase = .done
    progress.rowsWritten = report.payload.rows
    onProgress?(progress)
    onCommit(writer, report)
    do {
      if try writer.compactIfDue(compaction) { report.compaction = .compacted }
    } catch {
      report.compaction = .failed(error)
    }
    return report
  }
}
