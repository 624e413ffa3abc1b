import Platform
import RecordFormat

/// Releasing the lock between commits. A resting writer keeps its file open and lets other writers write.
extension StoreWriter {
  /// Releases the lock and keeps the file open, so that other writers can write until ``resume(lockTimeout:)``. Every
  /// commit is durable.
  package func rest() {
    discardOpenTransaction()
    lock.release(rests: true)
  }

  /// Takes the lock again after ``rest()``.
  ///
  /// - Parameter lockTimeout: The time to wait for another writer to finish.
  /// - Returns: Whether the store is unchanged since ``rest()``. If it has changed, or if that cannot be determined,
  ///   this writer can no longer be used. Open another one, which recovers the store or reports what is wrong with it.
  /// - Throws: `StoreError.locked`; `.io` if the lock fails.
  /// - Complexity: About ten system calls; no mapping, and no search for the last commit.
  package func resume(lockTimeout: Duration) throws(StoreError) -> Bool {
    guard poison == nil, !isForked, damagedLog == nil, let log, let snapshot else { return false }
    lock = try Self.lock(location, lockTimeout)
    do {
      try checkName()
      let recovery = try log.recover()
      if recovery.footer == snapshot.footer, recovery.size == snapshot.end, recovery.isAcknowledged,
        !recovery.isSuperseded, recovery.newestSlot == 1 - nextSlot, recovery.corruptSlots.isEmpty
      {
        // As in a newly opened writer: another writer may have had a failed sync.
        slotToRewrite = AcknowledgementSlot.pages[1 - nextSlot]
        try storage { () throws(StorageError) in _ = try location.directory.remove(location.new) }
        assertInvariants()
        return true
      }
      poison = "the store was changed while this writer rested"
    } catch { poison = "\(error)" }
    lock.release()
    return false
  }

  /// Makes the slot for the last commit durable and releases the lock. The writer cannot be used afterwards. Every
  /// commit was already durable.
  public func close() {
    discardOpenTransaction()
    if poison == nil, !isForked, let log { try? log.file.sync() }
    poison = "it was closed"
    lock.release()
  }
}
