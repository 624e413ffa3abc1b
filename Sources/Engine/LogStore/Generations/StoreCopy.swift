import Platform
import RecordFormat
import Storage

/// Copies of a store for a backup, and the way back.
///
/// A copy is an ordinary log with the store's id, up to the last acknowledged commit. The bytes up to there never
/// change, so the store may be written meanwhile, and no lock is needed. Only the slots are the copy's own: those of the
/// store may name a commit that the copy does not have.
package enum StoreCopy {
  /// Copies the log of `source`, up to its last acknowledged commit, to `target`, where there must be no store and
  /// nobody writes. The copy is durable, and it is a log of its own, even if `source` shares a base.
  ///
  /// - Returns: The commit; `nil` if nothing was ever committed to `source`.
  /// - Throws: `StoreError.damaged`, `.unusable` of the source; `.io`. The target then has no log.
  package static func make(of source: StoreLocation, at target: StoreLocation) throws(StoreError) -> Snapshot? {
    guard let log = try LogFile.open(source, .read) else {
      try source.checkLogNotRemoved()
      return nil
    }
    guard let footer = try log.acknowledgedFooter() else { throw log.noCommit }
    var header = log.header
    header.base = nil
    do { try target.writeLog(header, endingWith: footer, copying: log.file) } catch {
      _ = try? target.directory.remove(target.new)
      throw .io(error)
    }
    return try StoreReader.open(target)?.snapshot
  }

  /// Makes the last commit of the store `copy` the last commit of the store at `target`.
  ///
  /// Where there is no store, the copy gets its name, with its history. Otherwise the rows and the state of the commit
  /// become a new generation, which replaces the log atomically: readers follow it as they follow a full update, and
  /// writers wait for the lock. A damaged log is kept as `NAME.damaged-1` or the next free name.
  ///
  /// - Parameters:
  ///   - copy: The store to take the commit from. It must not change meanwhile.
  ///   - lockTimeout: The time to wait for another writer of `target` to finish.
  ///   - previousLifetime: The time for which the replaced generation is kept; zero keeps none.
  /// - Returns: The new commit; `nil` if `copy` has no commit, and nothing was changed.
  /// - Throws: `StoreError.locked`, `.noRoom`; `.damaged`, `.unusable` of the copy; `.io`.
  /// - Complexity: Verifies `target`, reads each row of the copy once, and writes it once.
  package static func restore(
    _ copy: StoreLocation, to target: StoreLocation, lockTimeout: Duration, previousLifetime: Duration
  ) throws -> Snapshot? {
    guard let earlier = try StoreReader.open(copy)?.snapshot else { return nil }
    if try !hasStore(target) {
      let lock = try StoreWriter.lock(target, lockTimeout)
      defer { lock.release() }
      // Another process may have made a store since.
      if try !hasStore(target) { return try make(of: copy, at: target) }
    }
    // The tables and their indexes are those of the copy, whatever kind of store it is.
    let writer = try StoreWriter(
      target, schema: Schema([]), lockTimeout: lockTimeout, previousLifetime: previousLifetime, replacesDamaged: true)
    defer { writer.close() }
    // A damaged generation is nothing to go back to.
    if try Verification.run(target)?.findings.isEmpty == false { try writer.markDamaged() }
    return try writer.restore(earlier) { transaction in transaction.state = earlier.state }
  }

  /// Whether there is a log, or the generation before one, whatever its condition.
  package static func hasStore(_ location: StoreLocation) throws(StoreError) -> Bool {
    try storage { () throws(StorageError) in
      if try location.directory.identity(of: location.log) != nil { return true }
      return try location.directory.identity(of: location.previous) != nil
    }
  }
}
