import Bytes
import RecordFormat
import Storage
import Synchronization

/// Reads a store, beside any number of other readers and a writer in any process.
///
/// ``snapshot`` is what the reader sees; it changes only in ``refresh()``. Threads that look up much take the
/// snapshot once and keep it for a while.
public final class StoreReader: Sendable {
  let location: StoreLocation
  /// Guards which snapshot is current; held for a load or a store of one reference.
  private let current: Mutex<Snapshot>
  /// What ``isRemoved`` says. No other memory depends on it.
  private let foundNoFile = Atomic(false)
  /// How often ``refresh()`` looks at the directory if the mapped file announces nothing, in nanoseconds.
  private let lookInterval: Int64
  /// When it looked last, by `StoreEnvironment.uptime`. No other memory depends on it.
  private let lastLook: Atomic<Int64>

  private init(_ location: StoreLocation, _ snapshot: Snapshot, _ lookInterval: Duration) {
    self.location = location
    let parts = lookInterval.components
    self.lookInterval = parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    lastLook = Atomic(location.environment.uptime())
    current = Mutex(snapshot)
  }

  /// Opens the store at its last commit; `nil` if nothing was ever committed to it. Creates and changes nothing.
  ///
  /// - Parameters:
  ///   - location: Which store.
  ///   - lookInterval: How long ``refresh()`` may go without a look at the directory. Commits are seen at once in any case,
  ///     because writers announce them, and new generations, in the mapped file. Only the following may stay unseen for this
  ///     long: a file that was removed or put in place by hand, and the generation of a writer that died before it could
  ///     announce it.
  /// - Throws: `StoreError.unusable`, `.damaged`, `.io`.
  /// - Complexity: some ten system calls, whatever the number of rows.
  public static func open(
    _ location: StoreLocation, lookInterval: Duration = .zero
  ) throws(StoreError) -> StoreReader? {
    guard let snapshot = try load(location, reusing: nil) else { return nil }
    return StoreReader(location, snapshot, lookInterval)
  }

  /// Whether the last ``refresh()`` found no file of the store's name in the directory in which it was opened. Where that
  /// directory went as a whole, a store that was made again at its path is another one, which this reader never finds.
  public var isRemoved: Bool { foundNoFile.load(ordering: .relaxed) }

  /// The commit that this reader shows.
  public var snapshot: Snapshot { current.withLock { $0 } }

  /// Moves on to the last commit, also into a newer generation.
  ///
  /// A snapshot of which a page was lost (``MappingGuard``) is replaced by one with a new mapping, if the file is whole.
  ///
  /// - Returns: whether there was a newer one. A store that was removed has none.
  /// - Throws: `StoreError.replaced` if an older file has the name now, or another store's that is no newer; any other.
  ///   The reader then stays on the commit that it shows: it never goes back.
  /// - Complexity: with nothing new, some loads from mapped memory, and one system call, or one for each `lookInterval`.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool {
    let old = snapshot
    if lookInterval > 0 {
      let now = location.environment.uptime()
      let isFresh = now - lastLook.load(ordering: .relaxed) < lookInterval
      // Asked last: the look at the slots may be what finds out that a page is lost.
      if isFresh, !foundNoFile.load(ordering: .relaxed), !old.isAnnouncedOld, !old.isLost { return false }
      lastLook.store(now, ordering: .relaxed)
    }
    let identity = try storage { () throws(StorageError) in
      try location.directory.identity(of: location.log)
    }
    foundNoFile.store(identity == nil, ordering: .relaxed)
    let isSameFile = identity == old.log.file.identity
    let announced = old.newestAnnouncedSequence
    // Asked last: the look at the slots may be what finds out.
    if isSameFile, announced <= old.sequence, !old.isLost { return false }
    guard let new = try Self.load(location, reusing: old) else { return false }
    guard new.follows(old) else { throw .replaced(path: old.path) }
    return current.withLock { snapshot in
      // Another thread may have moved on further meanwhile: never go backwards.
      guard new.follows(snapshot) else { return false }
      let isNewer = (new.generation, new.sequence) > (snapshot.generation, snapshot.sequence)
      let isOtherFile = new.log.file.identity != snapshot.log.file.identity
      if isNewer || isOtherFile || snapshot.isLost { snapshot = new }
      return isNewer
    }
  }

  /// The last commit of the file that has the log's name; `nil` if there is no such file, or nothing in it that is newer
  /// than what `old` shows well.
  private static func load(
    _ location: StoreLocation, reusing old: Snapshot?
  ) throws(StoreError) -> Snapshot? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    guard let file else {
      try location.checkNothingIsKept()
      return nil
    }
    if let old, old.log.file.identity == file.identity {
      let size = try old.log.size()
      if size < old.end { throw old.log.damage(size, "the file ends here") }
    }
    if let old, old.log.file.identity == file.identity, try old.log.hasSameHeader() {
      guard let footer = try old.log.recover().footer else { throw old.log.noCommit }
      if old.isLost {
        return try Snapshot(old.log, old.log.mapping(reaching: Int(footer.end), reusing: nil), footer)
      }
      if footer.sequence == old.sequence { return nil }
      return try Snapshot(old.log, old.log.mapping(reaching: Int(footer.end), reusing: old.mapping), footer)
    }
    guard let log = try LogFile.open(file, at: location, .read) else { return nil }
    // A log gets its name when its first commit is durable.
    guard let footer = try log.recover().footer else { throw log.noCommit }
    return try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
  }
}

extension LogFile {
  /// A mapping that shows the file up to `end`, with room for the log to grow into without another one.
  func mapping(reaching end: Int, reusing old: Mapping?) throws(StoreError) -> Mapping {
    if let old, old.byteCount >= end { return old }
    let room = max(end, 64 << 20)
    return try storage { () throws(StorageError) in
      do { return try file.map(Self.wholePages(end + room)) } catch {
        // Where addresses are scarce (`ulimit -v`), the room to grow is given up first.
        return try file.map(Self.wholePages(end))
      }
    }
  }

  private static func wholePages(_ byteCount: Int) -> Int { (byteCount + 0xFFFF) & ~0xFFFF }

  /// The error of a log in which no commit is found.
  var noCommit: StoreError { damage(SegmentHeader.firstOffset, "no commit in the file") }
}

extension Snapshot {
  /// Whether this is `earlier`, the same commit in a copy of its file, or a newer one.
  fileprivate func follows(_ earlier: Snapshot) -> Bool {
    if (generation, sequence) == (earlier.generation, earlier.sequence) {
      return footer.storeID == earlier.footer.storeID && footer.chain == earlier.footer.chain
    }
    return (generation, sequence) > (earlier.generation, earlier.sequence)
  }

  /// Whether a slot announces a newer commit, or that a newer generation has replaced the file. Read from the mapping without a
  /// check: a hint to look closer.
  var isAnnouncedOld: Bool {
    if newestAnnouncedSequence > sequence { return true }
    return AcknowledgementSlot.offsets.contains { AcknowledgementSlot.isSuperseded(mapped($0, 64)) }
  }

  /// The highest sequence that a slot announces, read from the mapping without a check: a hint to look closer. A slot of
  /// another store, which someone wrote over this one, announces the most.
  var newestAnnouncedSequence: UInt64 {
    var newest: UInt64 = 0
    for offset in AcknowledgementSlot.offsets {
      let slot = mapped(offset, 32)
      let sequence = slot.u64(at: 24)
      if sequence == 0 { continue }
      newest = max(newest, StoreID(slot.u64(at: 8), slot.u64(at: 16)) == log.header.storeID ? sequence : .max)
    }
    return newest
  }
}
