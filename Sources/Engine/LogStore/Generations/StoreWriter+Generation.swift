import Bytes
import Platform
import RecordFormat

/// New generations. Each is written to a file of its own, which then takes the name of the log.
extension StoreWriter {
  /// Starts a new generation, which will contain only the rows that are put into the transaction.
  public func beginGeneration() throws(StoreError) -> Transaction {
    try beginGeneration(sequence: nextSequence, manifest: schema.manifest)
  }

  func beginGeneration(
    sequence: UInt64, manifest: Manifest, after generation: UInt64? = nil, makesRoom: Bool = true
  ) throws(StoreError) -> Transaction {
    try checkUsable()
    discardOpenTransaction()
    let environment = location.environment
    var header = FileHeader(
      storeID: StoreID(environment.random(), environment.random()),
      seed: HashSeed(environment.random(), environment.random()), created: environment.now(),
      generation: (generation ?? snapshot?.generation ?? highest.generation) + 1)
    if sealsNextGeneration {
      header.sealing = try location.keys.parametersForNewFile(path: location.path)
    }
    let sealing = try location.keys.sealing(of: header, path: location.path)
    let log: LogFile
    do { log = try makeLog(header, sealing, makesRoom: makesRoom) } catch {
      // After an error on a full device, the partial file would only take space.
      _ = try? location.directory.remove(location.new)
      throw .io(error)
    }
    return open(
      Transaction(
        log: log, start: SegmentHeader.firstOffset, sequence: sequence, base: nil, manifest: manifest,
        schema: schema, location: location))
  }

  /// Creates the file of a new generation with its header and empty slots.
  func makeLog(_ header: FileHeader, _ sealing: LogSealing?, makesRoom: Bool) throws(StorageError) -> LogFile {
    guard let created = try location.directory.open(location.new, .create) else {
      throw StorageError(operation: "create", path: location.new, code: ENOENT)
    }
    let file = makesRoom ? location.reclaiming(created) : created
    let slots = [UInt8](repeating: 0, count: 2 * AcknowledgementSlot.byteCount)
    try file.write(header.encoded().rawSpan, at: 0)
    try file.write(slots.rawSpan, at: AcknowledgementSlot.offsets[0])
    return LogFile(file, header: header, path: location.directory.path + "/" + location.log, sealing: sealing)
  }

  /// Replaces the old generation by a new one that contains the rows that `body` puts.
  ///
  /// - Throws: Any error that `body` or `accept` throws, with nothing changed; the errors of
  ///   ``commit(_:keepsPrevious:accept:)``.
  public func replace(
    keepsPrevious: Bool = true, _ body: (Transaction) throws -> Void,
    accept: (Snapshot) throws -> Void = { _ in }
  ) throws -> Snapshot {
    try commit(filling: beginGeneration(), keepsPrevious: keepsPrevious, body, accept: accept)
  }

  func commitGeneration(
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

  /// Gives the new file the log's name. The rename replaces the old generation.
  func publish(_ new: Snapshot, keepsPrevious: Bool) throws(StoreError) {
    let directory = location.directory
    let old = log
    let keepsPrevious = keepsPrevious && damagedLog == nil
    let isKept = old != nil && keepsPrevious && previousLifetime != .zero
    if isKept {
      // On a file system without hard links, or without space for another name, no previous generation is kept. That is
      // no reason to reject the new one.
      _ = try? directory.remove(location.previous)
      try? directory.link(location.log, to: location.previous)
      // Its age counts from now on. If the time cannot be set, it counts from the generation's last commit.
      try? directory.setModificationTime(of: location.previous, to: location.environment.now())
    }
    do throws(StorageError) {
      try lock.moveToNewGeneration(of: location) { () throws(StorageError) in
        try directory.rename(location.new, to: location.log)
      }
    } catch {
      discardOpenTransaction()
      throw .io(error)
    }
    do { try directory.sync() } catch {
      poison = "\(error)"
      throw .io(error)
    }
    if keepsPrevious, !isKept { _ = try? location.removePrevious() }
    location.releaseBase()
    new.log.file.wasRenamed(to: new.log.path)
    log = new.log
    damagedLog = nil
    namedFile = new.log.file.identity
    nextSlot = 1
    slotToRewrite = nil
    if let old, let last = snapshot { announceReplacement(of: old, last.footer) }
  }

  /// Writes the live rows into a new generation: the same commit in fewer bytes. Earlier history is removed.
  ///
  /// - Parameter announce: A closure that is called with the required space before anything is written. It can prevent
  ///   the compaction by throwing.
  /// - Returns: The snapshot of the new generation; `nil` in a store without a commit.
  /// - Throws: `StoreError.noRoom` if the file system is known to have less space, and any error that `announce`
  ///   throws, with nothing changed; the errors of ``commit(_:keepsPrevious:accept:)``.
  /// - Complexity: Reads every row once and writes the live ones once; needs disk space for one more copy, and for what
  ///   is sorted and does not fit memory. Rows are read once more in advance if the device may have too little space,
  ///   or if there are so many shared strings that the counters are not precise enough.
  public func compact(announcing announce: (DiskSpace) throws -> Void = { _ in }) throws -> Snapshot? {
    guard let old = snapshot else { return nil }
    try checkUsable()
    var room = try spaceToCopy(old)
    while let available = room.available, available < room.needed, location.makeRoom() {
      room = try spaceToCopy(old)
    }
    try announce(room)
    if let available = room.available, available < room.needed {
      throw StoreError.noRoom(path: old.path, needed: room.needed, available: available)
    }
    let manifest = try schema.manifest(replacing: old.manifest, path: old.path)
    let transaction = try beginGeneration(sequence: old.sequence, manifest: manifest)
    return try commit(filling: transaction, keepsPrevious: false) { transaction in
      transaction.state = old.state
      try transaction.copyRows(of: old)
    } accept: { _ in
      // If another file was written over the log meanwhile, it must not be replaced by what was copied.
      try checkLog(old.log, after: old.footer)
    }
  }

  /// Writes a new generation with the rows, the state and the number of the last commit: sealed with the key of the
  /// location, or in clear. Removes what is left of former generations beside it. Does nothing to a log that has that
  /// form already, but for removing these.
  ///
  /// What was removed is overwritten by nothing: a solid-state disk may keep it for a while.
  ///
  /// - Returns: The commit; `nil` in a store without one.
  /// - Throws: `StoreError.sealed` without a key; the errors of ``compact(announcing:)``.
  package func rewrite(sealed: Bool) throws -> Snapshot? {
    let wanted = sealed ? try location.keys.parametersForNewFile(path: location.path).keyID : nil
    if let snapshot, snapshot.log.header.sealing?.keyID != wanted {
      isSealing = sealed
      defer { isSealing = nil }
      _ = try compact()
    }
    try dropPrevious()
    try storage { () throws(StorageError) in
      for name in try location.directory.names() where name.hasPrefix(location.damagedPrefix) {
        try location.directory.remove(name)
      }
      try location.directory.sync()
    }
    location.releaseBase()
    return snapshot
  }

  /// Returns the maximum space that a copy of the live rows needs, from counters if they are precise enough and
  /// otherwise by reading the rows.
  func spaceToCopy(_ old: Snapshot) throws(StoreError) -> DiskSpace {
    let available = location.directory.availableByteCount()
    let limit = try old.compactedByteLimit()
    let isClear = limit.isClose && limit.byteCount <= available ?? .max
    let needed = isClear ? limit.byteCount : try old.compactedByteCount()
    return DiskSpace(needed: needed + spaceForNewIndexes(old) + spaceToSort(old), available: available)
  }

  /// Returns an upper bound for the temporary files of a copy: first for index entries, of which one key space is there
  /// twice, then for the pages and fragments of one ordered index.
  private func spaceToSort(_ old: Snapshot) -> Int {
    let spaces = old.manifest.tables.flatMap { table in table.keySpaces.map { old.rowLimit(of: $0, in: table) } }
    let entries = spaces.map { $0 * NewEntries.entryByteCount }.filter { $0 >= location.environment.sortMemory / 2 }
    let pages = old.manifest.tables.flatMap { $0.orderedIndexes.map(\.byteCount) }.max() ?? 0
    return max(
      entries.reduce(0, +) + (entries.max() ?? 0), pages < location.environment.sortMemory ? 0 : 2 * pages)
  }

  /// Returns a guess of the size of the ordered indexes that a copy will have in addition: 64 bytes for each row.
  private func spaceForNewIndexes(_ old: Snapshot) -> Int {
    var rows = 0
    for (number, table) in schema.tables.enumerated() {
      let existing = old.orderedIndexes(of: number)
      rows += table.orderedIndexes.filter { $0.isWanted && !existing.contains($0.name) }.count * old.rowCount(number)
    }
    return 64 * rows
  }

  /// Returns the space that a new generation with about the present content needs, estimated from the counters, and the
  /// available space. The space of the previous generation counts as available, because it is deleted when space is
  /// needed.
  package func spaceForGeneration() throws(StoreError) -> DiskSpace {
    let needed = snapshot.map { $0.end - min($0.end, Int(clamping: $0.manifest.deadBytes)) } ?? 0
    let reclaimable = try location.previousByteCount()
    return DiskSpace(needed: needed, available: location.directory.availableByteCount().map { $0 + reclaimable })
  }
}
