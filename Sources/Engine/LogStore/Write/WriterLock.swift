import Platform
import Storage
import Synchronization

/// The two locks of a writer: on the lock file, which has the same name for all generations, and on the log itself.
///
/// The lock file alone is not enough where two processes have different lock files for one log: a log that is mounted
/// into two containers without its directory, or a second name of it in another directory. The log alone is not enough
/// either: it does not exist before the first commit, and programs of earlier versions lock the lock file only.
///
/// Invariants: the lock file is locked first. While the writer works, the file with the log's name is locked: a new
/// generation is locked before it gets the name, and the old one is unlocked after that. A process that locked the old
/// one meanwhile looks at the name again, and finds another file.
final class WriterLock: Sendable {
  private let name: any StorageLock
  private let log: Mutex<(any StorageLock)?>

  /// Locks the log under its lock file, which the caller has locked and of which this object takes ownership.
  ///
  /// Fails if another process has locked the log; the caller then keeps the lock file.
  init?(_ name: any StorageLock, _ location: StoreLocation) throws(StoreError) {
    let log: FileLock
    do throws(StorageError) { log = try location.directory.lockFile(location.log) } catch {
      name.release()
      throw .io(error)
    }
    switch log {
    case .taken(let lock): self.log = Mutex(lock)
    case .unneeded: self.log = Mutex(nil)
    case .held: return nil
    }
    self.name = name
    name.sign()
  }

  /// Locks the file of a new generation and calls `rename`, which gives it the log's name. Then the old one is unlocked.
  func moveToNewGeneration(of location: StoreLocation, _ rename: () throws(StorageError) -> Void) throws(StorageError) {
    let new: (any StorageLock)?
    switch try location.directory.lockFile(location.new) {
    case .taken(let lock): new = lock
    case .unneeded: new = nil
    case .held: throw StorageError(operation: "lock", path: location.directory.path + "/" + location.new, code: EAGAIN)
    }
    do { try rename() } catch {
      new?.release()
      throw error
    }
    let old = log.withLock { log in
      let old = log
      log = new
      return old
    }
    old?.release()
  }

  /// Releases both locks.
  ///
  /// - Parameter rests: Whether this process will take them again. Then the lock file goes on naming it, which saves a
  ///   write for each commit.
  func release(rests: Bool = false) {
    if !rests { name.unsign() }
    let log = log.withLock { log in
      let old = log
      log = nil
      return old
    }
    log?.release()
    name.release()
  }
}

extension StoreLocation {
  /// What is known of a process that has locked the log but not the lock file.
  var stranger: String {
    "a process that does not see \(lock): the log alone is mounted into a container, or has a second name; mount its"
      + " directory instead"
  }
}
