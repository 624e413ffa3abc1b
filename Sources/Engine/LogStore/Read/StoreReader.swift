import Bytes
import Platform
import RecordFormat
import Storage
import Synchronization

/// A reader of a store. It works concurrently with any number of other readers and one writer, in any process.
///
/// ``snapshot`` is the commit that the reader shows; it changes only in ``refresh()``. A thread that does many lookups
/// should take the snapshot once and keep it for a while.
public final class StoreReader: Sendable {
  let location: StoreLocation
  /// The current snapshot. The lock is held only to load or store one reference.
  private let current: Mutex<Snapshot>
  /// The value of ``isRemoved``. No other memory depends on it.
  private let foundNoFile = Atomic(false)
  /// The interval, in nanoseconds, at which ``refresh()`` checks the directory if the mapped file announces no change.
  private let refreshInterval: Int64
  /// The time of the last check, by `StoreEnvironment.uptime`. No other memory depends on it.
  private let lastCheck: Atomic<Int64>

  private init(_ location: StoreLocation, _ snapshot: Snapshot, _ refreshInterval: Duration) {
    self.location = location
    let parts = refreshInterval.components
    self.refreshInterval = parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    lastCheck = Atomic(location.environment.uptime())
    current = Mutex(snapshot)
  }

  /// Opens the store at its last commit; returns `nil` if nothing was ever committed to it. Opening creates and changes
  /// no file.
  ///
  /// - Parameters:
  ///   - location: The location of the store.
  ///   - refreshInterval: The longest time for which ``refresh()`` may skip checking the directory. Commits and new
  ///     generations are seen immediately in any case, because writers announce them in the mapped file. Only two
  ///     changes may remain unseen for this time: a file that was removed or replaced by hand, and the generation of a
  ///     writer that crashed before announcing it.
  /// - Throws: `StoreError.unusable`, `.damaged`, `.io`.
  /// - Complexity: About ten system calls, regardless of the number of rows.
  public static func open(
    _ location: StoreLocation, refreshInterval: Duration = .zero
  ) throws(StoreError) -> StoreReader? {
    guard let snapshot = try load(location, reusing: nil) else { return nil }
    return StoreReader(location, snapshot, refreshInterval)
  }

  /// Whether the last ``refresh()`` found no file with the store's name in the directory in which the store was opened.
  /// If that directory was removed, a store created again at its path is a different one, which this reader never
  /// finds.
  package var isRemoved: Bool { foundNoFile.load(ordering: .relaxed) }

  /// The commit that this reader shows.
  public var snapshot: Snapshot { current.withLock { $0 } }

  /// Moves to the last commit, including a commit in a newer generation.
  ///
  /// A snapshot that lost a page (see ``MappingGuard``) is replaced by one with a new mapping if the file is intact.
  ///
  /// - Returns: Whether there was a newer commit. A removed store has none.
  /// - Throws: `StoreError.replaced` if the name now belongs to an older file, or to another store that is not newer,
  ///   or if the bytes of such a file were written over this one, as `cp` does. Open the store again to read it. Any
  ///   other error. The reader then stays at the commit that it shows: it never goes back.
  /// - Complexity: Without a new commit, a few loads from mapped memory and one system call, or one system call per
  ///   `refreshInterval`.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool {
    let old = snapshot
    if refreshInterval > 0 {
      let now = location.environment.uptime()
      let isFresh = now - lastCheck.load(ordering: .relaxed) < refreshInterval
      // `isLost` is checked last, because reading the slots may be what detects a lost page.
      if isFresh, !foundNoFile.load(ordering: .relaxed), !old.announcement.isNewer(than: old.sequence), !old.isLost {
        return false
      }
      lastCheck.store(now, ordering: .relaxed)
    }
    let identity = try storage { () throws(StorageError) in
      try location.directory.identity(of: location.log)
    }
    foundNoFile.store(identity == nil, ordering: .relaxed)
    let isSameFile = identity == old.log.file.identity
    let announced = old.announcement
    // A slot may lag behind by the last commit, after a crash or for a moment. If both do, or if one contradicts the
    // commit, an older file may have been written over this one. `isLost` is checked last, because reading the slots may
    // be what detects a lost page.
    if isSameFile, announced.newest == old.sequence, !announced.isContradicted, !old.isLost { return false }
    guard let new = try Self.load(location, reusing: old) else { return false }
    guard new.follows(old) else { throw .replaced(path: old.path) }
    return current.withLock { snapshot in
      // Another thread may have moved further in the meantime: never go backwards.
      guard new.follows(snapshot) else { return false }
      let isNewer = (new.generation, new.sequence) > (snapshot.generation, snapshot.sequence)
      let isOtherFile = new.log.file.identity != snapshot.log.file.identity
      if isNewer || isOtherFile || snapshot.isLost { snapshot = new }
      return isNewer
    }
  }

  /// Returns the last commit of the file with the log's name; `nil` if there is no such file, or if it contains nothing
  /// newer than `old` and `old` has lost no page.
  private static func load(
    _ location: StoreLocation, reusing old: Snapshot?
  ) throws(StoreError) -> Snapshot? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    guard let file else {
      try location.checkLogNotRemoved()
      return nil
    }
    guard let old, old.log.file.identity == file.identity else { return try load(file, location) }
    do throws(StoreError) {
      guard try old.log.hasSameHeader(), try old.log.isShown(by: old.mapping) else { return try load(file, location) }
      guard let footer = try old.log.recover().footer else { throw old.log.noCommit }
      // An earlier state of the file, or one that has diverged from it, was written over it.
      guard footer.sequence > old.sequence || footer == old.footer else { throw .replaced(path: old.path) }
      if old.isLost {
        return try Snapshot(old.log, old.log.mapping(reaching: Int(footer.end), reusing: nil), footer)
      }
      if footer == old.footer { return nil }
      return try Snapshot(old.log, old.log.mapping(reaching: Int(footer.end), reusing: old.mapping), footer)
    } catch {
      // A short file can be a sound one, so its length alone is no damage. If it is not sound, the length explains why.
      if error.isDamage { try old.checkLength() }
      throw error
    }
  }

  /// Returns the last commit of a file that was just opened.
  private static func load(
    _ file: any StorageFile, _ location: StoreLocation
  ) throws(StoreError) -> Snapshot? {
    guard let log = try LogFile.open(file, at: location, .read) else { return nil }
    // A log gets its name only when its first commit is durable.
    guard let footer = try log.recover().footer else { throw log.noCommit }
    return try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
  }
}

extension LogFile {
  /// Returns a mapping of the file up to `end`, with spare address space so that the log can grow without a new
  /// mapping.
  func mapping(reaching end: Int, reusing old: Mapping?) throws(StoreError) -> Mapping {
    if let old, old.byteCount >= end { return old }
    let room = max(end, 64 << 20)
    return try storage { () throws(StorageError) in
      do { return try file.map(Self.wholePages(end + room)) } catch {
        // If address space is limited (`ulimit -v`), do without the spare address space.
        return try file.map(Self.wholePages(end))
      }
    }
  }

  private static func wholePages(_ byteCount: Int) -> Int { (byteCount + 0xFFFF) & ~0xFFFF }

  /// The error for a log without a valid commit.
  var noCommit: StoreError { damage(SegmentHeader.firstOffset, "no commit in the file") }
}

extension Snapshot {
  /// Returns whether this snapshot is `earlier`, the same commit in a copy of its file, or a newer one.
  fileprivate func follows(_ earlier: Snapshot) -> Bool {
    if (generation, sequence) == (earlier.generation, earlier.sequence) {
      return footer.storeID == earlier.footer.storeID && footer.chain == earlier.footer.chain
    }
    return (generation, sequence) > (earlier.generation, earlier.sequence)
  }

  /// What the slots announce, read without a check, as a hint to look closer.
  ///
  /// The slots are read from the mapping. Only if the mapping may show an older file are they read from the file, with
  /// one system call.
  var announcement: Announcement {
    var announcement = Announcement()
    if log.isCopiedOnWrite {
      let slots = (try? log.readSlotHeads()) ?? []
      guard slots.count == AcknowledgementSlot.offsets.count,
        slots.allSatisfy({ $0.count == AcknowledgementSlot.headByteCount })
      else { return Announcement(newest: .max) }
      for slot in slots { announcement.add(AcknowledgementSlot.Hint(slot.rawSpan), to: self) }
    } else {
      for offset in AcknowledgementSlot.offsets {
        announcement.add(AcknowledgementSlot.Hint(mapped(offset, AcknowledgementSlot.headByteCount)), to: self)
      }
    }
    return announcement
  }

  /// What the two slots announce to a reader that shows a snapshot.
  struct Announcement {
    /// The highest sequence number; the maximum if a slot belongs to another store, which was written over this one.
    var newest: UInt64 = 0
    /// Whether a newer generation has replaced the file.
    var isSuperseded = false
    /// Whether a slot has the snapshot's sequence number and names another commit.
    var isContradicted = false

    fileprivate mutating func add(_ slot: AcknowledgementSlot.Hint, to snapshot: Snapshot) {
      if slot.isSuperseded { isSuperseded = true }
      if slot.sequence == 0 { return }
      newest = max(newest, slot.storeID == snapshot.log.header.storeID ? slot.sequence : .max)
      if slot.sequence == snapshot.sequence, slot.chain != snapshot.footer.chain { isContradicted = true }
    }

    /// Whether there is something newer than the commit `sequence`.
    func isNewer(than sequence: UInt64) -> Bool { newest > sequence || isSuperseded }
  }
}
