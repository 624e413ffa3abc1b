package import CatalogSources
import Catalog
import Essentials
import LogStore
package import Logging
import Platform
import RowSources
import Synchronization

/// The catalogue that a server answers from: what a source holds, imported into a store of its own whenever the source
/// changes.
///
/// Each change of the source is one commit of the catalogue. The differences between two commits say which products
/// changed; ``OriginStamps`` says which of them a client has not seen yet. ``OriginState`` argues what a crash leaves.
package final class OriginStore: Sendable {
  /// The numbers of rows that are served.
  package struct Counts: Sendable, Equatable {
    /// The number of products.
    package var products = 0
    /// The number of relations.
    package var relations = 0
    /// The number of codes.
    package var codes = 0
    /// The number of products that were deleted from the source and are not back.
    package var tombstones = 0
  }

  /// The changes of a reload. A product whose relations or codes changed counts as updated.
  package struct Changes: Sendable, Equatable {
    /// The number of products that are new, or are back after a deletion.
    package var inserted = 0
    /// The number of products that changed, or whose relations or codes changed.
    package var updated = 0
    /// The number of products that are no longer in the source.
    package var deleted = 0
    /// Whether no product was inserted, updated or deleted.
    package var isEmpty: Bool { self == Changes() }
  }

  private struct Served: Sendable {
    var rows: ServedRows
    var stamps: OriginStamps
  }

  private let source: CatalogueSource
  private let importer: SourceImport
  private let directory: OriginDirectory
  private let clock: OriginClock
  private let logger: Logger
  private let reader: CatalogReader
  private let state: OriginState
  /// Guards what is served. Held for a read or a replacement, never while files are read or rows compared.
  private let served: Mutex<Served>
  /// The number of the last reload in `state`, and the last commit that this process has made or read. Only one reload
  /// runs at a time.
  private let written: Mutex<(revision: Int, sequence: UInt64)>
  /// The last failure, which is logged once.
  private let lastFailure = Mutex<String?>(nil)

  /// Reads the source.
  ///
  /// - Parameters:
  ///   - source: The source to serve. The `updateTime` of the server's rows orders them; that of a person's own rows is
  ///     data like any other.
  ///   - state: The directory that keeps the rows, stamps and deletions across restarts. It is created if it does not
  ///     exist. `nil` to keep them in a temporary directory, for as long as this object exists.
  ///   - clock: The clock of new stamps.
  ///   - logger: Receives each reload and each failure.
  ///   - sleep: Waits until the newest file of a folder has stood still.
  /// - Throws: ``OriginError`` for a source that cannot be read or has an invalid row, and for a `state` that cannot be
  ///   opened, read or written; `CancellationError` if the task is cancelled.
  package init(
    source: CatalogueSource, state path: String? = nil, clock: OriginClock = .local, logger: Logger,
    sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async throws {
    self.source = source
    self.clock = clock
    self.logger = logger
    importer = SourceImport(source, .open, allowsEmpty: false, keepsRelations: false)
    directory = OriginDirectory(path)
    // A single file is read as it is: nobody has seen an earlier one.
    let waits = source.database == nil && DropFolder.exists(source.name)
    let result: SourceImport.Result
    do {
      result = try await importer.run(
        .difference, into: try directory.destination(last: directory.former()), goesBack: true
      ) { duration in if waits { try await sleep(duration) } }
      guard let reader = try CatalogReader.open(directory.catalogue()) else {
        preconditionFailure("an import commits something")
      }
      self.reader = reader
      let rows = ServedRows(try reader.history())
      state = try OriginState(directory: directory.path)
      let (stamps, revision) = try Self.stamps(state, reader, rows.snapshot, source, clock.now())
      served = Mutex(Served(rows: rows, stamps: stamps))
      written = Mutex((revision, rows.snapshot.sequence))
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw directory.error(error, of: source, hasState: path != nil)
    }
    for error in result.refused {
      logger.error("a newer file is refused, an older one is served", metadata: ["reason": "\(error)"])
    }
    note(result)
    log("catalogue loaded", result.reading)
  }

  /// Logs what a person should know about rows that were taken.
  private func note(_ result: SourceImport.Result) {
    for notice in result.notices {
      logger.warning("rows of the source need attention", metadata: ["reason": "\(notice)"])
    }
  }

  /// The stamps of the rows after a start, and the number of the last reload: those of an earlier process, with the
  /// changes since.
  private static func stamps(
    _ state: OriginState, _ reader: CatalogReader, _ snapshot: CatalogSnapshot, _ source: CatalogueSource, _ now: Stamp
  ) throws -> (OriginStamps, revision: Int) {
    guard var memory = try state.load(usesUpdateTimes: source.usesUpdateTimes) else {
      var stamps = OriginStamps(
        latestUpdateTime: source.usesUpdateTimes ? try snapshot.latestUpdateTime() : nil, now: now)
      stamps.hasHadCodes = snapshot.codeCount > 0
      return (stamps, try state.save([], stamps, at: snapshot.sequence, after: 0))
    }
    if snapshot.codeCount > 0 { memory.stamps.hasHadCodes = true }
    guard let sequence = memory.sequence else {
      // A former version kept no rows to compare with.
      let dropped = try memory.stamps.restart(now: now) { id in try snapshot.productRow(id: id.bytes) != nil }
      let marks = memory.stamps.marks
      return (
        memory.stamps,
        try state.save(marks, dropping: dropped, memory.stamps, at: snapshot.sequence, after: memory.revision)
      )
    }
    if sequence == snapshot.sequence { return (memory.stamps, memory.revision) }
    guard let former = try reader.history().at(sequence) else { throw OriginStateOther(sequence: sequence) }
    if former.codeCount > 0 { memory.stamps.hasHadCodes = true }
    let marks = memory.stamps.stamp(try snapshot.originChanges(since: former).stamped, now: now)
    return (memory.stamps, try state.save(marks, memory.stamps, at: snapshot.sequence, after: memory.revision))
  }

  /// Deletes the rows if they are kept in a temporary directory, for a program that ends without releasing this object.
  /// Nothing may be served after that.
  package func removeTemporaryFiles() { directory.removeIfTemporary() }

  /// The answer for a client with this cursor: everything if the cursor is empty, otherwise what has a later stamp in
  /// byte order.
  ///
  /// Later reloads do not affect the answer.
  ///
  /// - Throws: `StoreError.damaged`.
  package func answer(cursor: String) throws -> OriginAnswer {
    let cursor = Stamp(cursor)
    let now = clock.now()
    let served = served.withLock { served in
      if !cursor.isEmpty { served.stamps.remember(cursor, now: now) }
      return served
    }
    return try OriginAnswer(served.rows, served.stamps, cursor: cursor)
  }

  /// The number of products, relations, codes and tombstones that are served now.
  package var counts: Counts {
    served.withLock { served in
      Counts(
        products: served.rows.snapshot.productCount, relations: served.rows.snapshot.relationCount,
        codes: served.rows.snapshot.codeCount,
        tombstones: served.stamps.tombstoneCount)
    }
  }

  /// The stamps of what is served now.
  var stamps: OriginStamps { served.withLock { $0.stamps } }

  /// Checks the source once, and imports it if it changed and then stood still. Asks a database each time.
  ///
  /// An error is logged once and changes nothing.
  ///
  /// - Returns: The changes of a reload; `nil` if there was none.
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  package func reloadIfChanged(
    sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async throws -> Changes? {
    do {
      try reader.refresh()
      let destination = try directory.destination(
        last: reader.snapshot(), expecting: written.withLock { $0.sequence })
      let result = try await importer.run(.difference, into: destination, sleep: sleep)
      written.withLock { $0.sequence = result.report.update.sequence }
      let changes = try publish()
      note(result)
      if lastFailure.withLock({ $0.take() }) != nil { logger.info("reload succeeds again") }
      if result.isUnchanged, result.reading == nil, changes.isEmpty { return nil }
      // A database is asked each minute, changed or not.
      if source.database == nil || !changes.isEmpty { log("catalogue reloaded", result.reading, changes) }
      return changes
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      let error = directory.error(error, of: source)
      // A file with an error stays as it is until it changes. Everything else may pass by itself.
      failed(error, error.isOfFile ? "reload failed" : "reload waits")
      return nil
    }
  }

  /// Logs a failure, once.
  private func failed(_ error: OriginError, _ event: String) {
    let reason = "\(error)"
    let isNew = lastFailure.withLock { last in
      defer { last = reason }
      return last != reason
    }
    if isNew { logger.error("\(event), the former rows are served", metadata: ["reason": "\(reason)"]) }
  }

  /// Gives the changes since what is served their stamps, and serves them.
  private func publish() throws -> Changes {
    try reader.refresh()
    let rows = ServedRows(try reader.history())
    while true {
      let former = served.withLock { $0 }
      if rows.snapshot.sequence == former.rows.snapshot.sequence { return Changes() }
      let changes = try rows.snapshot.originChanges(since: former.rows.snapshot)
      var stamps = former.stamps
      if former.rows.snapshot.codeCount + rows.snapshot.codeCount > 0 { stamps.hasHadCodes = true }
      let marks = stamps.stamp(changes.stamped, now: clock.now())
      let revision = try state.save(
        marks, stamps, at: rows.snapshot.sequence, after: written.withLock { $0.revision })
      written.withLock { $0.revision = revision }
      let isExchanged = served.withLock { current in
        // A client has shown a later cursor in the meantime: the changes must get a later stamp.
        guard current.stamps.latestCursorSeen == former.stamps.latestCursorSeen else { return false }
        current = Served(rows: rows, stamps: stamps)
        return true
      }
      if !isExchanged { continue }
      try directory.compactIfDue()
      return changes.counts
    }
  }

  /// Checks the source at each interval until the task is cancelled.
  package func watch(every interval: Duration, sleep: @Sendable (Duration) async throws -> Void) async throws {
    while true {
      try await sleep(interval)
      try await reloadIfChanged(sleep: sleep)
    }
  }

  private func log(_ event: Logger.Message, _ reading: SourceDecoding.Reading?, _ changes: Changes? = nil) {
    let counts = counts
    var metadata: Logger.Metadata = [
      "products": "\(counts.products)", "relations": "\(counts.relations)", "cursor": "\(stamps.newest.string)",
    ]
    if counts.codes > 0 { metadata["codes"] = "\(counts.codes)" }
    if let changes {
      metadata["inserted"] = "\(changes.inserted)"
      metadata["updated"] = "\(changes.updated)"
      metadata["deleted"] = "\(changes.deleted)"
    }
    if let reading, !source.usesUpdateTimes {
      metadata["columns"] = .array(
        reading.columns.filter { !$0.fields.isEmpty }.map { "\($0.name) → \($0.fields.joined(separator: ", "))" })
      if let guess = reading.guess { metadata["encoding"] = "\(guess.name)" }
    }
    logger.info(event, metadata: metadata)
    if let ignored = reading?.summary.ignored, !ignored.isEmpty {
      logger.warning(
        "values under unknown keys were left out",
        metadata: Logger.Metadata(
          uniqueKeysWithValues: ignored.map { ($0.key.isEmpty ? "others" : $0.key, "\($0.value)") }))
    }
    if let defaulted = reading?.defaulted, defaulted > 0 {
      logger.warning("values of the wrong type were replaced by defaults", metadata: ["count": "\(defaulted)"])
    }
  }
}

extension CatalogueSource {
  /// Whether the `updateTime` of a row orders it, and is not data like any other.
  var usesUpdateTimes: Bool {
    if case .server = rows { true } else { false }
  }
}

/// The wall clock that an origin takes its stamps from.
package struct OriginClock: Sendable {
  /// The local wall-clock time as seconds since 1970, without a time zone.
  package var seconds: @Sendable () -> Int64

  /// Creates a clock from a closure that returns seconds since 1970 in local time.
  package init(seconds: @escaping @Sendable () -> Int64) { self.seconds = seconds }

  /// The machine's time in its time zone, because the `updateTime` of rows usually is local time: both kinds of stamp
  /// then stay in order across a restart.
  package static let local = OriginClock {
    let now = Int64(Date().timeIntervalSince1970)
    return now + Int64(LocalTime.secondsAheadOfUTC(at: now))
  }

  func now() -> Stamp { Stamp(secondsSince1970: seconds()) }
}
