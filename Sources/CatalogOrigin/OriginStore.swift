import Foundation
package import Logging
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

  /// Reads the files.
  ///
  /// - Throws: ``OriginError`` for a file that cannot be read or has an invalid line.
  package init(files: OriginFiles, clock: OriginClock = .local, logger: Logger) throws(OriginError) {
    // The signature first: a change while the file is being read is then detected by the next check.
    let signature = OriginFiles.Signature(files)
    let content = try files.load()
    let loaded = OriginCatalogue(content.rows, now: clock.now())
    self.files = files
    self.clock = clock
    self.logger = logger
    catalogue = Mutex(loaded)
    gate = Mutex(ReloadGate(served: signature))
    log("catalogue loaded", loaded, content)
  }

  /// The answer for a client with this cursor.
  package func answer(cursor: String) -> OriginAnswer {
    let now = clock.now()
    return catalogue.withLock { $0.answer(cursor: cursor, now: now) }
  }

  /// The number of products, relations and tombstones that are served now.
  package var counts: OriginCatalogue.Counts { catalogue.withLock { $0.counts } }

  /// Checks the files once, and reads them if they changed and were then unchanged for one interval.
  ///
  /// An error is logged once and changes nothing.
  ///
  /// - Returns: The changes of a reload; `nil` if there was none.
  @discardableResult
  package func look() -> OriginCatalogue.Changes? {
    let signature = OriginFiles.Signature(files)
    guard gate.withLock({ $0.isReady(signature) }) else { return nil }
    do {
      let changes = try reload()
      gate.withLock { $0.succeeded(with: signature) }
      return changes
    } catch {
      gate.withLock { $0.failed(with: signature) }
      logger.error("reload failed, the former rows are served", metadata: ["reason": "\(error)"])
      return nil
    }
  }

  private func reload() throws(OriginError) -> OriginCatalogue.Changes {
    let content = try files.load()
    while true {
      let former = catalogue.withLock { $0 }
      guard content.rows.productCount > 0 || former.counts.products == 0 else {
        throw .nothingLeft(path: files.products)
      }
      var following = former
      let changes = following.reload(content.rows, now: clock.now())
      let isExchanged = catalogue.withLock { current in
        // A client has shown a later cursor in the meantime: the changes must get a later stamp.
        guard current.latestCursorSeen == former.latestCursorSeen else { return false }
        current = following
        return true
      }
      guard isExchanged else { continue }
      log("catalogue reloaded", following, content, changes)
      return changes
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
    logger.info(event, metadata: metadata)
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
    let now = Date()
    return Int64(now.timeIntervalSince1970) + Int64(TimeZone.current.secondsFromGMT(for: now))
  }

  func now() -> Stamp { Stamp(secondsSince1970: seconds()) }
}
