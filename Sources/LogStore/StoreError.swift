import Storage

/// Everything that can go wrong in the world of a store. A caller's mistake is a precondition instead.
public enum StoreError: Error, Sendable {
  // On opening.

  /// The file is not a store, or one that this program cannot read. Nothing was changed.
  case unusable(path: String, reason: String)
  /// Another process holds the writer's lock. Try again, or open for reading.
  case locked(path: String)
  /// The file asks for tables or key spaces in another order than the program's schema.
  case schema(path: String, reason: String)

  // At any time.

  /// Bytes that were acknowledged do not pass their check. `offset` is where the damaged structure begins.
  case damaged(path: String, offset: Int, what: String)
  /// The device cannot read what it holds from `offset` on.
  case unreadable(path: String, offset: Int)
  /// The operating system refused a call.
  case io(StorageError)

  /// The store was closed to whoever asked, such as that of a user who is no longer signed in.
  case closed(path: String)

  // On writing.

  /// The file that was opened has lost its name: someone renamed, removed or replaced it by one that is not a later state
  /// of it. Nothing was written to it. Open the store again.
  case replaced(path: String)
  /// An earlier write or sync failed; this writer does nothing more. Reopening recovers the last commit.
  case poisoned(path: String, reason: String)
  /// The log would grow past what its offsets reach. Compact, or split the data.
  case full(path: String, limit: Int)
  /// The file system has less room than a compaction, or a rollback across a full update, needs. Nothing was written.
  case noRoom(path: String, needed: Int, available: Int)
  /// A key, record or shared string is longer than the format allows.
  case tooLarge(what: String, byteCount: Int, limit: Int)
  /// The writer belongs to the process that opened it; a forked child must open its own.
  case forked(path: String)
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unusable(let path, let reason): "\(path) is not usable as a store: \(reason)"
    case .locked(let path):
      "\(path) is being written by another process; try again when it is done"
    case .schema(let path, let reason): "\(path) does not fit this program: \(reason)"
    case .damaged(let path, let offset, let what):
      "\(path) is damaged at offset \(offset): \(what); run verify to see what is lost"
    case .unreadable(let path, let offset):
      "the device cannot read \(path) at offset \(offset); run verify to see what is lost"
    case .io(let error): error.description
    case .closed(let path):
      "\(path) was closed, as its user was signed out or the program let go of it; ask for it again"
    case .replaced(let path):
      "\(path) is no longer the file that was opened (someone renamed, removed or replaced it); open it again"
    case .poisoned(let path, let reason):
      "\(path) takes no more writes since one failed (\(reason)); reopen it to go on from the last commit"
    case .full(let path, let limit):
      "\(path) would grow past \(limit) bytes; compact it"
    case .noRoom(let path, let needed, let available):
      "\(path) needs up to \(needed) bytes for a copy of what is live next to it, and \(available) are free; free some space"
        + " and try again, nothing was changed"
    case .tooLarge(let what, let byteCount, let limit):
      "\(what) of \(byteCount) bytes is longer than the format's limit of \(limit)"
    case .forked(let path):
      "\(path) was opened for writing by this process's parent; open it again"
    }
  }
}

/// Runs an operation of the storage layer and gives its error this module's type.
@inline(__always)
func storage<Result: ~Copyable>(
  _ operation: () throws(StorageError) -> Result
) throws(StoreError) -> Result {
  do { return try operation() } catch { throw .io(error) }
}
