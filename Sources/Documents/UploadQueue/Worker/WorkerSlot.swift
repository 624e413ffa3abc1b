import Bytes
import LogStore
import Storage

/// A lock that proves that a worker is alive: one of a fixed number of lock files next to the store's log. A worker
/// needs one to hold leases.
///
/// A lease names the lock and its holder. When a process ends for any reason, the kernel releases its locks at once,
/// without a timeout. So a process that acquires the lock of a lease knows that the lease's worker has ended; one that
/// cannot acquire it knows that the worker is alive. A process ID with its start time and boot ID gives the same answer
/// only if all processes share a PID namespace, and two containers with one volume do not.
final class WorkerSlot: Sendable {
  /// The maximum number of concurrent workers of one queue.
  static let count = 16

  let lease: ScheduleEntry.Lease
  private let lock: any StorageLock

  private init(_ lock: any StorageLock, _ lease: ScheduleEntry.Lease) {
    self.lock = lock
    self.lease = lease
  }

  /// Acquires the first free lock.
  ///
  /// - Throws: `UploadQueueError.tooManyWorkers`; `StoreError.io`.
  static func take(_ tables: QueueTables, _ environment: QueueEnvironment) throws -> WorkerSlot {
    for slot in 0..<count {
      guard let lock = try lock(tables, slot) else { continue }
      // A positive number has a shorter text. 63 random bits are enough.
      return WorkerSlot(lock, ScheduleEntry.Lease(slot: slot, holder: Int64(environment.random() >> 1)))
    }
    throw UploadQueueError.tooManyWorkers(queue: tables.name, limit: count)
  }

  /// The lock of a worker's slot; `nil` if another worker holds it.
  static func lock(_ tables: QueueTables, _ slot: Int) throws -> (any StorageLock)? {
    let location = tables.store.location
    // A queue's name may be too long for a file name, or have characters that a file name cannot have.
    let queue = String(KeyHash.of(Array(tables.name.utf8).rawSpan, HashSeed(0, 0)), radix: 16)
    let name = "\(location.name).worker-\(queue)-\(slot)"
    do { return try location.directory.lock(name) } catch { throw StoreError.io(error) }
  }

  func release() { lock.release() }
}
