import RowSources
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The rows of a database, which SIGINT and SIGTERM interrupt: the server then ends the statement.
final class DatabaseInput {
  private var rows: DatabaseRows?
  /// The greatest value of the column that shows newer rows; `nil` if there is none.
  let newest: String?

  /// Whether a signal came. Relaxed, because no other memory depends on it.
  private static let isInterrupted = Atomic(false)

  /// - Throws: `DatabaseError`.
  init(_ query: DatabaseQuery) throws {
    _ = Self.isInterrupted.load(ordering: .relaxed)
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        DatabaseInput.isInterrupted.store(true, ordering: .relaxed)
        // The next one ends the process.
        signal(number, SIG_DFL)
      }
    }
    let rows: DatabaseRows
    do throws(DatabaseError) {
      rows = try DatabaseRows(query) { DatabaseInput.isInterrupted.load(ordering: .relaxed) }
    } catch {
      Self.restoreSignals()
      throw error
    }
    newest = rows.newest
    self.rows = consume rows
  }

  /// The next lines; `nil` at the end.
  ///
  /// - Throws: `DatabaseError`.
  func next() throws -> [UInt8]? { try rows?.next() }

  /// Closes the connection.
  func end() {
    guard rows != nil else { return }
    rows = nil
    Self.restoreSignals()
  }

  deinit { end() }

  private static func restoreSignals() {
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
}
