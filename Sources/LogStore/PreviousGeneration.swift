import RecordFormat
import Storage

// A full update keeps the generation that it replaces as `NAME.previous`, so that it can be undone. Nothing else needs
// that file: it may be deleted at any moment, by any process, with or without the lock.

/// Something that a store did without being asked, and that a person may want to know.
public enum StoreNotice: Sendable, Equatable {
  /// The device was full, and the kept generation at `path` was deleted to make room: `byteCount` bytes. What it held
  /// cannot be gone back to any more.
  case droppedPrevious(path: String, byteCount: Int)
}

extension StoreNotice: CustomStringConvertible {
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
  /// Its last commit.
  public let snapshot: Snapshot
  /// Bytes in its file.
  public let byteCount: Int
  /// When it was replaced, in microseconds since 1970 UTC; `nil` if the file system keeps no times.
  public let replaced: Int64?
}

extension StoreLocation {
  /// The generation that was kept when the last full update replaced it; `nil` if none is kept.
  ///
  /// - Parameter current: The last commit of the store; `nil` where it cannot be read. A kept file that is not older is
  ///   not a previous generation: a crash in a full update can leave a second name of the log itself.
  /// - Throws: `StoreError.damaged`, `.unusable`, `.io`.
  /// - Complexity: As opening the store.
  public func previousGeneration(before current: Snapshot?) throws(StoreError) -> PreviousGeneration? {
    let file = try storage { () throws(StorageError) in try directory.open(previous, .read) }
    guard let file else { return nil }
    var log = try LogFile(file)
    if let current, log.header.generation >= current.generation { return nil }
    if let base = log.header.base { log = try log.joined(with: base, at: self) }
    guard let footer = try log.recover().footer else { throw log.noCommit }
    let snapshot = try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
    return try storage { () throws(StorageError) in
      PreviousGeneration(
        snapshot: snapshot, byteCount: try file.size(), replaced: try directory.modificationTime(of: previous))
    }
  }

  /// Bytes of the file of the previous generation, damaged or not; 0 if none is kept.
  public func previousByteCount() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try directory.byteCount(of: previous) ?? 0 }
  }

  /// Deletes the previous generation. A process that reads it goes on reading.
  ///
  /// - Returns: Bytes of the deleted file; 0 if none was kept. The device has them back once no other store shares
  ///   them and no process reads them.
  /// - Throws: `StoreError.io`.
  @discardableResult
  func removePrevious() throws(StoreError) -> Int {
    let byteCount = try previousByteCount()
    let isRemoved = try storage { () throws(StorageError) in try directory.remove(previous) }
    return isRemoved ? byteCount : 0
  }

  /// Deletes the previous generation if it was replaced at least `lifetime` ago.
  ///
  /// - Complexity: One system call where none is kept.
  func expirePrevious(after lifetime: Duration) throws(StoreError) {
    let replaced = try storage { () throws(StorageError) in try directory.modificationTime(of: previous) }
    guard let replaced else { return }
    // A clock that was set back makes a file younger than it is, never older.
    if environment.now() - replaced >= lifetime.microseconds { try removePrevious() }
  }

  /// Deletes the previous generations of all stores in the directory, as the device is full, and reports each.
  ///
  /// - Returns: Whether that freed anything.
  func makeRoom() -> Bool {
    var hasFreed = false
    for name in (try? directory.names()) ?? [] where name.hasSuffix(Self.previousSuffix) {
      // A file with another name frees nothing: it is a base that other stores share, or the log itself in the middle
      // of a full update.
      guard let file = try? directory.open(name, .read), (try? file.linkCount()) == 1, let byteCount = try? file.size(),
        (try? directory.remove(name)) == true
      else { continue }
      environment.notify(.droppedPrevious(path: directory.path + "/" + name, byteCount: byteCount))
      hasFreed = true
    }
    return hasFreed
  }
}

extension StoreReader {
  /// The generation that was kept when the last full update replaced it; `nil` if none is kept. See
  /// ``StoreLocation/previousGeneration(before:)``.
  public func previousGeneration() throws(StoreError) -> PreviousGeneration? {
    try location.previousGeneration(before: snapshot)
  }
}

extension StoreWriter {
  /// The generation that was kept when the last full update replaced it; `nil` if none is kept. See
  /// ``StoreLocation/previousGeneration(before:)``.
  public func previousGeneration() throws(StoreError) -> PreviousGeneration? {
    try location.previousGeneration(before: snapshot)
  }

  /// The last commit of the generation that is kept, in a store whose log cannot be read or is gone; `nil` if none is, or it
  /// is damaged too.
  ///
  /// - Throws: `StoreError.io`.
  package func snapshotBeforeDamage() throws(StoreError) -> Snapshot? {
    if snapshot != nil { return nil }
    do { return try location.previousGeneration(before: nil)?.snapshot } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Deletes the previous generation, and a shared base that it alone needed.
  ///
  /// - Returns: Bytes of the deleted file; 0 if none was kept.
  /// - Throws: `StoreError.io`.
  @discardableResult
  public func dropPrevious() throws(StoreError) -> Int {
    let byteCount = try location.removePrevious()
    location.releaseBase()
    return byteCount
  }

  /// Makes a commit of the previous generation current again, as a new commit in a new generation. The generation that
  /// is current now is kept in its turn, so this can be undone.
  ///
  /// - Parameters:
  ///   - earlier: A commit of ``previousGeneration()``.
  ///   - prepare: Fills in the state of the new commit.
  /// - Throws: `StoreError.noRoom` where the file system has less room than a copy needs; what `prepare` throws. Nothing
  ///   changed then. As ``commit(_:keepsPrevious:accept:)``.
  /// - Complexity: Reads every row of `earlier` once and writes the live ones once.
  public func restore(_ earlier: Snapshot, _ prepare: (Transaction) throws -> Void) throws -> Snapshot {
    let room = try roomToCopy(earlier)
    // Making room would delete the very file that is copied, and free nothing while it is read.
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

extension Duration {
  /// Whole microseconds, as the times in a log count them.
  fileprivate var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, hasOverflowed) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return hasOverflowed ? .max : product + attoseconds / 1_000_000_000_000
  }
}
