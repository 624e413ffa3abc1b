import DocumentFormat
package import Documents

/// What the daemon keeps of scans in a user's documents, for programs that remove it: `Documentation/Format/Daemon.md`
/// describes the collections.
///
/// What is removed stays in the file until it is compacted.
package struct ScanRecords: Sendable {
  private let store: DocumentStore

  package init(_ store: DocumentStore) { self.store = store }

  /// Removes the codes that matched nothing and were last missed before a time.
  ///
  /// - Parameters:
  ///   - time: The time, in seconds since 1970; `nil` to remove all.
  ///   - isDryRun: Whether to count them only.
  /// - Returns: The number of codes.
  package func forgetMisses(before time: Double?, isDryRun: Bool = false) throws -> Int {
    try forget("scan.misses", "last", time, isDryRun)
  }

  /// Removes the scans that wait to be looked up again and were read before a time.
  package func forgetPendingScans(before time: Double?, isDryRun: Bool = false) throws -> Int {
    try forget("scan.pending", "time", time, isDryRun)
  }

  private func forget(_ collection: String, _ field: String, _ time: Double?, _ isDryRun: Bool) throws -> Int {
    let documents = try store.untypedCollection(collection)
    guard try documents.count() > 0 else { return 0 }
    guard let time else { return isDryRun ? try documents.count() : try documents.deleteAll() }
    let condition = Condition.compare(try path(field), .less, .double(time))
    return try documents.delete(where: condition, isDryRun: isDryRun)
  }

  /// Removes set sessions with their codes, each in one commit: those that were closed before a time, or all, open ones
  /// too.
  ///
  /// - Returns: The ids of the sessions.
  package func forgetSessions(closedBefore time: Double?, isDryRun: Bool = false) throws -> [String] {
    let sessions = try store.untypedCollection("scan.sessions")
    let codes = try store.untypedCollection("scan.session-codes")
    var found: [(id: String, count: Int)] = []
    let condition: Condition
    if let time {
      condition = .compare(try path("closed"), .less, .double(time))
    } else {
      condition = .always
    }
    try sessions.query(condition) { id, session in
      guard case .text(let id) = id else { return }
      found.append((id, session["count"]?.wholeNumber ?? 0))
    }
    if isDryRun { return found.map(\.id) }
    for session in found {
      try store.transaction { transaction in
        for number in 0..<max(0, session.count) {
          _ = try transaction.delete(.text("\(session.id)/\(number)"), from: codes)
        }
        _ = try transaction.delete(.text(session.id), from: sessions)
      }
    }
    // Without a session, nothing leads to a code any more.
    if time == nil { try codes.deleteAll() }
    return found.map(\.id)
  }

  private func path(_ name: String) throws -> FieldPath { try FieldPath(parsing: name) }
}

extension DocumentValue {
  fileprivate var wholeNumber: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    default: nil
    }
  }
}
