public import LogStore

/// The one writer of a catalogue. It belongs to whoever opened it.
public final class CatalogWriter {
  let store: StoreWriter
  private let path: String
  /// Whether something may be begun; what has begun is finished.
  private let isPermitted: @Sendable () -> Bool

  /// How long the generation that a full update replaced is kept unless somebody says otherwise: a week.
  public static let defaultPreviousLifetime = Duration.seconds(7 * 86_400)

  /// Opens a catalogue for writing, and puts in order what a crash left.
  ///
  /// - Parameters:
  ///   - location: which catalogue.
  ///   - waiting: how long to wait for another writer to finish.
  ///   - previousLifetime: How long the generation that a full update replaced is kept, so that the update can be undone;
  ///     zero keeps none. One that was kept for longer is deleted with the next commit.
  ///   - replacesDamaged: Whether to begin anew where the catalogue cannot be opened. The damaged file stays where it is
  ///     until the first commit, which renames it; see ``damagedPath``.
  /// - Throws: `StoreError.locked` after that time; `.damaged`, `.unusable`, `.schema`, `.io`.
  public convenience init(
    _ location: StoreLocation, waiting: Duration = .zero,
    previousLifetime: Duration = CatalogWriter.defaultPreviousLifetime, replacesDamaged: Bool = false
  ) throws(StoreError) {
    try self.init(
      location, waiting: waiting, previousLifetime: previousLifetime, replacesDamaged: replacesDamaged
    ) { true }
  }

  /// Opens a catalogue for writing for as long as `isPermitted` says so: it is asked before anything begins. An update that
  /// has begun is finished.
  package init(
    _ location: StoreLocation, waiting: Duration,
    previousLifetime: Duration = CatalogWriter.defaultPreviousLifetime, replacesDamaged: Bool = false,
    while isPermitted: @escaping @Sendable () -> Bool
  ) throws(StoreError) {
    store = try StoreWriter(
      location, schema: CatalogSchema.schema, waiting: waiting, previousLifetime: previousLifetime,
      replacesDamaged: replacesDamaged)
    path = location.path
    self.isPermitted = isPermitted
  }

  /// - Throws: `StoreError.closed` for a writer that may begin nothing more.
  private func checkPermission() throws(StoreError) {
    if !isPermitted() { throw .closed(path: path) }
  }

  /// The catalogue at the last commit.
  public func snapshot() throws(CatalogError) -> CatalogSnapshot {
    do { try checkPermission() } catch { throw .store(error) }
    return try CatalogSnapshot(store.snapshot)
  }

  /// Where a catalogue that could not be opened is now, after the commit that took its place.
  public var damagedPath: String? { store.damagedPath }

  /// The number that the next commit will have.
  public var nextSequence: UInt64 { store.nextSequence }

  /// Begins a full update: rows go straight into a new generation. An update that is still open is given up.
  ///
  /// - Parameters:
  ///   - gate: What the update may lose of the old catalogue.
  ///   - rowGate: How many rows may be skipped or collapse. `nil` makes a row that exceeds a limit an error, and
  ///     accepts any number of products with one id.
  public func beginFullUpdate(
    _ gate: LossGate = LossGate(), rowGate: RowGate? = nil
  ) throws(StoreError) -> FullUpdate {
    try checkPermission()
    return FullUpdate(store, try store.beginGeneration(), gate, rowGate)
  }

  /// Begins an increment: rows are kept until the payload is whole.
  ///
  /// - Parameters:
  ///   - threshold: so many rows in one list call for a full update; `nil` for no limit.
  ///   - rowGate: As for ``beginFullUpdate(_:rowGate:)``.
  public func beginIncrement(threshold: Int? = nil, rowGate: RowGate? = nil) -> Increment {
    Increment(store, threshold: threshold, rowGate, refusal: isPermitted() ? nil : .closed(path: path))
  }

  /// Merges an increment whose rows came before this writer was opened.
  ///
  /// - Throws: `StoreError.closed` for a writer that may begin nothing more; as
  ///   ``Increment/commit(cursor:defaulted:skipsUnchanged:)``.
  public func commit(
    _ increment: consuming Increment, cursor: String, defaulted: Int = 0, skipsUnchanged: Bool = false
  ) throws -> UpdateReport {
    try checkPermission()
    return try increment.commit(to: store, cursor: cursor, defaulted: defaulted, skipsUnchanged: skipsUnchanged)
  }

  /// The commits that can be gone back to: see ``rollback(to:)``.
  public func history() throws(CatalogError) -> CatalogHistory {
    CatalogHistory(try snapshot()) { () throws(StoreError) in try store.previousGeneration() }
  }

  /// Makes the catalogue as it was at an earlier commit current again, with its cursor, as a new commit.
  ///
  /// A commit from before the last full update is written into a new generation; the present one is kept in its turn.
  /// So each rollback can be undone.
  ///
  /// - Returns: what was done, and is durable; `nil` if the commit is not kept.
  /// - Throws: `StoreError`, with it `.noRoom`; `CatalogError.unknownState`. Nothing changed then.
  /// - Complexity: in what changed since that commit, whatever the size of the catalogue; for a commit from before the last
  ///   full update in the size of both.
  public func rollback(to sequence: UInt64) throws -> UpdateReport? {
    let history = try history()
    guard let earlier = try history.at(sequence), let old = earlier.store else { return nil }
    var state = CatalogState()
    state.cursor = earlier.cursor
    state.mode = .rollback
    let last = history.current
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
      for row in changes.added[CatalogSchema.products] {
        // One that was there before as well is put again, not deleted.
        let remains = try last.withProduct(row) { (view) throws(StoreError) in
          try earlier.view(id: view.utf8.id) != nil
        }
        if remains == false { state.counts.productsDeleted += 1 }
      }
      transaction.state = state.encoded
    }
    return UpdateReport(state, new)
  }

  /// Deletes the generation that the last full update replaced: that update can no longer be undone.
  ///
  /// - Returns: Bytes of the deleted file; 0 if none was kept.
  /// - Throws: `StoreError.closed`, `.io`.
  @discardableResult
  public func dropPrevious() throws(StoreError) -> Int {
    try checkPermission()
    return try store.dropPrevious()
  }

  /// Writes what is live into a new generation.
  ///
  /// - Parameter announce: learns before anything is written how much room it takes.
  /// - Throws: `StoreError.noRoom` where there is less; nothing changed then.
  @discardableResult
  public func compact(announcing announce: (Room) throws -> Void = { _ in }) throws -> CatalogSnapshot {
    try checkPermission()
    return try CatalogSnapshot(store.compact(announcing: announce))
  }

  /// The room that a full update of about the present size takes, and what there is. How large it will be nobody knows
  /// before it came.
  public func roomForFullUpdate() throws -> Room {
    try checkPermission()
    return try store.roomForGeneration()
  }

  /// Compacts if `policy` finds it worth it. Asked after each commit, it bounds the file; see `CompactionPolicy`.
  ///
  /// - Returns: whether it did.
  /// - Throws: as ``compact(announcing:)``, `StoreError.noRoom` with it. That is worth a warning and no more: the commits
  ///   before it are durable, and the next call tries again.
  @discardableResult
  public func compactIfWorthwhile(_ policy: CompactionPolicy = .standard) throws -> Bool {
    try checkPermission()
    guard let last = store.snapshot, try policy.isDue(in: last) else { return false }
    try compact()
    return true
  }

  /// Makes what is written durable to the last note, and lets go of the lock.
  public func close() { store.close() }
}
