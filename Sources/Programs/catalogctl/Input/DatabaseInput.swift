import ArgumentParser
import Dispatch
import RowSources
import Synchronization

/// The rows of a database, which SIGINT and SIGTERM interrupt: the server then ends the statement.
final class DatabaseInput {
  private var rows: DatabaseRows?
  private let signals: [any DispatchSourceSignal]
  /// The next cursor; `nil` if there is none.
  let newest: String?
  /// Whether only rows from the former cursor on are read.
  let hasNewerOnly: Bool
  /// What a person should know about the column that shows newer rows.
  let notices: [String]

  /// Whether a signal came. Relaxed, because no other memory depends on it.
  private static let isInterrupted = Atomic(false)

  /// - Throws: `DatabaseError`.
  init(_ query: DatabaseQuery) throws {
    let signals = TerminationSignals.sources { number in
      // A second one ends the process, in case that the server does not answer.
      if Self.isInterrupted.exchange(true, ordering: .relaxed) { terminate(ExitCode(128 + number)) }
    }
    let rows: DatabaseRows
    do throws(DatabaseError) {
      rows = try DatabaseRows(query) { Self.isInterrupted.load(ordering: .relaxed) }
    } catch {
      TerminationSignals.remove(signals)
      throw error
    }
    self.signals = signals
    newest = rows.newest
    hasNewerOnly = rows.hasNewerOnly
    notices = rows.notices
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
    TerminationSignals.remove(signals)
  }

  deinit { end() }
}
