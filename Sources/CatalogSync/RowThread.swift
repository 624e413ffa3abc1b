import CatalogRows
import Dispatch
import Synchronization

/// A sink that passes rows on to another one on a second thread, in their order: reading a file and storing its rows take about
/// as long as each other.
///
/// Rows are copied into batches. Memory: ``batchesAhead`` and two batches of ``batchRowCount`` rows.
struct RowThread<Target: RowSink & SendableMetatype>: RowSink {
  private static var batchRowCount: Int { 256 }
  /// The number of batches that may wait before the reader does.
  private static var batchesAhead: Int { 3 }

  private let worker: Worker
  private var batch = RowBatch()

  /// - Parameter target: The sink, which is used only by the second thread until ``take()``.
  init(_ target: consuming Target) { worker = Worker(target, ahead: Self.batchesAhead) }

  /// - Throws: The error with which the target refused an earlier row.
  mutating func product(_ row: borrowing ProductRow) throws {
    batch.append(row)
    if batch.count == Self.batchRowCount { try send() }
  }

  /// - Throws: The error with which the target refused an earlier row.
  mutating func relation(_ row: borrowing RelationRow) throws {
    batch.append(row)
    if batch.count == Self.batchRowCount { try send() }
  }

  private mutating func send() throws {
    var full = RowBatch()
    swap(&full, &batch)
    batch = try worker.send(full)
  }

  /// Waits until all rows are passed on, and returns the target. No row may follow.
  ///
  /// - Throws: The error with which the target refused a row. ``abandon()`` then returns the target.
  mutating func take() throws -> Target? {
    if batch.count > 0 { try send() }
    return try worker.take()
  }

  /// Waits until the second thread is done, and returns the target, also if it refused a row. Rows that wait are dropped.
  mutating func abandon() -> Target? {
    batch = RowBatch()
    return worker.abandon()
  }

  /// Sendable: the target is used only by the serial queue.
  private final class Worker: @unchecked Sendable {
    private struct State {
      var failure: (any Error)?
      /// Whether the rest of the rows is dropped.
      var isAbandoned = false
      /// Batches that were passed on, for reuse.
      var free: [RowBatch] = []
    }

    private var target: Target?
    // Guards the state. The lock is held only to look at it or to change it.
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "shelfmark.rows")
    /// The number of batches that may still be queued.
    private let room = DispatchSemaphore(value: 0)

    init(_ target: consuming Target, ahead: Int) {
      self.target = target
      // A semaphore must not be destroyed with a lower value than its initial one, so that is zero.
      for _ in 0..<ahead { room.signal() }
    }

    /// Queues a batch, waiting for room. Returns an empty one to continue with.
    func send(_ batch: consuming RowBatch) throws -> RowBatch {
      room.wait()
      let (failure, next) = state.withLock { ($0.failure, $0.free.popLast()) }
      if let failure {
        room.signal()
        throw failure
      }
      let piece = batch
      queue.async { [self] in
        pass(piece)
        room.signal()
      }
      return next ?? RowBatch()
    }

    private func pass(_ batch: consuming RowBatch) {
      if state.withLock({ $0.failure != nil || $0.isAbandoned }) { return }
      do { try batch.pass(to: &target) } catch { state.withLock { $0.failure = error } }
      var empty = batch
      empty.removeAll()
      state.withLock { $0.free.append(empty) }
    }

    func take() throws -> Target? {
      queue.sync {}
      if let failure = state.withLock({ $0.failure }) { throw failure }
      return taken()
    }

    func abandon() -> Target? {
      state.withLock { $0.isAbandoned = true }
      return taken()
    }

    private func taken() -> Target? {
      queue.sync {
        var taken: Target?
        swap(&taken, &target)
        return taken
      }
    }
  }
}

/// Rows in the order in which they were read, in buffers that are used again.
private struct RowBatch: Sendable {
  private var products: [ProductRow] = []
  private var relations: [RelationRow] = []
  private var productCount = 0
  private var relationCount = 0
  /// The list of each row, in their order.
  private var isProduct: [Bool] = []

  var count: Int { isProduct.count }

  mutating func append(_ row: borrowing ProductRow) {
    if productCount == products.count { products.append(ProductRow()) }
    products[productCount].copy(row)
    productCount += 1
    isProduct.append(true)
  }

  mutating func append(_ row: borrowing RelationRow) {
    if relationCount == relations.count { relations.append(RelationRow()) }
    relations[relationCount].copy(row)
    relationCount += 1
    isProduct.append(false)
  }

  /// Forgets the rows and keeps the buffers.
  mutating func removeAll() {
    (productCount, relationCount) = (0, 0)
    isProduct.removeAll(keepingCapacity: true)
  }

  /// Passes all rows to `target`.
  func pass(to target: inout (some RowSink)?) throws {
    var (product, relation) = (0, 0)
    for isProduct in isProduct {
      if isProduct {
        try target?.product(products[product])
        product += 1
      } else {
        try target?.relation(relations[relation])
        relation += 1
      }
    }
  }
}
