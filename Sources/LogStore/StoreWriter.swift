import RecordFormat
import Storage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The one writer of a store, for as long as it holds the lock.
///
/// It belongs to whoever opened it and is not shared between tasks; its snapshots are.
///
/// Invariants: nothing before `end` of the last commit is ever written again; a commit is reported only after its sync
/// returned; after a failed write or sync nothing more is written.
public final class StoreWriter {
  let location: StoreLocation
  let schema: Schema
  /// How long a generation is kept after a full update replaced it; `nil` for ever.
  private let previousLifetime: Duration?
  private var lock: any StorageLock
  private let process = getpid()
  /// The log and its last commit; `nil` until the first one.
  private var log: LogFile?
  /// The file that has the log's name, as far as this writer knows; `nil` for none.
  var namedFile: FileIdentity?
  private var poison: String?
  /// A log that cannot be opened, which the first generation of this writer sets aside.
  private var damagedLog: (any StorageFile)?
  /// Where that log is now.
  public private(set) var damagedPath: String?
  /// The highest numbers that it tells.
  private var highest: (sequence: UInt64, generation: UInt64) = (0, 0)
  /// Which slot the next commit writes.
  private var nextSlot = 0
  /// The page of the newest slot if only memory may hold it, because a writer before this one had a sync that failed. The
  /// next commit writes it again before it syncs: one of the two slots is durable while the other one is written.
  private var slotToRewrite: Range<Int>?
  private var openTransaction: Transaction?
  private var tail = TailMemory()
  /// The last commit; `nil` in a store without one.
  public private(set) var snapshot: Snapshot?

  /// Opens a store for writing. What a crash left is put in order: a torn tail is cut off, a whole commit that nobody
  /// was told of is made durable, an unfinished generation is removed.
  ///
  /// - Parameters:
  ///   - location: which store.
  ///   - schema: the tables that the application knows; the store may have more.
  ///   - waiting: how long to wait for another writer to finish.
  ///   - previousLifetime: How long a generation is kept after a full update replaced it; zero keeps none, `nil` keeps it
  ///     until the next one takes its place. One that was kept for longer is deleted with the next commit.
  ///   - replacesDamaged: Whether to begin anew where the log cannot be opened. It stays where it is until the first commit,
  ///     which gives it the name `NAME.damaged-1`, or the next that is free; see ``damagedPath``.
  /// - Throws: `StoreError.locked` after that time; `.damaged`, `.unusable`, `.schema`, `.io`.
  public init(
    _ location: StoreLocation, schema: Schema, waiting: Duration = .zero, previousLifetime: Duration? = nil,
    replacesDamaged: Bool = false
  ) throws(StoreError) {
    self.location = location
    self.schema = schema
    self.previousLifetime = previousLifetime
    self.replacesDamaged = replacesDamaged
    lock = try Self.lock(location, waiting)
    do { try recover(orBeginAnew: replacesDamaged) } catch {
      lock.release()
      throw error
    }
  }

  /// A writer that writes a new generation without a look at the old one.
  init(repairing location: StoreLocation, schema: Schema, lock: any StorageLock) {
    self.location = location
    self.schema = schema
    self.lock = lock
    previousLifetime = nil
    replacesDamaged = false
  }

  deinit { lock.release() }

  static func lock(_ location: StoreLocation, _ waiting: Duration) throws(StoreError) -> any StorageLock {
    var waited = Duration.zero
    while true {
      let lock = try storage { () throws(StorageError) in try location.directory.lock(location.lock) }
      if let lock { return lock }
      if waited >= waiting { throw .locked(path: location.directory.path + "/" + location.log) }
      let pause = min(.milliseconds(10), waiting - waited)
      location.environment.pause(pause)
      waited += pause
    }
  }

  private func recover() throws(StoreError) {
    try storage { () throws(StorageError) in _ = try location.directory.remove(location.new) }
    guard let log = try LogFile.open(location, .write)?.makingRoom(in: location) else {
      try location.checkNothingIsKept()
      return location.releaseBase()
    }
    let file = log.file
    guard log.header.isWritable else {
      throw .unusable(path: log.path, reason: "a newer program wrote it; this one may only read it")
    }
    let recovery = try log.recover()
    guard let footer = recovery.footer else { throw log.noCommit }
    let snapshot = try Snapshot(log, log.mapping(reaching: recovery.end, reusing: nil), footer)
    _ = try schema.adopt(snapshot.manifest, path: log.path)
    // From here on the file is changed.
    try storage { () throws(StorageError) in
      if try file.size() > recovery.end {
        try file.truncate(to: recovery.end)
        // A footer of that tail must not come back behind the header of the commit that will stand there.
        try file.sync()
      }
      // Whoever gave the file its name may have died before that was durable. Behind a later commit it is.
      if recovery.mayBeUnnamed { try location.directory.sync() }
    }
    self.log = log
    namedFile = file.identity
    nextSlot = recovery.slotToWriteNext
    let newestSlot = recovery.newestSlot.map { AcknowledgementSlot.pages[$0] }
    if recovery.isAcknowledged {
      slotToRewrite = newestSlot
    } else {
      try log.writeAgain((newestSlot.map { [$0] } ?? []) + [recovery.acknowledgedEnd..<recovery.end])
      acknowledge(footer, in: log)
    }
    try healSlots(recovery.rottenSlots, footer, in: log)
    self.snapshot = snapshot
    location.releaseBase()
  }

  private func recover(orBeginAnew replacesDamaged: Bool) throws(StoreError) {
    do { try recover() } catch {
      guard replacesDamaged, error.isDamage else { throw error }
      try beginAnew()
    }
  }

  /// Leaves a log that cannot be opened as it is, and goes on as in a store without one.
  private func beginAnew() throws(StoreError) {
    highest = try location.highestNumbers()
    log = nil
    snapshot = nil
    damagedLog = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    namedFile = damagedLog?.identity
  }

  /// Whether a new generation may take the place of a log that is damaged; see `replacesDamaged` of the initializer.
  package let replacesDamaged: Bool

  /// Notes, before the commit of a new generation, that the log is damaged though it could be opened: the commit sets it
  /// aside, and does not keep it as the previous generation.
  package func noteDamage() throws(StoreError) {
    damagedLog = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
  }

  /// The number that the next commit will have.
  public var nextSequence: UInt64 { (snapshot?.sequence ?? highest.sequence) + 1 }

  // MARK: Committing

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

  /// Begins a new generation, which will hold what is put into the transaction and nothing else.
  public func beginGeneration() throws(StoreError) -> Transaction {
    try beginGeneration(sequence: nextSequence, manifest: schema.manifest)
  }

  func beginGeneration(
    sequence: UInt64, manifest: Manifest, after generation: UInt64? = nil, makesRoom: Bool = true
  ) throws(StoreError) -> Transaction {
    try checkUsable()
    discardOpenTransaction()
    let environment = location.environment
    let header = FileHeader(
      storeID: StoreID(environment.random(), environment.random()),
      seed: HashSeed(environment.random(), environment.random()), created: environment.now(),
      generation: (generation ?? snapshot?.generation ?? highest.generation) + 1)
    let log: LogFile
    do { log = try makeLog(header, makesRoom: makesRoom) } catch {
      // What a full device took of it would only take room.
      _ = try? location.directory.remove(location.new)
      throw .io(error)
    }
    return open(
      Transaction(
        log: log, start: SegmentHeader.firstOffset, sequence: sequence, base: nil, manifest: manifest,
        flushLimit: location.environment.flushLimit))
  }

  /// Begins the file of a new generation: its header, and slots that say nothing.
  private func makeLog(_ header: FileHeader, makesRoom: Bool) throws(StorageError) -> LogFile {
    guard let created = try location.directory.open(location.new, .create) else {
      throw StorageError(operation: "create", path: location.new, code: ENOENT)
    }
    let file = makesRoom ? location.reclaiming(created) : created
    let slots = [UInt8](repeating: 0, count: 2 * AcknowledgementSlot.byteCount)
    try file.write(header.encoded().rawSpan, at: 0)
    try file.write(slots.rawSpan, at: AcknowledgementSlot.offsets[0])
    return LogFile(file, header: header, path: location.directory.path + "/" + location.log)
  }

  private func open(_ transaction: Transaction) -> Transaction {
    openTransaction = transaction
    return transaction
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
    return new
  }

  private func remember(_ transaction: Transaction, _ new: Snapshot) {
    // Without a second owner what is remembered is changed where it stands.
    transaction.tail = nil
    if transaction.base == nil { tail = TailMemory() }
    let blocks = new.manifest.tables.flatMap { table in table.keySpaces.flatMap { $0.blocks.map(\.offset) } }
    tail.update(
      written: transaction.writtenRows, blocks: Set(blocks), newDead: transaction.dead,
      firstRow: UnitOffset(byteOffset: new.baseEnd).rawValue)
  }

  private func commitSegment(
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

  private func abandonOpenTransaction() {
    openTransaction?.isOpen = false
    openTransaction = nil
  }

  private func commitGeneration(
    _ transaction: Transaction, _ identity: SegmentBuilder.Identity, _ keepsPrevious: Bool,
    _ accept: (Snapshot) throws -> Void
  ) throws -> Snapshot {
    let log = transaction.log
    let new: Snapshot
    do {
      let footer = try transaction.seal(identity)
      try writeSlot(0, footer, in: log)
      try storage { () throws(StorageError) in try log.file.sync() }
      new = try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
      try accept(new)
      if let damagedLog { damagedPath = try keepDamaged(damagedLog) }
      try checkName()
    } catch {
      discardOpenTransaction()
      throw error
    }
    try publish(new, keepsPrevious: keepsPrevious)
    return new
  }

  /// Gives up a transaction; nothing of it remains.
  public func discard(_ transaction: Transaction) {
    if transaction === openTransaction { discardOpenTransaction() }
  }

  /// Takes back what an open transaction wrote. What cannot be taken back now, the next writer removes: it counts for
  /// nothing.
  private func discardOpenTransaction() {
    // A forked child holds a copy of the transaction, but the file is its parent's.
    guard let transaction = openTransaction, getpid() == process else { return }
    abandonOpenTransaction()
    if transaction.base == nil {
      _ = try? location.directory.remove(location.new)
    } else if transaction.appender.builder.isLarge {
      do { try transaction.log.file.truncate(to: transaction.appender.builder.start) } catch { poison = "\(error)" }
    }
  }

  /// Adds one commit: what `body` puts and deletes, and the state that it leaves in the transaction.
  ///
  /// - Throws: what `body` throws, with nothing changed; as ``commit(_:keepsPrevious:accept:)``.
  public func commit(_ body: (Transaction) throws -> Void) throws -> Snapshot {
    try commit(filling: begin(), body)
  }

  /// Writes a new generation that holds what `body` puts, and lets it take the place of the old one.
  ///
  /// - Throws: what `body` and `accept` throw, with nothing changed; as ``commit(_:keepsPrevious:accept:)``.
  public func replace(
    keepsPrevious: Bool = true, _ body: (Transaction) throws -> Void,
    accept: (Snapshot) throws -> Void = { _ in }
  ) throws -> Snapshot {
    try commit(filling: beginGeneration(), keepsPrevious: keepsPrevious, body, accept: accept)
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

  /// Writes what is live into a new generation: the same commit, in fewer bytes. History before it is gone.
  ///
  /// - Parameter announce: learns before anything is written how much room it takes, and may refuse it by throwing.
  /// - Returns: the snapshot of the new generation; `nil` in a store without a commit.
  /// - Throws: `StoreError.noRoom` if the file system is known to have less than that, and what `announce` throws, with
  ///   nothing changed; as ``commit(_:keepsPrevious:accept:)``.
  /// - Complexity: reads every row once and writes the live ones once; needs room for one more copy. Where the device may
  ///   have too little, or shared strings are so many that counters say little, rows are read once more before.
  public func compact(announcing announce: (Room) throws -> Void = { _ in }) throws -> Snapshot? {
    guard let old = snapshot else { return nil }
    try checkUsable()
    var room = try roomToCopy(old)
    while let available = room.available, available < room.needed, location.makeRoom() {
      room = try roomToCopy(old)
    }
    try announce(room)
    if let available = room.available, available < room.needed {
      throw StoreError.noRoom(path: old.path, needed: room.needed, available: available)
    }
    let manifest = try schema.adopt(old.manifest.withoutRows, path: old.path)
    let transaction = try beginGeneration(sequence: old.sequence, manifest: manifest)
    return try commit(filling: transaction, keepsPrevious: false) { transaction in
      transaction.state = old.state
      try transaction.copyRows(of: old)
    }
  }

  /// What a copy of the live rows takes at most: from counters where these say enough, and else counted.
  func roomToCopy(_ old: Snapshot) throws(StoreError) -> Room {
    let available = location.directory.availableByteCount()
    let limit = try old.compactedByteLimit()
    let isClear = limit.isClose && limit.byteCount <= available ?? .max
    return Room(needed: isClear ? limit.byteCount : try old.compactedByteCount(), available: available)
  }

  /// What a new generation of about the present content takes, and what there is: an estimate from the counters. Room
  /// that the previous generation takes counts as available, as it is deleted when the room is needed.
  public func roomForGeneration() throws(StoreError) -> Room {
    let needed = snapshot.map { $0.end - min($0.end, Int(clamping: $0.manifest.deadBytes)) } ?? 0
    let reclaimable = try location.previousByteCount()
    return Room(needed: needed, available: location.directory.availableByteCount().map { $0 + reclaimable })
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
        for row in changes.added[table] { try transaction.delete(table, at: row) }
      }
      var copier = RowCopier()
      for table in changes.removed.indices {
        for row in changes.removed[table] {
          guard let record = try earlier.record(at: row, table: table) else { continue }
          try transaction.copy(record, to: table, through: &copier)
        }
      }
      try prepare(transaction, changes)
    }
  }

  /// Gives the new file the log's name. From the rename on, the old generation is history.
  private func publish(_ new: Snapshot, keepsPrevious: Bool) throws(StoreError) {
    let directory = location.directory
    let old = log
    let keepsPrevious = keepsPrevious && damagedLog == nil
    let isKept = old != nil && keepsPrevious && previousLifetime != .zero
    if isKept {
      // A file system without hard links, or without room for a name, keeps no previous generation: no reason to refuse
      // the new one.
      _ = try? directory.remove(location.previous)
      try? directory.link(location.log, to: location.previous)
      // Its age counts from now on. Where that cannot be noted it counts from its last commit.
      try? directory.setModificationTime(of: location.previous, to: location.environment.now())
    }
    do { try directory.rename(location.new, to: location.log) } catch {
      discardOpenTransaction()
      throw .io(error)
    }
    do { try directory.sync() } catch {
      poison = "\(error)"
      throw .io(error)
    }
    if keepsPrevious, !isKept { _ = try? location.removePrevious() }
    location.releaseBase()
    new.log.file.isNamed(new.log.path)
    log = new.log
    damagedLog = nil
    namedFile = new.log.file.identity
    nextSlot = 1
    slotToRewrite = nil
    if let old, let last = snapshot { announceReplacement(of: old, last.footer) }
  }

  /// Tells those who still map the old file. They find out by its name as well, so a failure changes nothing.
  private func announceReplacement(of old: LogFile, _ last: SegmentFooter) {
    var slot = slot(for: last, in: old)
    slot.isSuperseded = true
    try? old.file.write(slot.encoded().rawSpan, at: AcknowledgementSlot.offsets[0])
  }

  /// Says in a slot that `footer` is durable. A slot is a note: where it cannot be written the commit still
  /// counts, but this writer, whose file refuses writes, ends here.
  private func acknowledge(_ footer: SegmentFooter, in log: LogFile) {
    do {
      try writeSlot(nextSlot, footer, in: log)
      nextSlot = 1 - nextSlot
    } catch {
      poison = "\(error)"
    }
  }

  /// Writes slots that rotted anew, durably: a reader takes a rotten slot next to a commit that is just being written for
  /// damage.
  private func healSlots(_ rotten: [Int], _ footer: SegmentFooter, in log: LogFile) throws(StoreError) {
    if rotten.isEmpty { return }
    for (index, offset) in AcknowledgementSlot.offsets.enumerated() where rotten.contains(offset) {
      try writeSlot(index, footer, in: log)
    }
    try storage { () throws(StorageError) in try log.file.sync() }
  }

  private func writeSlot(_ index: Int, _ footer: SegmentFooter, in log: LogFile) throws(StoreError) {
    let bytes = slot(for: footer, in: log).encoded()
    try storage { () throws(StorageError) in
      try log.file.write(bytes.rawSpan, at: AcknowledgementSlot.offsets[index])
    }
  }

  private func slot(for footer: SegmentFooter, in log: LogFile) -> AcknowledgementSlot {
    AcknowledgementSlot(
      storeID: log.header.storeID, sequence: footer.sequence, generation: footer.generation,
      footerOffset: footer.offset, end: footer.end, chain: footer.chain)
  }

  private func checkUsable() throws(StoreError) {
    let path = location.directory.path + "/" + location.log
    if getpid() != process { throw .forked(path: path) }
    if let poison { throw .poisoned(path: path, reason: poison) }
  }

  /// Lets go of the lock and keeps the file open, so that others can write until ``resume(waiting:)``. Every commit is durable.
  package func rest() {
    discardOpenTransaction()
    lock.release()
  }

  /// Takes the lock again after ``rest()``.
  ///
  /// - Parameter waiting: How long to wait for another writer to finish.
  /// - Returns: Whether the store is as this writer left it. If not, or if that cannot be told, this writer is not usable any
  ///   more: open another one, which puts the store in order or says what is wrong with it.
  /// - Throws: `StoreError.locked`, `.io` of the lock.
  /// - Complexity: ten system calls or so; no mapping, and no search for the last commit.
  package func resume(waiting: Duration) throws(StoreError) -> Bool {
    guard poison == nil, getpid() == process, damagedLog == nil, let log, let snapshot else { return false }
    lock = try Self.lock(location, waiting)
    do {
      try checkName()
      let recovery = try log.recover()
      if recovery.footer == snapshot.footer, recovery.size == snapshot.end, recovery.isAcknowledged,
        !recovery.isSuperseded, recovery.newestSlot == 1 - nextSlot, recovery.rottenSlots.isEmpty
      {
        // As in a writer that was just opened: another one may have had a sync that failed.
        slotToRewrite = AcknowledgementSlot.pages[1 - nextSlot]
        try storage { () throws(StorageError) in _ = try location.directory.remove(location.new) }
        return true
      }
      poison = "the store was changed while this writer rested"
    } catch { poison = "\(error)" }
    lock.release()
    return false
  }

  /// Makes the slot that vouches for the last commit durable, and lets go of the lock. The writer is not usable afterwards. Every
  /// commit is durable before.
  public func close() {
    discardOpenTransaction()
    if poison == nil, getpid() == process, let log { try? log.file.sync() }
    poison = "it was closed"
    lock.release()
  }
}

extension StoreLocation {
  /// `file`, which deletes previous generations before a write to it fails for lack of room.
  func reclaiming(_ file: any StorageFile) -> ReclaimingFile {
    ReclaimingFile(file) { makeRoom() }
  }
}

extension LogFile {
  /// The same log, which deletes previous generations before a write to it fails for lack of room.
  fileprivate func makingRoom(in location: StoreLocation) -> LogFile {
    LogFile(location.reclaiming(file), header: header, path: path)
  }
}

extension Recovery {
  /// The slot that does not hold the newest note.
  var slotToWriteNext: Int { newestSlot.map { 1 - $0 } ?? 0 }
}
