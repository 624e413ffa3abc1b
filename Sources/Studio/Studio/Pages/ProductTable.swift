import Catalog
import CatalogRows
import LogStore
import Platform
import Synchronization

/// The rows of a table of products: a snapshot, a filter and an order, as row ids of 4 bytes, found step by step.
///
/// A page is answered as soon as its rows are known, or after a short time with those that are. The rows after it are
/// found in the background, as long as somebody asks for the table.
final class ProductTable: Sendable {
  /// What makes two tables the same.
  struct Key: Hashable, Sendable {
    let generation: UInt64
    let sequence: UInt64
    /// The parameters of the filter.
    let filter: String
    let order: ProductTableOrder
  }

  let key: Key
  let snapshot: CatalogSnapshot
  private let filter: ProductFilter
  /// Found so far. Held for the time of one step.
  private let state = Mutex(State())

  private struct State {
    var walk: ProductRowWalk?
    var rows: [UInt32] = []
    var isComplete = false
    /// The error of the work in the background, for the next request.
    var failure: (any Error)?
    /// Whether rows are being found in the background.
    var isRunning = false
    var lastUse = ContinuousClock.now
  }

  /// The number of entries that a step looks at: some milliseconds, as requests wait for a step that is running.
  private static let stepCount = 8192
  /// Work in the background stops after this time without a request.
  private static let idleTime = Duration.seconds(5)

  init(_ key: Key, _ snapshot: CatalogSnapshot, _ filter: ProductFilter) {
    self.key = key
    self.snapshot = snapshot
    self.filter = filter
  }

  /// The bytes of the rows that are known.
  var byteCount: Int { state.withLock { $0.rows.capacity * 4 } }

  /// Rows of a table.
  struct Page {
    let rows: [RowID]
    /// The number of rows that have been found so far.
    let found: Int
    /// The number of all rows; `nil` if it is not known yet.
    let count: Int?
  }

  /// Returns some rows.
  ///
  /// - Parameters:
  ///   - offset: The position of the first row.
  ///   - count: The maximum number of rows.
  ///   - timeout: The longest time to wait for rows, and that of one step. A page may then have fewer rows, or none,
  ///     though the table has more. `nil` waits for all rows of the page, and so does a table whose number of rows is
  ///     known.
  /// - Throws: `SearchError`; `CancellationError` if the task is cancelled.
  func rows(from offset: Int, count: Int, timeout: Duration? = nil) async throws -> Page {
    let (sum, hasOverflowed) = offset.addingReportingOverflow(count)
    let end = hasOverflowed ? .max : sum
    try await find(end, timeout: timeout, isForPage: true)
    let page = state.withLock { state in
      let range = min(offset, state.rows.count)..<min(end, state.rows.count)
      return Page(
        rows: state.rows[range].map { RowID(number: UInt64($0)) }, found: state.rows.count,
        count: state.isComplete ? state.rows.count : filter.isEmpty ? snapshot.productCount : state.walk?.count)
    }
    runInBackground()
    return page
  }

  /// Returns the position of a row; `nil` if the table does not have it, or not within `timeout`.
  ///
  /// - Throws: As ``rows(from:count:timeout:)``.
  func position(of row: RowID, timeout: Duration) async throws -> Int? {
    try await find(.max, timeout: timeout, isForPage: false)
    return state.withLock { $0.rows.firstIndex(of: UInt32(truncatingIfNeeded: row.number)) }
  }

  /// Waits until a number of rows is known, or all, or until the timeout is over.
  ///
  /// - Parameter isForPage: Whether to wait for the rows as soon as it is known how many there are.
  private func find(_ count: Int, timeout: Duration?, isForPage: Bool) async throws {
    let start = ContinuousClock.now
    while try await !hasFound(count) {
      try Task.checkCancellation()
      guard let timeout, !filter.isEmpty, ContinuousClock.now - start >= timeout else { continue }
      if !isForPage || state.withLock({ $0.walk?.count }) == nil { return }
    }
  }

  private func hasFound(_ count: Int) async throws -> Bool {
    try await BlockingThread.run { try self.step(until: count) }
  }

  /// Looks at some entries, unless enough rows are known.
  private func step(until count: Int) throws -> Bool {
    try state.withLock { state in
      state.lastUse = .now
      if let failure = state.failure {
        state.failure = nil
        throw failure
      }
      return try advance(&state, until: count)
    }
  }

  private func advance(_ state: inout State, until count: Int) throws -> Bool {
    if state.isComplete || state.rows.count >= count { return true }
    do {
      if state.walk == nil { state.walk = try ProductRowWalk(snapshot, filter, key.order) }
      let goesOn = try state.walk?.appendRows(lookingAt: Self.stepCount, to: &state.rows) ?? false
      if !goesOn || state.rows.count == state.walk?.count {
        state.isComplete = true
        state.walk = nil
      }
    } catch {
      // The next request begins anew.
      state.walk = nil
      state.rows = []
      throw error
    }
    return state.isComplete || state.rows.count >= count
  }

  private func runInBackground() {
    let isNeeded = state.withLock { state in
      let isNeeded = !state.isComplete && !state.isRunning
      if isNeeded { state.isRunning = true }
      return isNeeded
    }
    guard isNeeded else { return }
    Task.detached(priority: .utility) {
      var goesOn = true
      while goesOn { goesOn = (try? await BlockingThread.run { self.backgroundStep() }) ?? false }
      self.state.withLock { $0.isRunning = false }
    }
  }

  /// Looks at some entries. Returns whether to go on.
  private func backgroundStep() -> Bool {
    state.withLock { state in
      if ContinuousClock.now - state.lastUse > Self.idleTime || state.failure != nil { return false }
      do { return try !advance(&state, until: .max) } catch {
        state.failure = error
        return false
      }
    }
  }
}

/// The tables that were asked for last, a bounded number.
final class ProductTables: Sendable {
  /// The maximum number of tables.
  private let maximumCount: Int
  /// The maximum number of bytes of their rows, apart from the table used last.
  private let maximumByteCount: Int
  /// The tables, the one used last at the end.
  private let tables = Mutex<[ProductTable]>([])

  init(maximumCount: Int = 8, maximumByteCount: Int = 256 << 20) {
    self.maximumCount = maximumCount
    self.maximumByteCount = maximumByteCount
  }

  /// The number of tables that are kept.
  var count: Int { tables.withLock { $0.count } }

  /// Returns the table with a key; a new one if it is not kept, or if another file has the same generation.
  func table(_ key: ProductTable.Key, _ snapshot: CatalogSnapshot, _ filter: ProductFilter) -> ProductTable {
    tables.withLock { tables in
      if let index = tables.firstIndex(where: { $0.key == key }) {
        let table = tables.remove(at: index)
        let isSame =
          switch (table.snapshot.store, snapshot.store) {
          case (let a?, let b?): a.isSameGeneration(as: b)
          case (nil, nil): true
          default: false
          }
        if isSame {
          tables.append(table)
          return table
        }
      }
      let table = ProductTable(key, snapshot, filter)
      tables.append(table)
      while tables.count > maximumCount
        || tables.count > 1 && tables.reduce(0, { $0 + $1.byteCount }) > maximumByteCount
      {
        tables.removeFirst()
      }
      return table
    }
  }
}
