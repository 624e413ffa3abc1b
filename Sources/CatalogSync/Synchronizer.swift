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
  public enum Phase: Sendable { case receiving, committing, done }

  public var phase = Phase.receiving
  public var mode: UpdateMode
  /// Bytes of the answer that arrived.
  public var bytesReceived = 0
  /// Rows that were decoded; those of a full update are written at once.
  public var rowsDecoded = 0
  /// Rows that are in the catalogue, durable.
  public var rowsWritten = 0

  public init(mode: UpdateMode) { self.mode = mode }
}

/// One step of the protocol: an increment where that is enough, a full update where it is not.
///
/// Cursor empty: full update. Cursor set: increment; if either list of the answer reaches the threshold, a second
/// request with an empty cursor and a full update. The old catalogue serves, and its cursor stays, until the new one is
/// durable.
public struct Synchronizer<Transport: CatalogTransport> {
  public var transport: Transport
  public var options = ImportOptions()
  /// When the catalogue is compacted behind the commit, before ``run(_:full:)`` returns.
  public var compaction = CompactionPolicy.standard
  /// Told about progress, often: several times a second on a fast line. `nil` for nobody.
  public var onProgress: ((SyncProgress) -> Void)?

  public init(_ transport: Transport) {
    self.transport = transport
    options.skipsUnchanged = true
  }

  /// Brings the catalogue up to date.
  ///
  /// - Parameters:
  ///   - writer: of the catalogue.
  ///   - full: a full update whatever the cursor says.
  /// - Returns: what was done, and is durable, whatever became of a compaction behind it.
  /// - Throws: what the transport throws; `WireError`, `CatalogError`, `StoreError`. Nothing changed then.
  nonisolated(nonsending) public func run(_ writer: CatalogWriter, full: Bool = false) async throws -> ImportReport {
    var report = try await update(writer, full: full)
    do {
      if try writer.compactIfWorthwhile(compaction) { report.compaction = .compacted }
    } catch {
      report.compaction = .failed(error)
    }
    return report
  }

  nonisolated(nonsending) private func update(
    _ writer: CatalogWriter, full: Bool
  ) async throws -> ImportReport {
    let cursor = try writer.snapshot().cursor
    if full || cursor.isEmpty { return try await fetch(writer, .full, cursor: "") }
    do {
      return try await fetch(writer, .incremental, cursor: cursor)
    } catch CatalogError.needsFullUpdate {
      return try await fetch(writer, .full, cursor: "")
    } catch CatalogError.incrementTooLarge {
      return try await fetch(writer, .full, cursor: "")
    }
  }

  nonisolated(nonsending) private func fetch(
    _ writer: CatalogWriter, _ mode: UpdateMode, cursor: String
  ) async throws -> ImportReport {
    var progress = SyncProgress(mode: mode)
    var answer = try await transport.fetchAnswer(cursor: cursor) {
      try AnswerImport(writer, mode, options)
    } onChunk: { answer, chunk in
      try answer.consume(chunk)
      progress.bytesReceived = answer.progress.bytesIn
      progress.rowsDecoded = answer.progress.rows
      onProgress?(progress)
    }
    progress.phase = .committing
    onProgress?(progress)
    let report = try answer.finish()
    progress.phase = .done
    progress.rowsWritten = report.payload.products + report.payload.relations
    onProgress?(progress)
    return report
  }
}
