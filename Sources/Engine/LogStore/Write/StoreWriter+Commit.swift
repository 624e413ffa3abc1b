import Bytes
import RecordFormat

/// Commits, each of which appends one segment to the log.
extension StoreWriter {
  /// Starts a transaction. Put and delete rows in it, then call ``commit(_:keepsPrevious:accept:)``.
  ///
  /// In a store without a commit this is ``beginGeneration()``. A transaction that is still open is discarded.
  ///
  /// - Throws: `StoreError.poisoned`, `.forked`, `.io`.
  public func begin() throws(StoreError) -> Transaction {
    guard let log, let base = snapshot else { return try beginGeneration() }
    try checkUsable()
    discardOpenTransaction()
    try checkLog(log, after: base.footer)
    let manifest = try schema.adopt(base.manifest, path: log.path)
    let transaction = Transaction(
      log: log, start: base.end, sequence: nextSequence, base: base, manifest: manifest, schema: schema,
      location: location)
    transaction.tail = tail
    return open(transaction)
  }

  func open(_ transaction: Transaction) -> Transaction {
    openTransaction = transaction
    return transaction
  }

  /// Commits the rows that `body` puts and deletes, and the state that it leaves in the transaction.
  ///
  /// - Throws: Any error that `body` throws, with nothing changed; the errors of ``commit(_:keepsPrevious:accept:)``.
  public func commit(_ body: (Transaction) throws -> Void) throws -> Snapshot {
    try commit(filling: begin(), body)
  }

  func commit(
    filling transaction: Transaction, keepsPrevious: Bool = true, _ body: (Transaction) throws -> Void,
    accept: (Snapshot) throws -> Void = { _ in }
  ) throws -> Snapshot {
    do { try body(transaction) } catch {
      discard(transaction)
      throw error
    }
    return try commit(transaction, keepsPrevious: keepsPrevious, accept: accept)
  }

  /// Commits a transaction.
  ///
  /// - Parameters:
  ///   - transaction: The transaction to commit, which this writer started.
  ///   - keepsPrevious: Whether the old generation stays on disk under the name `.previous`, if the transaction is a
  ///     new generation.
  ///   - accept: A closure that examines a new generation before it counts and can reject it by throwing.
  /// - Returns: The new commit, which is durable.
  /// - Throws: Any error that `accept` throws, with nothing changed; `StoreError`. After `.io` this writer can no
  ///   longer be used.
  /// - Complexity: Proportional to the changes, not to the size of the store; one sync for up to 8 MiB, two for more.
  public func commit(
    _ transaction: Transaction, keepsPrevious: Bool = true, accept: (Snapshot) throws -> Void = { _ in }
  ) throws -> Snapshot {
    precondition(
      transaction === openTransaction, "a transaction is committed once, by the writer that began it")
    try checkUsable()
    if let failure = transaction.failure {
      discardOpenTransaction()
      throw failure
    }
    let identity = SegmentBuilder.Identity(
      storeID: transaction.log.header.storeID, sequence: transaction.sequence,
      generation: transaction.log.header.generation, previous: transaction.base?.footer,
      time: location.environment.now())
    let new =
      transaction.base == nil
      ? try commitGeneration(transaction, identity, keepsPrevious, accept)
      : try commitSegment(transaction, identity)
    openTransaction = nil
    // The commit counts even if this fails.
    if let base = transaction.base, let previousLifetime {
      try? location.expirePrevious(after: previousLifetime, since: base.time)
    }
    transaction.isOpen = false
    remember(transaction, new)
    if let committed = location.committed {
      let isCopy = new.sequence == snapshot?.sequence
      committed(DurableCommit(transaction.base != nil ? .rows : isCopy ? .copy : .everything, new))
    }
    snapshot = new
    assertInvariants()
    return new
  }

  func remember(_ transaction: Transaction, _ new: Snapshot) {
    // Releasing the transaction's reference lets the tail cache be changed in place, without a copy.
    transaction.tail = nil
    if transaction.base == nil { tail = TailCache() }
    let blocks = new.manifest.tables.flatMap { table in table.keySpaces.flatMap { $0.blocks.map(\.offset) } }
    tail.update(
      written: transaction.writtenRows, blocks: Set(blocks), newDead: transaction.dead,
      firstRow: UnitOffset(byteOffset: new.baseEnd).rawValue)
  }

  func commitSegment(
    _ transaction: Transaction, _ identity: SegmentBuilder.Identity
  ) throws(StoreError) -> Snapshot {
    let log = transaction.log
    let footer: SegmentFooter
    do {
      if let base = transaction.base {
        try checkLog(log, after: base.footer, mayBeLonger: transaction.appender.builder.isLarge)
      }
      if let slotToRewrite { try log.rewrite(slotToRewrite) }
      slotToRewrite = nil
    } catch {
      discardOpenTransaction()
      throw error
    }
    do {
      footer = try transaction.seal(identity)
    } catch {
      switch error {
      case .io, .replaced:
        // A part of the commit may be in the file after the last one; the next writer to open the store truncates it.
        // This writer must not: the footer may already be in the file, and a reader may show it.
        poison = "\(error)"
        abandonOpenTransaction()
      default: discardOpenTransaction()
      }
      throw error
    }
    do { try checkWritten(footer, after: transaction.base?.footer, in: log) } catch {
      // The sync took long, and the file may be another one by now. If it is not, the commit counts, and this writer would
      // overwrite it with its next one.
      poison = "\(error)"
      abandonOpenTransaction()
      throw error
    }
    acknowledge(footer, in: log)
    do {
      let mapping = try log.mapping(reaching: Int(footer.end), reusing: transaction.base?.mapping)
      return try Snapshot(log, mapping, footer)
    } catch {
      // The commit counts, but this writer does not know it and would overwrite it with its next one.
      poison = "\(error)"
      abandonOpenTransaction()
      throw error
    }
  }

  /// Discards a transaction. Nothing of it remains.
  public func discard(_ transaction: Transaction) {
    if transaction === openTransaction { discardOpenTransaction() }
  }

  /// Undoes the writes of an open transaction. If that fails now, the next writer removes them; they have no effect.
  func discardOpenTransaction() {
    // A forked child has a copy of the transaction, but the file belongs to its parent.
    guard let transaction = openTransaction, !isForked else { return }
    abandonOpenTransaction()
    if transaction.base == nil {
      _ = try? location.directory.remove(location.new)
    } else if transaction.appender.builder.isLarge {
      // If another file was written over the log, its bytes must stay.
      guard let base = transaction.base, (try? transaction.log.hasCommit(base.footer)) == true else { return }
      do { try transaction.log.file.truncate(to: transaction.appender.builder.start) } catch { poison = "\(error)" }
    }
  }

  func abandonOpenTransaction() {
    openTransaction?.isOpen = false
    openTransaction = nil
  }

  /// Makes the rows that were live at `earlier` live again, by a new commit in the same generation.
  ///
  /// Rows that were put since then are deleted, and rows that died since then are put again. History is not changed,
  /// and this commit can be undone in the same way.
  ///
  /// - Parameters:
  ///   - earlier: A commit of this writer's generation, from ``Snapshot/snapshot(at:)``.
  ///   - prepare: A closure that sets the state of the new commit and receives the changes.
  /// - Throws: Any error that `prepare` throws, with nothing changed; the errors of
  ///   ``commit(_:keepsPrevious:accept:)``.
  /// - Complexity: Proportional to the changes since `earlier`.
  public func rollback(
    to earlier: Snapshot, _ prepare: (Transaction, RowChanges) throws -> Void
  ) throws -> Snapshot {
    guard let last = snapshot else { preconditionFailure("a store without a commit has nothing to go back to") }
    let changes = try last.changes(since: earlier)
    return try commit { transaction in
      for table in changes.added.indices {
        for row in changes.added[table] { try transaction.delete(table, row) }
      }
      var copier = RowCopier()
      for table in changes.removed.indices {
        for row in changes.removed[table] {
          guard let record = try earlier.record(row, table: table) else { continue }
          try transaction.copy(record, to: table, through: &copier)
        }
      }
      try prepare(transaction, changes)
    }
  }
}
