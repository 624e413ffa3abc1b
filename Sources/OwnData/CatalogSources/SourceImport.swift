package import Catalog
import CatalogFiles
package import CatalogSync
import Essentials
package import LogStore
import Platform
import RowFiles
package import RowSources
import ServerAnswers
import Synchronization

/// Rows of a person's own that a catalogue is kept up to date with: a file, a folder of files, or a database.
package struct CatalogueSource: Sendable {
  /// The path of a file or a folder; the name of the database for messages.
  package var name: String
  /// How files are read; of a database, what its columns mean.
  package var decoding: SourceDecoding
  /// The database, if it is one.
  package var database: DatabaseQuery?
  /// How often all rows are read and compared, whether or not the source says that something changed: this finds
  /// deletions in a database with a column for newer rows, and changes of the catalogue by others.
  package var reconcileInterval: Duration = .seconds(3600)

  /// Creates a description of a file or a folder. Nothing is opened.
  package init(path: String, decoding: SourceDecoding) {
    name = path
    self.decoding = decoding
  }

  /// Creates a description of a database. Nothing is opened.
  package init(_ database: DatabaseQuery, decoding: SourceDecoding) {
    name = database.name
    self.decoding = decoding
    self.database = database
  }
}

/// An importer that brings what changed in a source into a catalogue, in one commit for each change.
///
/// A file is read when it has changed and then stood still for a second; of a folder, the newest file. It is the whole
/// catalogue, and the difference is written. A file that was refused is not read again before it changes. A database is
/// asked each time: for all rows, or with a column for newer rows only for these, as rows to add.
package final class SourceImport: Sendable {
  /// Whether to write the difference, or everything.
  package enum Extent: Sendable { case difference, everything }

  private struct State {
    /// The file that the catalogue has, and the report of its import.
    var imported: (file: DropFolder.File, report: ImportReport)?
    /// The file that was refused, and why.
    var refused: (file: DropFolder.File, error: any Error)?
    /// When all rows were read.
    var completeAt: ContinuousClock.Instant?
    /// The catalogue's commit after the last import. Another one means that somebody else has written.
    var sequence: UInt64?
  }

  private let source: CatalogueSource
  private let lossLimit: LossLimit
  /// Guards only the state, as one import runs at a time.
  private let state = Mutex(State())

  /// How long a file has to stand still.
  static let settleTime: Duration = .seconds(1)

  /// Creates an importer. Nothing is opened.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - lossLimit: The limit on products that an import may remove.
  package init(_ source: CatalogueSource, _ lossLimit: LossLimit = LossLimit()) {
    self.source = source
    self.lossLimit = lossLimit
  }

  /// What an import did.
  package struct Result: Sendable {
    /// The report of the import, or of the last one if nothing has changed.
    package var report: ImportReport
    /// The new path of a catalogue that could not be opened and was replaced; `nil` if it could be opened.
    package var damagedPath: String?
    /// Whether nothing was written, because nothing has changed.
    package var isUnchanged = false
  }

  /// Imports what has changed.
  ///
  /// - Parameters:
  ///   - extent: Whether to write the difference, or everything, also if nothing has changed.
  ///   - destination: The catalogue.
  ///   - sleep: Waits until a file has stood still.
  /// - Returns: What was done.
  /// - Throws: ``SourceUnreadable``, ``SourceRefused``; `DatabaseError`, `CatalogError`, `StoreError`;
  ///   `CancellationError` if the task is cancelled. Nothing is changed then.
  nonisolated(nonsending) package func run(
    _ extent: Extent, into destination: SourceDestination, sleep: @Sendable (Duration) async throws -> Void
  ) async throws -> Result {
    let last = destination.last
    let (completeAt, sequence) = state.withLock { ($0.completeAt, $0.sequence) }
    let isDue =
      completeAt.map { $0 + source.reconcileInterval <= .now } ?? true || sequence != last?.sequence
      || extent == .everything
    if let database = source.database {
      let result = try run(database, isDue, extent, destination)
      noted(result.report, isDue)
      return result
    }
    let file = try await settledFile(sleep)
    if let refused = state.withLock({ $0.refused }), refused.file == file, extent == .difference { throw refused.error }
    if let imported = state.withLock({ $0.imported }), imported.file == file, !isDue {
      return Result(report: imported.report, isUnchanged: true)
    }
    do {
      let handle = try SequentialFile(file.path)
      let format = source.decoding.format(of: file.path)
      let result = try write(format, mode(extent, last), file.path, nil, destination) { body in
        _ = try source.decoding.read(handle, body)
      }
      noted(result.report, true)
      state.withLock { state in
        state.imported = (file, result.report)
        state.refused = nil
      }
      return result
    } catch {
      let refusal = Self.refusal(error, file.path)
      if let refusal { state.withLock { $0.refused = (file, refusal) } }
      throw refusal ?? error
    }
  }

  private func noted(_ report: ImportReport, _ isComplete: Bool) {
    state.withLock { state in
      state.sequence = report.update.sequence
      if isComplete { state.completeAt = .now }
    }
  }

  /// What the rows are. A first import may have more rows than a difference can have.
  private func mode(_ extent: Extent, _ last: CatalogSnapshot?) -> RowImport.Mode {
    extent == .everything || last?.productCount ?? 0 == 0 ? .replace : .difference
  }

  /// The file to read, after it has stood still.
  private nonisolated(nonsending) func settledFile(
    _ sleep: @Sendable (Duration) async throws -> Void
  ) async throws -> DropFolder.File {
    while true {
      let file = try newestFile()
      let now = Int64(Date().timeIntervalSince1970 * 1e9)
      // A clock that was set back must not make a file wait for years.
      if abs(now - file.modified) >= Self.settleTime.components.seconds * 1_000_000_000 { return file }
      try await sleep(Self.settleTime)
      if try newestFile() == file { return file }
    }
  }

  private func newestFile() throws -> DropFolder.File {
    guard DropFolder.exists(source.name) else { return try DropFolder.File(path: source.name) }
    return try DropFolder(path: source.name, format: source.decoding.format).files()[0]
  }

  private func run(
    _ database: DatabaseQuery, _ isDue: Bool, _ extent: Extent, _ destination: SourceDestination
  ) throws -> Result {
    var query = database
    let last = destination.last
    if query.since != nil, !isDue, let cursor = last?.cursor, !cursor.isEmpty { query.lastSeen = cursor }
    let mode = query.lastSeen == nil ? mode(extent, last) : .upsert
    // The transaction ends before the catalogue is locked.
    let spool = try SpillFile(nextTo: destination.location)
    let newest = try Self.spool(query, in: spool)
    do {
      return try write(.ndjson, mode, source.name, newest, destination) { body in
        var offset = 0
        while offset < spool.byteCount {
          let piece = try spool.read(at: offset)
          offset += piece.count
          try body(piece)
        }
      }
    } catch { throw Self.refusal(error, source.name) ?? error }
  }

  /// Writes the rows of a database into a file, and closes the connection.
  ///
  /// - Returns: The greatest value of the column that shows newer rows.
  private static func spool(_ query: DatabaseQuery, in file: SpillFile) throws -> String? {
    var lines = try DatabaseRows(query) { Task.isCancelled }
    while let piece = try lines.next() { try file.append(piece.span) }
    return lines.newest
  }

  /// Imports the rows of a text.
  private func write(
    _ format: RowFileFormat, _ mode: RowImport.Mode, _ name: String, _ cursor: String?,
    _ destination: SourceDestination, _ read: (_ body: ([UInt8]) throws -> Void) throws -> Void
  ) throws -> Result {
    try Task.checkCancellation()
    let writer = try destination.open()
    defer { writer.close() }
    var rows = try RowImport(
      writer, format, mode, lossLimit, rules: source.decoding.rules, mapping: source.decoding.mapping)
    do {
      try read { piece in
        try Task.checkCancellation()
        try rows.consume(piece.span)
      }
      let (update, summary) = try rows.finish(cursor: cursor) { summary in
        try Task.checkCancellation()
        if summary.rows == 0, mode != .upsert, lossLimit.share < 1, try writer.snapshot().productCount > 0 {
          throw SourceRefused("\(name): there are no rows in it, and the catalogue has some; nothing was changed")
        }
        try destination.willCommit()
      }
      var payload = PayloadSummary()
      payload.products = summary.products
      payload.relations = summary.relations
      return Result(
        report: ImportReport(update: update, payload: payload), damagedPath: writer.damagedPath,
        isUnchanged: update.sequence == destination.last?.sequence)
    } catch {
      rows.cancel()
      throw error
    }
  }

  /// The error of a file whose contents are at fault; `nil` for other errors, which may pass.
  private static func refusal(_ error: any Error, _ name: String) -> SourceRefused? {
    switch error {
    case RowFileError.refused(let faults):
      let first = faults.first.prefix(3).map { "\($0)" }.joined(separator: " · ")
      return SourceRefused("\(name): \(first)" + (faults.count > 3 ? " · and \(faults.count - 3) more" : ""))
    case let error as RowFileError: return SourceRefused("\(name): \(error)")
    case let error as SourceError: return SourceRefused("\(name): \(error)")
    case let error as SourceRefused: return error
    default: return nil
    }
  }
}

/// The catalogue that rows are imported into.
package struct SourceDestination: Sendable {
  /// The catalogue, next to which the rows of a database are kept until they have all arrived.
  package var location: StoreLocation
  /// The last commit; `nil` if there is none or it cannot be read.
  package var last: CatalogSnapshot?
  /// Opens the writer.
  package var open: @Sendable () throws -> CatalogWriter
  /// Called before a commit begins.
  package var willCommit: @Sendable () throws -> Void

  /// Creates a description of a catalogue. Nothing is opened.
  package init(
    location: StoreLocation, last: CatalogSnapshot?, open: @escaping @Sendable () throws -> CatalogWriter,
    willCommit: @escaping @Sendable () throws -> Void = {}
  ) {
    self.location = location
    self.last = last
    self.open = open
    self.willCommit = willCommit
  }
}

/// A source whose contents are at fault. It names the file, and lines, columns and values.
package struct SourceRefused: Error, Sendable, CustomStringConvertible {
  /// What is wrong, where, and what to do.
  package var description: String

  package init(_ description: String) { self.description = description }
}
