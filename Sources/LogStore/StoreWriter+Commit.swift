import Bytes
import RecordFormat
import Storage

/// A commit adds one segment to the log.
extension StoreWriter {
  /// Begins a commit: rows are put into and deleted from the transaction until ``commit(_:keepsPrevious:accept:)``.
  ///
  /// In a store without a commit this is ``beginGeneration()``. A transaction that is still open is discarded.
  ///
  /// - Throws: `StoreError.poisoned`, `.forked`, `.io`.
  public func begin() throws(StoreError) -> Transaction {
    guard let log, let base = snapshot else { return try beginGeneration() }
    try checkUsable()
    discardOpenTransaction()
    try checkLog(log, endsAt: base.end)
    let manifest = try schema.adopt(base.manifest, path: log.path)
    let transaction = Transaction(
      log: log, start: base.end, sequence: nextSequence, base: base, manifest: manifest,
      flushLimit: location.environment.flushLimit)
    transaction.tail = tail
    return open(transaction)
  }

  func open(_ transaction: Transaction) -> Transaction {
    openTransaction = transaction
    return transaction
  }

  /// Adds one commit: what `body` puts and deletes, and the state that it leaves in the transaction.
  ///
  /// - Throws: what `body` throws, with nothing changed; as ``commit(_:keepsPrevious:accept:)``.
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

  /// Makes a transaction a commit.
  ///
  /// - Parameters:
  ///   - transaction: the one that this writer began.
  ///   - keepsPrevious: for a new generation, whether the old one stays on disk under the name `.previous`.
  ///   - accept: sees a new generation before it counts, and refuses it by throwing.
  /// - Returns: the new commit, durable.
  /// - Throws: what `accept` throws, with nothing changed; `StoreError`. After `.io` this writer is of no more use.
  /// - Complexity: in what changes, not in what is there; one sync for up to 8 MiB, two beyond.
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
    // The commit counts, whatever becomes of this.
    if transaction.base != nil, let previousLifetime { try? location.expirePrevious(after: previousLifetime) }
    transaction.isOpen = false
    remember(transaction, new)
    snapshot = new
    assertInvariants()
    return new
  }

  func remember(_ transaction: Transaction, _ new: Snapshot) {
    // Without a second owner what is remembered is changed where it stands.
    transaction.tail = nil
    if transaction.base == nil { tail = TailMemory() }
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
      try checkLog(log, endsAt: transaction.appender.builder.isLarge ? nil : transaction.appender.builder.start)
      if let slotToRewrite { try log.rewrite(slotToRewrite) }
      slotToRewrite = nil
    } catch {
      discardOpenTransaction()
      throw error
    }
    do {
      footer = try transaction.seal(identity)
      // Once more, as a sync takes long: what nobody will find is not acknowledged.
      try checkName()
    } catch {
      switch error {
      case .io, .replaced:
        // What was written may lie behind the last commit in part: the next opener cuts it off. This writer
        // must not: the footer may be there, and a reader may show it.
        poison = "\(error)"
        abandonOpenTransaction()
      default: discardOpenTransaction()
      }
      throw error
    }
    acknowledge(footer, in: log)
    do {
      let mapping = try log.mapping(reaching: Int(footer.end), reusing: transaction.base?.mapping)
      return try Snapshot(log, mapping, footer)
    } catch {
      // The commit counts, but this writer does not see it and would write its next one over it.
      poison = "\(error)"
      abandonOpenTransaction()
      throw error
    }
  }

  /// Gives up a transaction; nothing of it remains.
  public func discard(_ transaction: Transaction) {
    if transaction === openTransaction { discardOpenTransaction() }
  }

  /// Takes back what an open transaction wrote. What cannot be taken back now, the next writer removes: it counts for
  /// nothing.
  func discardOpenTransaction() {
    // A forked child holds a copy of the transaction, but the file is its parent's.
    guard let transaction = openTransaction, !isForked else { return }
    abandonOpenTransaction()
    if transaction.base == nil {
      _ = try? location.directory.remove(location.new)
    } else if transaction.appender.builder.isLarge {
      do { try transaction.log.file.truncate(to: transaction.appender.builder.start) } catch { poison = "\(error)" }
    }
  }

  func abandonOpenTransaction() {
    openTransaction?.isOpen = false
    openTransaction = nil
  }

  /// Makes what was live at `earlier` live again, as a new commit of the same generation.
  ///
  /// Rows that were put since die, rows that died since are put again: history stays as it was, and this commit can be
  /// taken back in the same way.
  ///
  /// - Parameters:
  ///   - earlier: a commit of this writer's generation, from ``Snapshot/snapshot(at:)``.
  ///   - prepare: fills in the state of the new commit, and sees what it will change.
  /// - Throws: what `prepare` throws, with nothing changed; as ``commit(_:keepsPrevious:accept:)``.
  /// - Complexity: in what changed since `earlier`.
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
