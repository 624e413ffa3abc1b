import Platform
import RecordFormat
import Storage

/// Opening a store: the lock, and recovery after a crash.
extension StoreWriter {
  /// Takes the locks of a store.
  static func lock(_ location: StoreLocation, _ lockTimeout: Duration) throws(StoreError) -> WriterLock {
    var waited = Duration.zero
    var name: (any StorageLock)?
    while true {
      if name == nil { name = try storage { () throws(StorageError) in try location.directory.lock(location.lock) } }
      if let name, let lock = try WriterLock(name, location) { return lock }
      if waited >= lockTimeout {
        // Who locks the log and not the lock file beside it does not see that file.
        let holder = name == nil ? location.directory.holder(of: location.lock).map { "\($0)" } : location.stranger
        name?.release()
        throw .locked(path: location.directory.path + "/" + location.log, holder: holder)
      }
      let pause = min(.milliseconds(10), lockTimeout - waited)
      location.environment.pause(pause)
      waited += pause
    }
  }

  func recover() throws(StoreError) {
    try storage { () throws(StorageError) in _ = try location.directory.remove(location.new) }
    guard let log = try LogFile.open(location, .write)?.makingRoom(in: location) else {
      try location.checkLogNotRemoved()
      return location.releaseBase()
    }
    let file = log.file
    guard log.header.isWritable else {
      throw .newer(path: log.path, reason: "this program may read it, but not write it")
    }
    let recovery = try log.recover()
    guard let footer = recovery.footer else { throw log.noCommit }
    let snapshot = try Snapshot(log, log.mapping(reaching: recovery.end, reusing: nil), footer)
    _ = try schema.adopt(snapshot.manifest, path: log.path)
    // The file is changed from here on.
    try storage { () throws(StorageError) in
      if try file.size() > recovery.end {
        try file.truncate(to: recovery.end)
        // A footer in the truncated tail must not reappear after the header of the next commit at that offset.
        try file.sync()
      }
      // The process that named the file may have crashed before the name was durable. After a later commit the name is
      // durable.
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
    try rewriteSlots(recovery.corruptSlots, footer, in: log)
    self.snapshot = snapshot
    location.releaseBase()
  }

  func recover(orStartNewLog replacesDamaged: Bool) throws(StoreError) {
    do { try recover() } catch {
      guard replacesDamaged, error.isDamage else { throw error }
      try startNewLog()
    }
  }

  /// Ignores a log that cannot be opened and continues as in a store without a log.
  func startNewLog() throws(StoreError) {
    highest = try location.highestNumbers()
    log = nil
    snapshot = nil
    damagedLog = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    namedFile = damagedLog?.identity
  }

  /// Records, before the commit of a new generation, that the log is damaged although it could be opened. The commit
  /// then renames it as damaged instead of keeping it as the previous generation.
  package func markDamaged() throws(StoreError) {
    damagedLog = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
  }
}

extension StoreLocation {
  /// Returns `file` wrapped so that previous generations are deleted before a write fails because the device is full.
  func reclaiming(_ file: any StorageFile) -> ReclaimingFile {
    ReclaimingFile(file) { makeRoom() }
  }
}

extension LogFile {
  /// Returns the same log, wrapped so that previous generations are deleted before a write fails because the device is
  /// full.
  fileprivate func makingRoom(in location: StoreLocation) -> LogFile {
    LogFile(location.reclaiming(file), header: header, path: path, sealing: sealing)
  }
}

extension Recovery {
  /// The index of the slot that is not the newest one.
  var slotToWriteNext: Int { newestSlot.map { 1 - $0 } ?? 0 }
}
