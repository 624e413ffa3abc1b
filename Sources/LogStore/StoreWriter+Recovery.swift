import RecordFormat
import Storage

/// Opening a store: the lock, and what a crash left.
extension StoreWriter {
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

  func recover() throws(StoreError) {
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

  func recover(orBeginAnew replacesDamaged: Bool) throws(StoreError) {
    do { try recover() } catch {
      guard replacesDamaged, error.isDamage else { throw error }
      try beginAnew()
    }
  }

  /// Leaves a log that cannot be opened as it is, and goes on as in a store without one.
  func beginAnew() throws(StoreError) {
    highest = try location.highestNumbers()
    log = nil
    snapshot = nil
    damagedLog = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    namedFile = damagedLog?.identity
  }

  /// Notes, before the commit of a new generation, that the log is damaged though it could be opened: the commit sets it
  /// aside, and does not keep it as the previous generation.
  package func noteDamage() throws(StoreError) {
    damagedLog = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
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
