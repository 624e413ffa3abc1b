import Bytes
import LogStore
import Storage

/// A worker's right to hold leases: one of some locks beside the store's log.
///
/// A lease names the lock and who held it. The kernel lets a lock go when its process dies, whatever it died of, at once and
/// not by a clock; so who gets the lock of a lease knows that its worker is no more, and who does not get it knows that it
/// lives. A process id with the time of its start and of the boot says the same only where all processes see each other,
/// and two containers with one volume do not.
final class WorkerSlot: Sendable {
  /// Workers of one queue at once.
  static let count = 16

  let lease: ScheduleEntry.Lease
  private let lock: any StorageLock

  private init(_ lock: any StorageLock, _ lease: ScheduleEntry.Lease) {
    self.lock = lock
    self.lease = lease
  }

  /// The first lock that is free.
  ///
  /// - Throws: `UploadQueueError.tooManyWorkers`; `StoreError.io`.
  static func take(_ tables: QueueTables, _ environment: QueueEnvironment) throws -> WorkerSlot {
    for slot in 0..<count {
      guard let lock = try lock(tables, slot) else { continue }
      // The sign bit is not of the number's randomness, and its text is shorter without.
      return WorkerSlot(lock, ScheduleEntry.Lease(slot: slot, holder: Int64(environment.random() >> 1)))
    }
    throw UploadQueueError.tooManyWorkers(queue: tables.name, limit: count)
  }

  /// The lock of a worker's slot; `nil` if a worker has it.
  static func lock(_ tables: QueueTables, _ slot: Int) throws -> (any StorageLock)? {
    let location = tables.store.location
    // A queue's name may be too long for a file's, or have characters that one may not have.
    let queue = String(KeyHash.of(Array(tables.name.utf8).rawSpan, HashSeed(0, 0)), radix: 16)
    let name = "\(location.name).worker-\(queue)-\(slot)"
    do { return try location.directory.lock(name) } catch { throw StoreError.io(error) }
  }

  func release() { lock.release() }
}
