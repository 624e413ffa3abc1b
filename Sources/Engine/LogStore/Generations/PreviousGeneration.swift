import Platform
import RecordFormat
import Storage

// A full update keeps the generation that it replaces as `NAME.previous`, so that it can be undone. Nothing else needs
// that file: any process may delete it at any time, with or without the lock.
//
// Invariant: the kept file has a lower generation than the log. One that has not is a second name of the log itself, which
// a crash during a full update may leave, and is never read as the previous generation.

/// Something that a store did on its own and that its user may want to know.
public enum StoreNotice: Sendable, Equatable {
  /// The device was full, and the kept generation at `path`, of `byteCount` bytes, was deleted to free space. Its
  /// commits can no longer be restored.
  case droppedPrevious(path: String, byteCount: Int)
}

extension StoreNotice: CustomStringConvertible {
  /// What the store did and what can no longer be done, for people.
  public var description: String {
    switch self {
    case .droppedPrevious(let path, let byteCount):
      "the device was full: deleted \(path) (\(byteCount) bytes), the generation before the last full update, to make"
        + " room; that update can no longer be rolled back"
    }
  }
}

/// A generation that was kept when another one replaced it.
public struct PreviousGeneration: Sendable {
  /// The last commit of the generation.
  public let snapshot: Snapshot
  /// The size of its file in bytes.
  public let byteCount: Int
  /// The time when it was replaced, in microseconds since 1970 UTC; `nil` if the file system stores no times.
  public let replaced: Int64?
}

extension StoreLocation {
  /// Opens the generation that the last full update replaced; returns `nil` if no such generation is kept.
  ///
  /// - Parameter current: The last commit of the store; `nil` if it cannot be read. A kept file that is not older is
  ///   not a previous generation: a crash during a full update can leave a second name of the log itself.
  /// - Throws: `StoreError.damaged`, `.unusable`, `.io`.
  /// - Complexity: As opening the store.
  public func previousGeneration(before current: Snapshot?) throws(StoreError) -> PreviousGeneration? {
    guard let file = try openPrevious() else { return nil }
    var log = try LogFile(file, keys: keys)
    if let current, log.header.generation >= current.generation { return nil }
    if let base = log.header.base { log = try log.joined(with: base, at: self) }
    guard let footer = try log.recover().footer else { throw log.noCommit }
    let snapshot = try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
    return try storage { () throws(StorageError) in
      PreviousGeneration(
        snapshot: snapshot, byteCount: try file.size(), replaced: try directory.modificationTime(of: previous))
    }
  }

  /// Opens the file of the previous generation; returns `nil` if no such file is kept.
  ///
  /// - Throws: `StoreError.unusable` if something else has its name, for example a directory or a symbolic link; `.io`.
  fileprivate func openPrevious() throws(StoreError) -> (any StorageFile)? {
    try checkPrevious()
    return try storage { () throws(StorageError) in try directory.open(previous, .read) }
  }

  /// Checks that the name of the previous generation is not used by something else.
  ///
  /// - Throws: `StoreError.unusable` if the name belongs to something that is not a regular file.
  private func checkPrevious() throws(StoreError) {
    let isOther = try storage { () throws(StorageError) in
      guard try directory.byteCount(of: previous) == nil else { return false }
      return try directory.identity(of: previous) != nil
    }
    if isOther {
      throw .unusable(
        path: directory.path + "/" + previous, reason: "it is not a regular file, so it holds no generation")
    }
  }

  /// Returns the size in bytes of the previous generation's file, whether or not it is damaged; 0 if no such file is
  /// kept.
  package func previousByteCount() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try directory.byteCount(of: previous) ?? 0 }
  }

  /// Deletes the previous generation. Processes that have it open can continue to read it.
  ///
  /// - Returns: The size of the deleted file in bytes; 0 if no generation was kept. The space is free once no other
  ///   store shares it and no process reads it.
  /// - Throws: `StoreError.unusable` if the name belongs to something that is not a regular file; `.io`.
  @discardableResult
  func removePrevious() throws(StoreError) -> Int {
    try checkPrevious()
    let byteCount = try previousByteCount()
    let isRemoved = try storage { () throws(StorageError) in try directory.remove(previous) }
    return isRemoved ? byteCount : 0
  }

  /// Deletes the previous generation if it was replaced at least `lifetime` ago. Call it after each commit.
  ///
  /// The clock may have been set between two commits, forward or back. So what passed between them counts up to half of
  /// the lifetime, and not at all if it is negative, and the file's time is moved by the rest. A clock that is far ahead
  /// for a while deletes nothing then, and neither does its correction.
  ///
  /// - Parameter last: The time of the commit before this one, in microseconds since 1970 UTC.
  /// - Complexity: One system call if no generation is kept.
  func expirePrevious(after lifetime: Duration, since last: Int64) throws(StoreError) {
    let replaced = try storage { () throws(StorageError) in try directory.modificationTime(of: previous) }
    guard let replaced, try storage({ () throws(StorageError) in try directory.byteCount(of: previous) }) != nil else {
      // Something that is not a regular file does not hinder a commit. Verification reports it.
      return
    }
    let now = environment.now()
    let passed = now.subtracting(last)
    let counted = min(max(0, passed), lifetime.microseconds / 2)
    let start = max(0, min(now, replaced.adding(passed.subtracting(counted))))
    if passed != counted || replaced > now {
      try storage { () throws(StorageError) in try directory.setModificationTime(of: previous, to: start) }
    }
    if now.subtracting(start) >= lifetime.microseconds { try removePrevious() }
  }

  /// Deletes the previous generations of all stores in the directory because the device is full, and reports each.
  ///
  /// - Returns: Whether space was freed.
  func makeRoom() -> Bool {
    var hasFreed = false
    for name in (try? directory.names()) ?? [] where name.hasSuffix(Self.previousSuffix) {
      // Deleting a file that has another name frees nothing: it is a base that other stores share, or the log itself
      // during a full update.
      guard let file = try? directory.open(name, .read), (try? file.linkCount()) == 1, let byteCount = try? file.size(),
        (try? directory.remove(name)) == true
      else { continue }
      environment.notify(.droppedPrevious(path: directory.path + "/" + name, byteCount: byteCount))
      hasFreed = true
    }
    return hasFreed
  }
}

extension Verification {
  /// Verifies the generation that the last full update replaced and returns the problems found; `nil` if no generation
  /// is kept.
  ///
  /// - Throws, complexity: As ``run(_:)``.
  package static func findingsInPrevious(_ location: StoreLocation) throws(StoreError) -> [Finding]? {
    do { _ = try location.openPrevious() } catch {
      guard let finding = Finding(error, lost: "the way back from the last full update") else { throw error }
      return [finding]
    }
    return try runPrevious(location)?.findings
  }
}

extension StoreReader {
  /// Opens the generation that the last full update replaced; returns `nil` if none is kept. See
  /// ``StoreLocation/previousGeneration(before:)``.
  public func previousGeneration() throws(StoreError) -> PreviousGeneration? {
    try location.previousGeneration(before: snapshot)
  }
}

extension StoreWriter {
  /// Opens the generation that the last full update replaced; returns `nil` if none is kept. See
  /// ``StoreLocation/previousGeneration(before:)``.
  public func previousGeneration() throws(StoreError) -> PreviousGeneration? {
    try location.previousGeneration(before: snapshot)
  }

  /// Returns the last commit of the kept generation in a store whose log is missing or cannot be read; `nil` if no
  /// generation is kept or it is damaged too.
  ///
  /// - Throws: `StoreError.io`.
  package func snapshotBeforeDamage() throws(StoreError) -> Snapshot? {
    if snapshot != nil { return nil }
    do { return try location.previousGeneration(before: nil)?.snapshot } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Deletes the previous generation and, if only that generation needed it, the shared base.
  ///
  /// - Returns: The size of the deleted file in bytes; 0 if no generation was kept.
  /// - Throws: `StoreError.unusable` if the name belongs to something that is not a regular file; `.io`.
  @discardableResult
  public func dropPrevious() throws(StoreError) -> Int {
    let byteCount = try location.removePrevious()
    location.releaseBase()
    return byteCount
  }

  /// Makes a commit of the previous generation current again, as a new commit in a new generation. The generation that
  /// is current now is kept in turn, so this can be undone.
  ///
  /// - Parameters:
  ///   - earlier: A commit of ``previousGeneration()``.
  ///   - prepare: A closure that sets the state of the new commit.
  /// - Throws: `StoreError.noRoom` if the file system has less space than a copy needs; any error that `prepare`
  ///   throws. Nothing was changed in these cases. Also the errors of ``commit(_:keepsPrevious:accept:)``.
  /// - Complexity: Reads every row of `earlier` once and writes the live ones once.
  public func restore(_ earlier: Snapshot, _ prepare: (Transaction) throws -> Void) throws -> Snapshot {
    let room = try spaceToCopy(earlier)
    // Freeing space would delete the file that is being copied, and frees nothing while that file is open.
    if let available = room.available, available < room.needed {
      throw StoreError.noRoom(path: location.path, needed: room.needed, available: available)
    }
    let manifest = try schema.adopt(earlier.manifest.withoutRows, path: earlier.path)
    let transaction = try beginGeneration(sequence: nextSequence, manifest: manifest, makesRoom: false)
    return try commit(filling: transaction) { transaction in
      try transaction.copyRows(of: earlier)
      try prepare(transaction)
    }
  }
}

extension Int64 {
  /// The sum, clamped to 64 bits. Times from a file may be anything.
  fileprivate func adding(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, clamped to 64 bits.
  fileprivate func subtracting(_ other: Int64) -> Int64 {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }
}

extension Duration {
  /// The duration in whole microseconds, the unit of times in a log.
  fileprivate var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, hasOverflowed) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return hasOverflowed ? .max : product + attoseconds / 1_000_000_000_000
  }
}
