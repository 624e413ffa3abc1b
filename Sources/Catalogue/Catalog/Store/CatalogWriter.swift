public import LogStore

/// The only writer of a catalogue. It is not shared: it belongs to the code that opened it.
public final class CatalogWriter {
  let store: StoreWriter
  private let path: String
  /// Whether a new operation may start. An operation that has started is finished.
  private let isPermitted: @Sendable () -> Bool

  /// The default time for which the generation that a full update replaced is kept: one week.
  public static let defaultPreviousLifetime = Duration.seconds(7 * 86_400)

  /// Opens a catalogue for writing and recovers it after a crash.
  ///
  /// - Parameters:
  ///   - location: The location of the catalogue.
  ///   - lockTimeout: The time to wait for another writer to finish.
  ///   - previousLifetime: The time for which the generation that a full update replaced is kept, so that the update
  ///     can be undone; zero keeps no generation. An older one is deleted with the next commit.
  ///   - indexes: The indexes that the next full update or compaction writes in addition to those by id and barcode.
  ///   - replacesDamaged: Whether to start a new catalogue if this one cannot be opened. The damaged file stays in
  ///     place until the first commit, which renames it; see ``damagedPath``.
  /// - Throws: `StoreError.locked` after the lock timeout; `.damaged`, `.unusable`, `.schema`, `.io`.
  public convenience init(
    _ location: StoreLocation, lockTimeout: Duration = .zero,
    previousLifetime: Duration = CatalogWriter.defaultPreviousLifetime, indexes: CatalogIndexes = .standard,
    replacesDamaged: Bool = false
  ) throws(StoreError) {
    try self.init(
      location, lockTimeout: lockTimeout, previousLifetime: previousLifetime, indexes: indexes,
      replacesDamaged: replacesDamaged
    ) { true }
  }

  /// Opens a catalogue for writing. `isPermitted` is called before each operation; once it returns `false`, no new
  /// operation starts. An update that has started is finished.
  package init(
    _ location: StoreLocation, lockTimeout: Duration,
    previousLifetime: Duration = CatalogWriter.defaultPreviousLifetime, indexes: CatalogIndexes = .standard,
    replacesDamaged: Bool = false, while isPermitted: @escaping @Sendable () -> Bool
  ) throws(StoreError) {
    store = try StoreWriter(
      location, schema: CatalogSchema.schema(with: indexes), lockTimeout: lockTimeout,
      previousLifetime: previousLifetime,
      replacesDamaged: replacesDamaged)
    path = location.path
    self.isPermitted = isPermitted
  }

  /// Checks whether a new operation may start.
  ///
  /// - Throws: `StoreError.closed` if the writer may start no more operations.
  private func checkPermission() throws(StoreError) {
    if !isPermitted() { throw .closed(path: path) }
  }

  /// Returns the catalogue at the last commit.
  public func snapshot() throws(CatalogError) -> CatalogSnapshot {
    do { try checkPermission() } catch { throw .store(error) }
    return try CatalogSnapshot(store.snapshot)
  }

  /// The path to which a catalogue that could not be opened was moved by the commit that replaced it.
  public var damagedPath: String? { store.damagedPath }

  /// The sequence number of the next commit.
  package var nextSequence: UInt64 { store.nextSequence }

  /// Starts a full update, which writes rows directly into a new generation. An update that is still open is discarded.
  ///
  /// - Parameters:
  ///   - lossLimit: The limits on what the update may lose of the old catalogue.
  ///   - rowLimits: The limits on rows that are skipped or collapse. With `nil`, a row that exceeds a limit of the
  ///     format is an error, and any number of products may have the same id.
  public func beginFullUpdate(
    _ lossLimit: LossLimit = LossLimit(), rowLimits: RowLimits? = nil
  ) throws(StoreError) -> FullUpdate {
    try checkPermission()
    return FullUpdate(store, try store.beginGeneration(), lossLimit, rowLimits)
  }

  /// Starts an increment, which keeps rows in memory until the payload is complete.
  ///
  /// - Parameters:
  ///   - threshold: The number of rows in one list that makes a full update due; `nil` for no limit.
  ///   - rowLimits: The limits on rows, as for ``beginFullUpdate(_:rowLimits:)``.
  public func beginIncrement(threshold: Int? = nil, rowLimits: RowLimits? = nil) -> Increment {
    Increment(store, threshold: threshold, rowLimits, refusal: isPermitted() ? nil : .closed(path: path))
  }

  /// Merges an increment whose rows arrived before this writer was opened.
  ///
  /// - Throws: `StoreError.closed` if the writer may start no more operations; the errors of
  ///   ``Increment/commit(cursor:defaulted:skipsUnchanged:)``.
  public func commit(
    _ increment: consuming Increment, cursor: String, defaulted: Int = 0, skipsUnchanged: Bool = false
  ) throws -> UpdateReport {
    try checkPermission()
    return try increment.commit(to: store, cursor: cursor, defaulted: defaulted, skipsUnchanged: skipsUnchanged)
  }

  /// Returns the commits to which ``rollback(to:)`` can return.
  public func history() throws(CatalogError) -> CatalogHistory {
    CatalogHistory(try snapshot()) { () throws(StoreError) in try store.previousGeneration() }
  }

  /// Makes the catalogue at an earlier commit current again, including its cursor, by writing a new commit.
  ///
  /// A commit from before the last full update is written into a new generation, and the present generation is kept in
  /// turn. So each rollback can be undone.
  ///
  /// - Returns: The changes, which are durable; `nil` if the commit is not kept.
  /// - Throws: `StoreError`, including `.noRoom`; `CatalogError.unknownState`. Nothing was changed in this case.
  /// - Complexity: Proportional to the changes since that commit, regardless of the size of the catalogue. For a commit
  ///   from before the last full update, proportional to the size of both generations.
  public func rollback(to sequence: UInt64) throws -> UpdateReport? {
    let history = try history()
    guard let earlier = try history.at(sequence), let old = earlier.store else { return nil }
    var state = CatalogState()
    state.cursor = earlier.cursor
    state.mode = .rollback
    state.hasExtra = earlier.state.hasExtra
    state.codeCount = earlier.codeCount
    let last = history.current
    state.publication = last.publication?.withoutSum
    if last.store?.isSameGeneration(as: old) != true {
      let new = try store.restore(old) { transaction in
        state.counts = try earlier.rollbackCounts(from: last)
        transaction.state = state.encoded
      }
      return UpdateReport(state, new)
    }
    let new = try store.rollback(to: old) { transaction, changes in
      state.counts.productsUpserted = changes.removed[CatalogSchema.products].count
      state.counts.relationsWritten = changes.removed[CatalogSchema.relations].count
      state.counts.relationsDeleted = changes.added[CatalogSchema.relations].count
      let codes = (written: changes.removed.of(CatalogSchema.codes), deleted: changes.added.of(CatalogSchema.codes))
      state.counts.codesWritten = try earlier.codeCount(in: codes.written)
      state.counts.codesDeleted = try last.codeCount(in: codes.deleted)
      for row in changes.added[CatalogSchema.products] {
        // A product that also existed at that commit is put again, not deleted.
        let remains = try last.withProduct(row) { (view) throws(StoreError) in
          let scope = ScratchScope(earlier.store)
          defer { scope.end() }
          return try earlier.view(id: view.utf8.id) != nil
        }
        if remains == false { state.counts.productsDeleted += 1 }
      }
      transaction.state = state.encoded
    }
    return UpdateReport(state, new)
  }

  /// Deletes the generation that the last full update replaced. That update can no longer be undone.
  ///
  /// - Returns: The size of the deleted file in bytes; 0 if no generation was kept.
  /// - Throws: `StoreError.closed`, `.io`.
  @discardableResult
  public func dropPrevious() throws(StoreError) -> Int {
    try checkPermission()
    return try store.dropPrevious()
  }

  /// Writes the live rows into a new generation.
  ///
  /// - Parameter announce: A closure that is called with the required disk space before anything is written.
  /// - Throws: `StoreError.noRoom` if less space is available; nothing was changed in this case.
  @discardableResult
  public func compact(announcing announce: (DiskSpace) throws -> Void = { _ in }) throws -> CatalogSnapshot {
    try checkPermission()
    return try CatalogSnapshot(store.compact(announcing: announce))
  }

  /// Returns the disk space that a full update of about the present size needs and the space that is available. The
  /// actual size is known only after the update has arrived.
  package func roomForFullUpdate() throws -> DiskSpace {
    try checkPermission()
    return try store.spaceForGeneration()
  }

  /// Compacts if `policy` recommends it. Call this after each commit to bound the size of the file; see
  /// `CompactionPolicy`.
  ///
  /// - Returns: Whether a compaction was done.
  /// - Throws: The errors of ``compact(announcing:)``, including `StoreError.noRoom`. Treat that one as a warning: the
  ///   earlier commits are durable, and the next call tries again.
  @discardableResult
  public func compactIfDue(_ policy: CompactionPolicy = .standard) throws -> Bool {
    try checkPermission()
    guard let last = store.snapshot, try policy.isDue(in: last) else { return false }
    try compact()
    return true
  }

  /// Makes everything written durable and releases the lock.
  public func close() { store.close() }
}
