import Bytes
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
  let previousLifetime: Duration?
  var lock: any StorageLock
  private let process = getpid()
  /// The log and its last commit; `nil` until the first one.
  var log: LogFile?
  /// The file that has the log's name, as far as this writer knows; `nil` for none.
  var namedFile: FileIdentity?
  var poison: String?
  /// A log that cannot be opened, which the first generation of this writer sets aside.
  var damagedLog: (any StorageFile)?
  /// Where that log is now.
  public internal(set) var damagedPath: String?
  /// The highest numbers that it tells.
  var highest: (sequence: UInt64, generation: UInt64) = (0, 0)
  /// Which slot the next commit writes.
  var nextSlot = 0
  /// The page of the newest slot if only memory may hold it, because a writer before this one had a sync that failed. The
  /// next commit writes it again before it syncs: one of the two slots is durable while the other one is written.
  var slotToRewrite: Range<Int>?
  /// Whether a new generation may replace a log that is damaged; see the initializer.
  package let replacesDamaged: Bool
  var openTransaction: Transaction?
  var tail = TailMemory()
  /// The last commit; `nil` in a store without one.
  public internal(set) var snapshot: Snapshot?

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
    assertInvariants()
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

  /// The number that the next commit will have.
  public var nextSequence: UInt64 { (snapshot?.sequence ?? highest.sequence) + 1 }

  /// Whether this is the copy of a writer in a forked child, which must leave the file to its parent.
  var isForked: Bool { getpid() != process }

  /// - Throws: `StoreError.forked`, `.poisoned`.
  func checkUsable() throws(StoreError) {
    let path = location.directory.path + "/" + location.log
    if isForked { throw .forked(path: path) }
    if let poison { throw .poisoned(path: path, reason: poison) }
  }
}
