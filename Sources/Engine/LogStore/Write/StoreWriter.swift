import Bytes
import Platform
import RecordFormat
import Storage

/// The only writer of a store, for as long as it holds the lock.
///
/// A writer belongs to the code that opened it and is not shared between tasks; its snapshots may be shared.
///
/// Invariants: no byte before `end` of the last commit is ever written again; a commit is reported only after its sync
/// has returned; after a failed write or sync nothing more is written.
public final class StoreWriter {
  let location: StoreLocation
  let schema: Schema
  /// The time for which a generation is kept after a full update replaced it; `nil` for no limit.
  let previousLifetime: Duration?
  var lock: WriterLock
  private let process = getpid()
  /// The log; `nil` before the first commit.
  var log: LogFile?
  /// The identity of the file with the log's name, as known to this writer; `nil` if there is no such file.
  var namedFile: FileIdentity?
  var poison: String?
  /// A log that cannot be opened and that the first generation of this writer renames.
  var damagedLog: (any StorageFile)?
  /// The path to which that log was moved.
  public internal(set) var damagedPath: String?
  /// The highest numbers in that log.
  var highest: (sequence: UInt64, generation: UInt64) = (0, 0)
  /// The index of the slot that the next commit writes.
  var nextSlot = 0
  /// The page of the newest slot if it may be only in memory, because an earlier writer had a failed sync. The next
  /// commit writes it again before its sync: one of the two slots must be durable while the other is being written.
  var slotToRewrite: Range<Int>?
  /// Whether a new generation may replace a damaged log; see the initializer.
  package let replacesDamaged: Bool
  /// Whether the next generation is sealed: as the last one, unless ``rewrite(sealed:)`` says otherwise.
  var sealsNextGeneration: Bool { isSealing ?? snapshot?.isSealed ?? damagedIsSealed ?? location.sealsNewNow }
  /// Whether generations are to be sealed; `nil` to leave that as it is.
  var isSealing: Bool?
  /// Whether a damaged log that the next generation replaces was sealed; `nil` if that is not known.
  var damagedIsSealed: Bool?
  var openTransaction: Transaction?
  var tail = TailCache()
  /// The last commit; `nil` in a store without a commit.
  public internal(set) var snapshot: Snapshot?

  /// Opens a store for writing and recovers it after a crash: a torn tail is truncated, a valid commit that was not
  /// acknowledged is made durable, and an unfinished generation is removed.
  ///
  /// - Parameters:
  ///   - location: The location of the store.
  ///   - schema: The tables that the application knows. The store may have more.
  ///   - lockTimeout: The time to wait for another writer to finish.
  ///   - previousLifetime: The time for which a generation is kept after a full update replaced it. Zero keeps no
  ///     generation; `nil` keeps it until the next one replaces it. An expired generation is deleted with the next
  ///     commit.
  ///   - replacesDamaged: Whether to start a new store if the log cannot be opened. The log stays in place until the
  ///     first commit, which renames it to `NAME.damaged-1` or the next free name; see ``damagedPath``.
  /// - Throws: `StoreError.locked` after the lock timeout; `.damaged`, `.unusable`, `.schema`, `.io`.
  public init(
    _ location: StoreLocation, schema: Schema, lockTimeout: Duration = .zero, previousLifetime: Duration? = nil,
    replacesDamaged: Bool = false
  ) throws(StoreError) {
    self.location = location
    self.schema = schema
    self.previousLifetime = previousLifetime
    self.replacesDamaged = replacesDamaged
    lock = try Self.lock(location, lockTimeout)
    do { try recover(orStartNewLog: replacesDamaged) } catch {
      lock.release()
      throw error
    }
    assertInvariants()
  }

  /// Creates a writer that writes a new generation without opening the old one.
  init(repairing location: StoreLocation, schema: Schema, lock: WriterLock) {
    self.location = location
    self.schema = schema
    self.lock = lock
    previousLifetime = nil
    replacesDamaged = false
  }

  deinit { lock.release() }

  /// The sequence number of the next commit.
  package var nextSequence: UInt64 { (snapshot?.sequence ?? highest.sequence) + 1 }

  /// Whether this is the copy of a writer in a forked child, which must leave the file to its parent.
  var isForked: Bool { getpid() != process }

  /// Checks that the writer can still be used.
  ///
  /// - Throws: `StoreError.forked`, `.poisoned`.
  func checkUsable() throws(StoreError) {
    let path = location.directory.path + "/" + location.log
    if isForked { throw .forked(path: path) }
    if let poison { throw .poisoned(path: path, reason: poison) }
  }
}
