import RecordFormat
import Storage
import Synchronization

/// Reads a store, beside any number of other readers and a writer in any process.
///
/// ``snapshot`` is what the reader sees; it changes only in ``refresh()``. Threads that look up much take the
/// snapshot once and keep it for a while.
public final class StoreReader: Sendable {
  private let location: StoreLocation
  /// Guards which snapshot is current; held for a load or a store of one reference.
  private let current: Mutex<Snapshot>

  private init(_ location: StoreLocation, _ snapshot: Snapshot) {
    self.location = location
    current = Mutex(snapshot)
  }

  /// Opens the store at its last commit; `nil` if nothing was ever committed to it. Creates and changes nothing.
  ///
  /// - Throws: `StoreError.unusable`, `.damaged`, `.io`.
  /// - Complexity: some ten system calls, whatever the number of rows.
  public static func open(_ location: StoreLocation) throws(StoreError) -> StoreReader? {
    guard let snapshot = try load(location, reusing: nil) else { return nil }
    return StoreReader(location, snapshot)
  }

  /// The commit that this reader shows.
  public var snapshot: Snapshot { current.withLock { $0 } }

  /// Moves on to the last commit, also into a newer generation.
  ///
  /// - Returns: whether there was a newer one.
  /// - Throws: `StoreError`; the reader then stays on the commit that it shows.
  /// - Complexity: with nothing new, one system call and two loads from mapped memory.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool {
    let old = snapshot
    let identity = try storage { () throws(StorageError) in
      try location.directory.identity(of: location.log)
    }
    let isSameFile = identity == old.log.file.identity
    if isSameFile, old.newestAnnouncedSequence <= old.sequence { return false }
    guard let new = try Self.load(location, reusing: old) else { return false }
    return current.withLock { snapshot in
      // Another thread may have moved on further meanwhile: never go backwards.
      guard (new.generation, new.sequence) > (snapshot.generation, snapshot.sequence) else { return false }
      snapshot = new
      return true
    }
  }

  private static func load(
    _ location: StoreLocation, reusing old: Snapshot?
  ) throws(StoreError) -> Snapshot? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    guard let file else { return nil }
    if let old, old.log.file.identity == file.identity {
      let recovery = try old.log.recover()
      guard let footer = recovery.footer, footer.sequence > old.sequence else { return nil }
      return try Snapshot(old.log, old.log.mapping(reaching: Int(footer.end), reusing: old.mapping), footer)
    }
    let log = try LogFile(file)
    // A log gets its name when its first commit is durable.
    guard let footer = try log.recover().footer else {
      throw log.damage(SegmentHeader.firstOffset, "no commit in the file")
    }
    return try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
  }
}

extension LogFile {
  /// A mapping that shows the file up to `end`, with room for the log to grow into without another one.
  func mapping(reaching end: Int, reusing old: Mapping?) throws(StoreError) -> Mapping {
    if let old, old.byteCount >= end { return old }
    let room = max(end, 64 << 20)
    let pages = (end + room + 0xFFFF) & ~0xFFFF
    return try storage { () throws(StorageError) in try file.map(pages) }
  }
}

extension Snapshot {
  /// The highest sequence that a slot announces, read from the mapping without a check: a hint to look closer.
  var newestAnnouncedSequence: UInt64 {
    var newest: UInt64 = 0
    for offset in AcknowledgementSlot.offsets { newest = max(newest, mapped(offset + 24, 8).u64(at: 0)) }
    return newest
  }
}
