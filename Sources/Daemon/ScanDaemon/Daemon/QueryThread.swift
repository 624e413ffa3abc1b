import Platform
import Synchronization

/// A thread for queries that read the whole catalogue, which may take seconds.
///
/// Queries run one after the other, so they occupy one processor at most, and scans and other requests have the rest.
/// A query runs to its end even if nobody waits for it any more; the limit bounds that work.
package final class QueryThread: Sendable {
  /// The maximum number of queries that run or wait.
  package static let limit = 8

  private let thread = BlockingThread("daemon.queries")
  /// The number of queries that run or wait.
  private let count = Mutex(0)

  init() {}

  /// The number of queries that run or wait at this moment.
  var pendingCount: Int { count.withLock { $0 } }

  /// Runs a query after all earlier ones.
  ///
  /// - Throws: ``TooManyQueries`` if ``limit`` queries run or wait; the errors of `body`.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let isAdmitted = count.withLock { count in
      if count == Self.limit { return false }
      count += 1
      return true
    }
    guard isAdmitted else { throw TooManyQueries() }
    defer { count.withLock { $0 -= 1 } }
    return try await thread.run(body)
  }
}

/// A query was refused because as many run or wait as the daemon takes.
package struct TooManyQueries: Error, CustomStringConvertible {
  /// What happened, for people.
  package var description: String {
    "\(QueryThread.limit) queries that read the whole catalogue run or wait already; ask again in a second"
  }
}
