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
  private let location: StoreLocation
  private let schema: Schema
  private let lock: any StorageLock
  private let process = getpid()
  /// The log and its last commit; `nil` until the first one.
  private var log: LogFile?
  private var poison: String?
  /// Which slot the next commit writes.
  private var nextSlot = 0
  /// The last commit; `nil` in a store without one.
  public private(set) var snapshot: Snapshot?

  /// Opens a store for writing. What a crash left is put in order: a torn tail is cut off, a whole commit that nobody
  /// was told of is made durable, an unfinished generation is removed.
  ///
  /// - Parameter milliseconds: how long to wait for another writer to finish.
  /// - Throws: `StoreError.locked` after that time; `.damaged`, `.unusable`, `.schema`, `.io`.
  public init(
    _ location: StoreLocation, schema: Schema, waiting milliseconds: Int = 0
  ) throws(StoreError) {
    self.location = location
    self.schema = schema
    lock = try Self.lock(location, milliseconds)
    do { try recover() } catch {
      lock.release()
      throw error
    }
  }

  deinit { lock.release() }

  private static func lock(_ location: StoreLocation, _ milliseconds: Int) throws(StoreError) -> any StorageLock {
    var waited = 0
    while true {
      let lock = try storage { () throws(StorageError) in try location.directory.lock(location.lock) }
      if let lock { return lock }
      if waited >= milliseconds { throw .locked(path: location.directory.path + "/" + location.log) }
      let pause = min(10, milliseconds - waited)
      location.environment.pause(pause)
      waited += pause
    }
  }

  private func recover() throws(StoreError) {
    try storage { () throws(StorageError) in _ = try location.directory.remove(location.new) }
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .write) }
    guard let file else { return }
    let log = try LogFile(file)
    guard log.header.isWritable else {
      throw .unusable(path: log.path, reason: "a newer program wrote it; this one may only read it")
    }
    let recovery = try log.recover()
    guard let footer = recovery.footer else {
      throw log.damage(SegmentHeader.firstOffset, "no commit in the file")
    }
    try storage { () throws(StorageError) in
      if try file.size() > recovery.end { try file.truncate(to: recovery.end) }
    }
    self.log = log
    nextSlot = recovery.slotToWriteNext
    if !recovery.isAcknowledged {
      try storage { () throws(StorageError) in try file.sync() }
      try acknowledge(footer, in: log)
    }
    let mapping = try log.mapping(reaching: recovery.end, reusing: nil)
    let snapshot = try Snapshot(log, mapping, footer)
    _ = try schema.adopt(snapshot.manifest, path: log.path)
    self.snapshot = snapshot
  }

  /// The number that the next commit will have.
  public var nextSequence: UInt64 { (snapshot?.sequence ?? 0) + 1 }

  /// Adds one commit: what `body` puts and deletes, and the state that it leaves in the transaction.
  ///
  /// - Returns: the new commit, durable.
  /// - Throws: what `body` throws, with nothing changed; `StoreError`.
  /// - Complexity: in what changes, not in what is there; one sync for up to 8 MiB, two beyond.
  public func commit(_ body: (Transaction) throws -> Void) throws -> Snapshot {
    guard let log, let base = snapshot else { return try replace(body) }
    try checkUsable()
    let builder = SegmentBuilder(at: base.end, in: log.file, seed: log.header.seed)
    let manifest = try schema.adopt(base.manifest, path: log.path)
    let transaction = Transaction(builder: builder, base: base, manifest: manifest, seed: log.header.seed)
    do { try body(transaction) } catch {
      try cutOff(transaction, in: log)
      throw error
    }
    let identity = SegmentBuilder.Identity(
      storeID: log.header.storeID, sequence: base.sequence + 1, generation: base.generation,
      previous: base.footer, time: location.environment.now())
    let footer: SegmentFooter
    do { footer = try transaction.seal(identity) } catch {
      if case .io = error {
        poison = "\(error)"
        // What was written may lie beyond the last commit in part: the next opener cuts it off.
      } else {
        try cutOff(transaction, in: log)
      }
      throw error
    }
    try acknowledge(footer, in: log)
    let mapping = try log.mapping(reaching: Int(footer.end), reusing: base.mapping)
    let new = try Snapshot(log, mapping, footer)
    snapshot = new
    return new
  }

  /// Writes a new generation that holds what `body` puts, and lets it take the place of the old one.
  ///
  /// - Parameters:
  ///   - keepsPrevious: whether the old generation stays on disk under the name `.previous`.
  ///   - body: fills the new generation; its transaction has no base.
  ///   - accept: sees the new generation before it counts, and refuses it by throwing.
  /// - Returns: the new commit, durable.
  /// - Throws: what `body` and `accept` throw, with nothing changed; `StoreError`.
  public func replace(
    keepsPrevious: Bool = true, _ body: (Transaction) throws -> Void, accept: (Snapshot) throws -> Void = { _ in }
  ) throws -> Snapshot {
    try writeGeneration(
      sequence: nextSequence, keepsPrevious: keepsPrevious, manifest: schema.manifest, body, accept)
  }

  /// Writes what is live into a new generation: the same commit, in fewer bytes. History before it is gone.
  ///
  /// - Returns: the snapshot of the new generation; `nil` in a store without a commit.
  /// - Complexity: reads and writes every live row once; needs room for one more copy.
  public func compact() throws -> Snapshot? {
    guard let old = snapshot else { return nil }
    var manifest = schema.manifest
    manifest = try schema.adopt(manifest, path: old.path)
    return try writeGeneration(sequence: old.sequence, keepsPrevious: false, manifest: manifest) { transaction in
      transaction.state = old.state
      for table in manifest.tables.indices { try copyRows(of: table, from: old, to: transaction) }
    } _: { _ in
    }
  }

  private func copyRows(of table: Int, from old: Snapshot, to transaction: Transaction) throws {
    let keyCount = old.manifest.tables.count > table ? old.manifest.tables[table].keySpaces.count : 0
    var draft = RecordDraft()
    try old.scan(table) { (record) throws(StoreError) in
      draft.reset()
      for index in 0..<keyCount { draft.addKey(record.key(index)) }
      for index in 0..<record.sharedCount {
        draft.addShared(try transaction.share(try record.shared(index)))
      }
      draft.body.append(record.body)
      try transaction.put(table, draft)
    }
  }

  private func writeGeneration(
    sequence: UInt64, keepsPrevious: Bool, manifest: Manifest, _ body: (Transaction) throws -> Void,
    _ accept: (Snapshot) throws -> Void
  ) throws -> Snapshot {
    try checkUsable()
    let environment = location.environment
    let directory = location.directory
    let header = FileHeader(
      storeID: StoreID(environment.random(), environment.random()),
      seed: HashSeed(environment.random(), environment.random()), created: environment.now(),
      generation: (snapshot?.generation ?? 0) + 1)
    let opened = try storage { () throws(StorageError) in try directory.open(location.new, .create) }
    guard let file = opened else { throw StoreError.unusable(path: location.new, reason: "it vanished") }
    let log = LogFile(file, header: header)
    let footer: SegmentFooter
    let new: Snapshot
    do {
      footer = try writeFirstSegment(log, sequence: sequence, manifest: manifest, body)
      new = try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
      try accept(new)
    } catch {
      _ = try? directory.remove(location.new)
      throw error
    }
    try publish(new, keepsPrevious: keepsPrevious)
    return new
  }

  private func writeFirstSegment(
    _ log: LogFile, sequence: UInt64, manifest: Manifest, _ body: (Transaction) throws -> Void
  ) throws -> SegmentFooter {
    let slots = [UInt8](repeating: 0, count: 2 * AcknowledgementSlot.byteCount)
    try storage { () throws(StorageError) in
      try log.file.write(log.header.encoded().rawSpan, at: 0)
      try log.file.write(slots.rawSpan, at: AcknowledgementSlot.offsets[0])
    }
    let builder = SegmentBuilder(at: SegmentHeader.firstOffset, in: log.file, seed: log.header.seed)
    let transaction = Transaction(builder: builder, base: nil, manifest: manifest, seed: log.header.seed)
    try body(transaction)
    let identity = SegmentBuilder.Identity(
      storeID: log.header.storeID, sequence: sequence, generation: log.header.generation, previous: nil,
      time: location.environment.now())
    let footer = try transaction.seal(identity)
    try writeSlot(0, footer, in: log)
    try storage { () throws(StorageError) in try log.file.sync() }
    return footer
  }

  /// Gives the new file the log's name. From the rename on, the old generation is history.
  private func publish(_ new: Snapshot, keepsPrevious: Bool) throws(StoreError) {
    let directory = location.directory
    let old = log
    do {
      if old != nil, keepsPrevious {
        try directory.remove(location.previous)
        try directory.link(location.log, to: location.previous)
      }
      try directory.rename(location.new, to: location.log)
      try directory.sync()
    } catch {
      poison = "\(error)"
      throw .io(error)
    }
    log = new.log
    nextSlot = 1
    if let old, let last = snapshot { announceReplacement(of: old, last.footer) }
    snapshot = new
  }

  /// Tells those who still map the old file. They find out by its name as well, so a failure changes nothing.
  private func announceReplacement(of old: LogFile, _ last: SegmentFooter) {
    var slot = slot(for: last, in: old)
    slot.isSuperseded = true
    try? old.file.write(slot.encoded().rawSpan, at: AcknowledgementSlot.offsets[0])
  }

  /// Says in a slot that `footer` is durable. A slot is a note: where it cannot be written the commit still
  /// counts, but this writer, whose file refuses writes, ends here.
  private func acknowledge(_ footer: SegmentFooter, in log: LogFile) throws(StoreError) {
    do {
      try writeSlot(nextSlot, footer, in: log)
      nextSlot = 1 - nextSlot
    } catch {
      poison = "\(error)"
    }
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

  /// Takes back what an abandoned transaction wrote behind the last commit.
  private func cutOff(_ transaction: Transaction, in log: LogFile) throws(StoreError) {
    guard transaction.builder.isLarge else { return }
    try storage { () throws(StorageError) in try log.file.truncate(to: transaction.builder.start) }
  }

  private func checkUsable() throws(StoreError) {
    let path = location.directory.path + "/" + location.log
    if getpid() != process { throw .forked(path: path) }
    if let poison { throw .poisoned(path: path, reason: poison) }
  }

  /// Makes the last slot durable too, and lets go of the lock. The writer is not usable afterwards.
  public func close() {
    if poison == nil, getpid() == process, let log { try? log.file.sync() }
    poison = "it was closed"
    lock.release()
  }
}

extension Recovery {
  /// The slot that does not hold the newest note.
  var slotToWriteNext: Int { newestSlot.map { 1 - $0 } ?? 0 }
}
