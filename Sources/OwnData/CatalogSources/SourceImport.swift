package import Catalog
import CatalogFiles
package import CatalogRows
package import CatalogSync
import Essentials
package import LogStore
package import Platform
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
  /// What the rows of the file are.
  package var rows = Rows.own
  /// The database, if it is one.
  package var database: DatabaseQuery?
  /// The file with a table of codes, and how it is read; `nil` if there is none.
  package var codes: (path: String, decoding: SourceDecoding)?
  /// The field of the product that the table of codes, or the codes of the database, name; `nil` if there are none.
  package var codeJoin: ProductField?
  /// The fields that the mapping declares. Only an import of the command adds declarations to the settings.
  package var declared = DeclaredFields()
  /// The fields of ``declared`` that have an index of their own. That of searched words is one for all fields.
  var declaredWithIndex: DeclaredFields {
    var fields = DeclaredFields()
    for name in declared.names {
      guard var declaration = declared[name], declaration.isOrdered || declaration.isCode else { continue }
      declaration.isSearched = false
      try? fields.set(name, declaration)
    }
    return fields
  }
  /// How often all rows are read and compared, whether or not the source says that something changed: this finds
  /// deletions in a database with a column for newer rows, and changes of the catalogue by others.
  package var reconcileInterval: Duration = .seconds(3600)

  /// Adds the table of codes of a mapping, and notes the fields that it declares.
  ///
  /// - Throws: `MappingFile.Invalid` if the mapping has a statement for codes, and the source is no database, or does not
  ///   say where the table is.
  package mutating func addCodes(_ map: MappingFile) throws(MappingFile.Invalid) {
    declared = map.extra
    guard let from = map.codesFrom else { return }
    codeJoin = from.table.join
    if let file = from.file {
      var rules = RowRules()
      rules.readsExcelTexts = map.isExcel
      codes = (
        file,
        SourceDecoding(
          rules: rules, mapping: map.mappingOfCodes, encoding: from.encoding, limits: decoding.limits)
      )
    } else if from.query == nil {
      throw MappingFile.Invalid(message: MappingFile.CodesFrom.isNowhere)
    } else if var query = database {
      map.addCodes(to: &query)
      database = query
      decoding.rules.skipsEmptyCodes = true
    } else {
      throw MappingFile.Invalid(message: "codesFrom: query is for a database; give the codes of a file in a file")
    }
  }

  /// What the rows of a file are.
  package enum Rows: Sendable {
    /// A person's own, of which any fault refuses the file.
    case own
    /// Rows as the server sends them, as NDJSON. Relations and codes are in files of their own, or in the same one if it
    /// is a dump.
    case server(relations: String?, codes: String?)
  }

  /// Creates a description of files with rows as the server sends them. Nothing is opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file with the products, or of a dump with all kinds of row.
  ///   - relations: The path of the file with the relations, if there is one.
  ///   - codes: The path of the file with the codes, if there is one.
  package init(serverRows path: String, relations: String?, codes: String? = nil) {
    self.init(path: path, decoding: SourceDecoding())
    rows = .server(relations: relations, codes: codes)
  }

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
    /// The files that the catalogue has, and the report of their import.
    var imported: (files: [DropFolder.File], report: ImportReport)?
    /// The files that were refused, and why.
    var refused: (files: [DropFolder.File], error: SourceRefused)?
    /// When all rows were read.
    var completeAt: ContinuousClock.Instant?
    /// The catalogue's commit after the last import. Another one means that somebody else has written.
    var sequence: UInt64?
    /// What the last import said about its rows. A database is asked each minute, and says the same again.
    var notices: [String] = []
  }

  private let source: CatalogueSource
  private let lossLimit: LossLimit
  private let allowsEmpty: Bool
  private let keepsRelations: Bool
  /// Guards only the state, as one import runs at a time.
  private let state = Mutex(State())

  /// How long a file has to stand still.
  static let settleTime: Duration = .seconds(1)

  /// Creates an importer. Nothing is opened.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - lossLimit: The limit on products that an import may remove.
  ///   - allowsEmpty: Whether a source without products may empty a catalogue; `nil` if the limit allows any loss.
  ///   - keepsRelations: Whether a source without relations, or without codes, leaves those of the catalogue as they are.
  package init(
    _ source: CatalogueSource, _ lossLimit: LossLimit = LossLimit(), allowsEmpty: Bool? = nil,
    keepsRelations: Bool = true
  ) {
    self.source = source
    self.lossLimit = lossLimit
    self.allowsEmpty = allowsEmpty ?? (lossLimit.share >= 1)
    self.keepsRelations = keepsRelations
  }

  /// What an import did.
  package struct Result: Sendable {
    /// The report of the import, or of the last one if nothing has changed.
    package var report: ImportReport
    /// The new path of a catalogue that could not be opened and was replaced; `nil` if it could be opened.
    package var damagedPath: String?
    /// Whether nothing was written, because nothing has changed.
    package var isUnchanged = false
    /// What was recognised; `nil` if nothing was read.
    package var reading: SourceDecoding.Reading?
    /// The newer files of a folder that were refused, and why.
    package var refused: [SourceRefused] = []
    /// What a person should know about rows that were taken, and what an earlier import has not said already.
    package var notices: [String] = []
  }

  /// Imports what has changed.
  ///
  /// - Parameters:
  ///   - extent: Whether to write the difference, or everything, also if nothing has changed.
  ///   - destination: The catalogue.
  ///   - goesBack: Whether to take an older file of a folder if newer ones are refused.
  ///   - sleep: Waits until a file has stood still.
  /// - Returns: What was done.
  /// - Throws: ``SourceUnreadable``, ``SourceRefused``; `DatabaseError`, `CatalogError`, `StoreError`;
  ///   `CancellationError` if the task is cancelled. Nothing is changed then.
  nonisolated(nonsending) package func run(
    _ extent: Extent, into destination: SourceDestination, goesBack: Bool = false,
    sleep: @Sendable (Duration) async throws -> Void
  ) async throws -> Result {
    let last = destination.last
    let (completeAt, sequence) = state.withLock { ($0.completeAt, $0.sequence) }
    let isDue =
      completeAt.map { $0 + source.reconcileInterval <= .now } ?? true || sequence != last?.sequence
      || extent == .everything
    if let database = source.database {
      let result = try run(database, isDue, extent, destination)
      recordImport(result.report, isDue)
      return result
    }
    let candidates = try await settledFiles(sleep)
    var refusals: [SourceRefused] = []
    for files in candidates {
      var path = source.name
      if case .own = source.rows, let file = files.first { path = file.path }
      if let refused = state.withLock({ $0.refused }), refused.files == files, extent == .difference {
        throw refused.error
      }
      if let imported = state.withLock({ $0.imported }), imported.files == files, !isDue || files.isEmpty {
        return Result(report: imported.report, isUnchanged: true)
      }
      do {
        var result = try write(mode(extent, last), path, nil, destination) { rows in try read(path, into: &rows) }
        result.refused = refusals
        result.notices = newNotices(result.notices)
        recordImport(result.report, true)
        state.withLock { state in
          state.imported = (files, result.report)
          state.refused = refusals.first.map { (candidates[0], $0) }
        }
        return result
      } catch {
        guard let refusal = Self.refusal(error, path) else { throw error }
        refusals.append(refusal)
        if !goesBack || files == candidates.last {
          state.withLock { $0.refused = (candidates[0], refusals[0]) }
          throw refusal
        }
      }
    }
    preconditionFailure("a folder without files is an error")
  }

  /// Reads all rows of the file at `path`, and of the file with its relations if there is one.
  private func read(_ path: String, into rows: inout CatalogImport) throws -> SourceDecoding.Reading {
    if case .server(let relations, let codes) = source.rows {
      return try ServerRowFiles(products: path, relations: relations, codes: codes).load(into: &rows)
    }
    let file = try SequentialFile(path)
    return try source.decoding.load(file, at: path, into: &rows)
  }

  /// Reads the table of codes, after all products.
  ///
  /// - Returns: Its summary; `nil` if there is no table.
  /// - Throws: ``FileOfRowsError``, ``SourceUnreadable``; the errors of storing a row; `CancellationError` if the task is
  ///   cancelled.
  private func readCodes(
    into rows: inout CatalogImport, _ reading: inout SourceDecoding.Reading
  ) throws -> RowFileSummary? {
    guard let (path, decoding) = source.codes else { return nil }
    rows.joinsCodes = true
    do {
      let found = try decoding.load(SequentialFile(path), at: path, into: &rows).summary
      reading.notices += found.notices.map { "\(path): \($0)" }
      return found
    } catch RowFileError.sinkFailed(let cause, _) where !(cause is RowRefusal) {
      throw cause
    } catch let error as RowFileError {
      throw FileOfRowsError(path: path, error: error)
    } catch let error as StorageError {
      throw SourceUnreadable(path: path, code: error.code)
    }
  }

  private func recordImport(_ report: ImportReport, _ isComplete: Bool) {
    state.withLock { state in
      state.sequence = report.update.sequence
      if isComplete { state.completeAt = .now }
    }
  }

  /// The notices that the last import did not have.
  private func newNotices(_ notices: [String]) -> [String] {
    state.withLock { state in
      defer { state.notices = notices }
      return notices.filter { !state.notices.contains($0) }
    }
  }

  /// What the rows are. A first import may have more rows than a difference can have.
  private func mode(_ extent: Extent, _ last: CatalogSnapshot?) -> RowImport.Mode {
    extent == .everything || last?.productCount ?? 0 == 0 ? .replace : .difference
  }

  /// The files to read, after the newest has stood still: of a folder each one, newest first; else only those that
  /// belong to the source.
  private nonisolated(nonsending) func settledFiles(
    _ sleep: @Sendable (Duration) async throws -> Void
  ) async throws -> [[DropFolder.File]] {
    while true {
      let files = try currentFiles()
      let now = Int64(Date().timeIntervalSince1970 * 1e9)
      let settleTime = Self.settleTime.components.seconds * 1_000_000_000
      // A clock that was set back must not make a file wait for years.
      if files[0].allSatisfy({ abs(now - $0.modified) >= settleTime }) { return files }
      try await sleep(Self.settleTime)
      if try currentFiles()[0] == files[0] { return files }
    }
  }

  private func currentFiles() throws -> [[DropFolder.File]] {
    if case .server(let relations, let codes) = source.rows {
      // A pipe or a device is read once: it has no state that could be compared.
      return [
        try [source.name, relations, codes].compactMap(\.self).filter { !DropFolder.File.isStream($0) }
          .map { path in try DropFolder.File(path: path) }
      ]
    }
    // A new table of codes is a change too.
    let codes = try source.codes.flatMap {
      DropFolder.File.isStream($0.path) ? nil : try DropFolder.File(path: $0.path)
    }
    let further = [codes].compactMap(\.self)
    guard DropFolder.exists(source.name) else { return [[try DropFolder.File(path: source.name)] + further] }
    let files = try DropFolder(path: source.name, format: source.decoding.format).files()
    return files.filter { $0.path != codes?.path }.map { [$0] + further }
  }

  private func run(
    _ database: DatabaseQuery, _ isDue: Bool, _ extent: Extent, _ destination: SourceDestination
  ) throws -> Result {
    var query = database
    let last = destination.last
    if query.since != nil, !isDue, let cursor = last?.cursor, !cursor.isEmpty { query.lastSeen = cursor }
    // The transaction ends before the catalogue is locked.
    let spool = try SpillFile(nextTo: destination.location)
    let (newest, hasNewerOnly, notices) = try Self.spool(query, in: spool)
    let mode = hasNewerOnly ? .upsert : mode(extent, last)
    var decoding = source.decoding
    decoding.rules.isIncrement = hasNewerOnly
    do {
      var result = try write(mode, source.name, newest, destination) { rows in
        try decoding.load(.ndjson, into: &rows) { body in
          var offset = 0
          while offset < spool.byteCount {
            let piece = try spool.read(at: offset)
            offset += piece.count
            if try !body(piece) { break }
          }
          return nil
        }
      }
      result.notices = newNotices(notices + result.notices)
      return result
    } catch { throw Self.refusal(error, source.name) ?? error }
  }

  /// Writes the rows of a database into a file, and closes the connection.
  ///
  /// - Returns: The next cursor, whether the rows are only those from the former cursor on, and what a person should know.
  private static func spool(
    _ query: DatabaseQuery, in file: SpillFile
  ) throws -> (newest: String?, hasNewerOnly: Bool, notices: [String]) {
    var lines = try DatabaseRows(query) { Task.isCancelled }
    while let piece = try lines.next() { try file.append(piece.span) }
    return (lines.newest, lines.hasNewerOnly, lines.notices)
  }

  /// Imports the rows that `read` passes on. What is too large for a difference becomes a full update.
  private func write(
    _ mode: RowImport.Mode, _ name: String, _ cursor: String?, _ destination: SourceDestination,
    _ read: (inout CatalogImport) throws -> SourceDecoding.Reading
  ) throws -> Result {
    do { return try write(once: mode, name, cursor, destination, read) } catch CatalogError.incrementTooLarge
      where mode == .difference
    {
      return try write(once: .replace, name, cursor, destination, read)
    }
  }

  private func write(
    once mode: RowImport.Mode, _ name: String, _ cursor: String?, _ destination: SourceDestination,
    _ read: (inout CatalogImport) throws -> SourceDecoding.Reading
  ) throws -> Result {
    try Task.checkCancellation()
    let writer = try destination.open()
    defer { writer.close() }
    var rows = try CatalogImport(
      writer, mode, lossLimit, keepsRelations: keepsRelations, keepsCodes: keepsRelations)
    if case .own = source.rows { rows.quantities = CodeQuantities() }
    do {
      if let join = source.codeJoin {
        try rows.expectCodes(joinedBy: join)
        rows.joinsCodes = source.codes == nil
      }
      var reading = try read(&rows)
      let table = try readCodes(into: &rows, &reading)
      if let join = rows.join, let first = join.firstOrphan {
        reading.notices.append(
          "\(name): codes left out: \(join.orphanCount), as no product has the \(source.codeJoin?.key ?? "id") that they name;"
            + " the first: the code \(first.code) of \(first.product)")
      }
      let orphanCount = rows.join?.orphanCount ?? 0
      let update = try rows.finish(cursor: cursor) {
        try Task.checkCancellation()
        if reading.summary.products == 0, mode != .upsert, !allowsEmpty, try writer.snapshot().productCount > 0 {
          throw SourceEmpty(name: name, hasRows: reading.summary.rows > 0)
        }
        // A table that was cut, is just being written, or names no product must not take all codes away.
        if source.codeJoin != nil, (table?.codes ?? 0) + reading.summary.codes == orphanCount, !allowsEmpty,
          try writer.snapshot().codeCount > 0
        {
          let field = source.codeJoin?.key ?? "id"
          let problem =
            orphanCount == 0 ? "there are no codes in it" : "no product has the \(field) that its codes name"
          throw SourceRefused(
            "\(source.codes?.path ?? name): \(problem), and the catalogue has some; nothing was changed", isEmpty: true)
        }
        try destination.willCommit()
      }
      let missing = try writer.snapshot().declaring(source.declaredWithIndex).fieldsWithoutIndex
      if !missing.isEmpty {
        reading.notices.append(
          "\(name): extra of the mapping declares \(missing.joined(separator: ", ")), which are not declared here, or lack"
            + " an index: declare them with 'catalogctl fields set', and run 'catalogctl compact'")
      }
      var payload = PayloadSummary()
      payload.products = reading.summary.products
      payload.relations = reading.summary.relations
      return Result(
        report: ImportReport(update: update, payload: payload), damagedPath: writer.damagedPath,
        isUnchanged: update.sequence == destination.last?.sequence, reading: reading,
        notices: reading.summary.notices.map { "\(name): \($0)" } + reading.notices)
    } catch {
      rows.cancel()
      if case RowFileError.sinkFailed(let cause, _) = error { throw cause }
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
    case let error as FileOfRowsError: return SourceRefused("\(error.path): \(error.error)")
    case let error as SourceError: return SourceRefused("\(name): \(error)")
    case let error as SourceRefused: return error
    case let error as SourceEmpty: return SourceRefused("\(error)", isEmpty: true)
    default: return nil
    }
  }
}

/// A source without products, while the catalogue has some.
private struct SourceEmpty: Error, CustomStringConvertible {
  var name: String
  var hasRows: Bool

  var description: String {
    "\(name): there are no \(hasRows ? "products" : "rows") in it, and the catalogue has some; nothing was changed"
  }
}

extension SourceRefused: ProgramError {
  package var exitStatus: ExitStatus { .data }
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
  /// Whether it was refused because it has no products.
  package var isEmpty: Bool

  package init(_ description: String, isEmpty: Bool = false) {
    self.description = description
    self.isEmpty = isEmpty
  }
}
