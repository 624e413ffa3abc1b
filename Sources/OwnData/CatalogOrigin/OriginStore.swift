import Essentials
package import Logging
import Platform
import Synchronization

/// The catalogue that a server answers from, reloaded when its files change.
package final class OriginStore: Sendable {
  private let files: OriginFiles
  private let clock: OriginClock
  private let logger: Logger
  /// Guards the catalogue. Held for a read or a replacement, never while files are read or rows compared.
  private let catalogue: Mutex<OriginCatalogue>
  /// Guards the decision; only one watcher at a time uses it.
  private let gate: Mutex<ReloadGate<OriginFiles.Signature>>
  /// Keeps stamps and deletions across restarts, if anything does.
  private let state: OriginState?
  /// The number of the last reload in `state`. Only one watcher at a time uses it.
  private let revision: Mutex<Int>
  /// The last failure to write `state` or to read a database, which is logged once.
  private let lastFailure = Mutex<String?>(nil)
  /// The rows of a database, to put newer ones over; `nil` if all rows are read each time.
  private let former: Mutex<OriginFiles.Content?>

  /// Reads the files.
  ///
  /// - Parameters:
  ///   - files: The files to serve.
  ///   - state: The directory of the store that keeps stamps and deletions across restarts. It is created if it does not
  ///     exist. `nil` to keep them in memory only.
  ///   - clock: The clock of new stamps.
  ///   - logger: Receives each reload and each failure.
  /// - Throws: ``OriginError`` for a file that cannot be read or has an invalid line, and for a `state` that cannot be
  ///   opened, read or written.
  package init(
    files: OriginFiles, state directory: String? = nil, clock: OriginClock = .local, logger: Logger
  ) throws(OriginError) {
    files.waitUntilSettled()
    // The signature first: a change while the file is being read is then detected by the next check.
    let signature = OriginFiles.Signature(files)
    let content = try files.load(goesBack: true)
    let (state, loaded, revision) = try Self.load(content.rows, files, directory, clock.now())
    self.state = state
    self.revision = Mutex(revision)
    self.files = files
    self.clock = clock
    self.logger = logger
    catalogue = Mutex(loaded)
    gate = Mutex(ReloadGate(served: signature))
    former = Mutex(files.database?.since == nil ? nil : content)
    for error in content.refused {
      logger.error("a newer file is refused, an older one is served", metadata: ["reason": "\(error)"])
    }
    log("catalogue loaded", loaded, content)
  }

  private static func load(
    _ rows: OriginRows, _ files: OriginFiles, _ directory: String?, _ now: Stamp
  ) throws(OriginError) -> (OriginState?, OriginCatalogue, revision: Int) {
    guard let directory else { return (nil, OriginCatalogue(rows, now: now), 0) }
    do {
      let state = try OriginState(directory: directory)
      guard let memory = try state.load() else {
        let catalogue = OriginCatalogue(rows, now: now)
        return (state, catalogue, try state.save(catalogue.entries, of: catalogue, after: 0))
      }
      guard rows.productCount > 0 || memory.productCount == 0 else {
        throw OriginError.nothingLeft(
          path: files.products,
          remedy: "to serve an empty catalogue, delete \(directory); clients then need a full update")
      }
      let (catalogue, changes) = try OriginCatalogue.continuing(memory, rows, now: now)
      if changes.isEmpty { return (state, catalogue, memory.revision) }
      let changed = catalogue.entries(after: memory.newestStamp)
      return (state, catalogue, try state.save(changed, of: catalogue, after: memory.revision))
    } catch let error as OriginError {
      throw error
    } catch {
      throw .stateFailed(path: directory, reason: "\(error)")
    }
  }

  /// The answer for a client with this cursor.
  package func answer(cursor: String) -> OriginAnswer {
    let now = clock.now()
    return catalogue.withLock { $0.answer(cursor: cursor, now: now) }
  }

  /// The number of products, relations and tombstones that are served now.
  package var counts: OriginCatalogue.Counts { catalogue.withLock { $0.counts } }

  /// Checks the files once, and reads them if they changed and were then unchanged for one interval. Asks a database
  /// each time.
  ///
  /// An error is logged once and changes nothing.
  ///
  /// - Returns: The changes of a reload; `nil` if there was none.
  @discardableResult
  package func look() -> OriginCatalogue.Changes? {
    let signature = OriginFiles.Signature(files)
    guard files.database != nil || gate.withLock({ $0.isReady(signature) }) else { return nil }
    do {
      let changes = try reload()
      gate.withLock { $0.succeeded(with: signature) }
      if lastFailure.withLock({ $0.take() }) != nil { logger.info("reload succeeds again") }
      return changes
    } catch .stateFailed(let path, let reason) {
      // A full disk has room again some time, and the files have not changed then.
      gate.withLock { $0.postponed() }
      waits(because: .stateFailed(path: path, reason: reason))
      return nil
    } catch {
      if files.database != nil {
        // The next look asks again.
        waits(because: error)
        return nil
      }
      gate.withLock { $0.failed(with: signature) }
      logger.error("reload failed, the former rows are served", metadata: ["reason": "\(error)"])
      return nil
    }
  }

  /// Logs a failure that the next look may not have, once.
  private func waits(because error: OriginError) {
    let reason = "\(error)"
    let isNew = lastFailure.withLock { last in
      defer { last = reason }
      return last != reason
    }
    if isNew { logger.error("reload waits, the former rows are served", metadata: ["reason": "\(reason)"]) }
  }

  private func reload() throws(OriginError) -> OriginCatalogue.Changes {
    let content = try files.load(onto: former.withLock { $0 })
    if files.database?.since != nil { former.withLock { $0 = content } }
    while true {
      let former = catalogue.withLock { $0 }
      guard content.rows.productCount > 0 || former.counts.products == 0 else {
        throw .nothingLeft(path: files.products)
      }
      var following = former
      let changes = following.reload(content.rows, now: clock.now())
      if !changes.isEmpty { try save(following, after: former.newestStamp) }
      let isExchanged = catalogue.withLock { current in
        // A client has shown a later cursor in the meantime: the changes must get a later stamp.
        guard current.latestCursorSeen == former.latestCursorSeen else { return false }
        current = following
        return true
      }
      guard isExchanged else { continue }
      // A database is asked each minute, changed or not.
      if files.database == nil || !changes.isEmpty { log("catalogue reloaded", following, content, changes) }
      return changes
    }
  }

  /// Writes the changes of a reload, before any of them is served.
  private func save(_ catalogue: OriginCatalogue, after stamp: Stamp) throws(OriginError) {
    guard let state else { return }
    do {
      try revision.withLock { revision in
        revision = try state.save(catalogue.entries(after: stamp), of: catalogue, after: revision)
      }
    } catch {
      throw .stateFailed(path: state.path, reason: "\(error)")
    }
  }

  /// Checks the files at each interval until the task is cancelled.
  package func watch(every interval: Duration, sleep: @Sendable (Duration) async throws -> Void) async throws {
    while true {
      try await sleep(interval)
      look()
    }
  }

  private func log(
    _ event: Logger.Message, _ catalogue: OriginCatalogue, _ content: OriginFiles.Content,
    _ changes: OriginCatalogue.Changes? = nil
  ) {
    var metadata: Logger.Metadata = [
      "products": "\(catalogue.counts.products)", "relations": "\(catalogue.counts.relations)",
      "cursor": "\(catalogue.newestStamp.string)",
    ]
    if let changes {
      metadata["inserted"] = "\(changes.inserted)"
      metadata["updated"] = "\(changes.updated)"
      metadata["deleted"] = "\(changes.deleted)"
    }
    if let reading = content.reading {
      metadata["columns"] = .array(
        reading.columns.filter { !$0.fields.isEmpty }.map { "\($0.name) → \($0.fields.joined(separator: ", "))" })
      if let guess = reading.guess { metadata["encoding"] = "\(guess.name)" }
    }
    logger.info(event, metadata: metadata)
    if let ignored = content.reading?.summary.ignored, !ignored.isEmpty {
      logger.warning(
        "values under unknown keys were left out",
        metadata: Logger.Metadata(
          uniqueKeysWithValues: ignored.map { ($0.key.isEmpty ? "others" : $0.key, "\($0.value)") }))
    }
    if content.defaultedCount > 0 {
      logger.warning(
        "values of the wrong type were replaced by defaults", metadata: ["count": "\(content.defaultedCount)"]
      )
    }
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
