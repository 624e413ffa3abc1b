import RecordFormat
import Storage

/// A writer that rests keeps its file open and lets others write.
extension StoreWriter {
  /// Lets go of the lock and keeps the file open, so that others can write until ``resume(waiting:)``. Every commit is durable.
  package func rest() {
    discardOpenTransaction()
    lock.release()
  }

  /// Takes the lock again after ``rest()``.
  ///
  /// - Parameter waiting: How long to wait for another writer to finish.
  /// - Returns: Whether the store is as this writer left it. If not, or if that cannot be told, this writer is not usable any
  ///   more: open another one, which puts the store in order or says what is wrong with it.
  /// - Throws: `StoreError.locked`, `.io` of the lock.
  /// - Complexity: ten system calls or so; no mapping, and no search for the last commit.
  package func resume(waiting: Duration) throws(StoreError) -> Bool {
    guard poison == nil, !isForked, damagedLog == nil, let log, let snapshot else { return false }
    lock = try Self.lock(location, waiting)
    do {
      try checkName()
      let recovery = try log.recover()
      if recovery.footer == snapshot.footer, recovery.size == snapshot.end, recovery.isAcknowledged,
        !recovery.isSuperseded, recovery.newestSlot == 1 - nextSlot, recovery.rottenSlots.isEmpty
      {
        // As in a writer that was just opened: another one may have had a sync that failed.
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

  /// Makes the slot that vouches for the last commit durable, and lets go of the lock. The writer is not usable afterwards. Every
  /// commit is durable before.
  public func close() {
    discardOpenTransaction()
    if poison == nil, !isForked, let log { try? log.file.sync() }
    poison = "it was closed"
    lock.release()
  }
}
